//! What is asked for on the command line.

use bellwether::protocols::local_leader::Preset;

/// The parameters of a run; they and nothing else decide the plan.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) faults: u64,
    pub(crate) seed: u64,
    pub(crate) members: u64,
    pub(crate) preset: Preset,
    /// A worker that takes all processors, on a machine that has other work.
    pub(crate) load: bool,
    /// Only faults that are documented as exceptions: the detector must see overlaps.
    pub(crate) exceptions: bool,
    /// Only the group with this number, for a closer look.
    pub(crate) group: Option<u64>,
    /// Beside other tests: a late leader is reported, and does not fail the run.
    pub(crate) quick: bool,
}

const USAGE: &str = "usage: chaos [--quick] [--faults N] [--seed S] [--members 3|5] \
                     [--preset lan|fast|fastest] [--load] [--exceptions] [--group G]";

impl Options {
    /// Reads the words; the text says what is wrong.
    pub(crate) fn read(words: &[String]) -> Result<Self, String> {
        let (preset, load, exceptions, group) = (Preset::Lan, false, false, None);
        let mut options = Self {
            faults: 200,
            seed: 1,
            members: 3,
            preset,
            load,
            exceptions,
            group,
            quick: false,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut number = || {
                let value = words.next().ok_or_else(|| format!("{word} needs a value; {USAGE}"))?;
                value.parse::<u64>().map_err(|error| format!("{word} {value}: {error}; {USAGE}"))
            };
            match word.as_str() {
                "--bench" => {} // Cargo adds it
                "--quick" => options.quick = true,
                "--faults" => options.faults = number()?.max(1),
                "--seed" => options.seed = number()?,
                "--group" => options.group = Some(number()?),
                "--load" => options.load = true,
                "--exceptions" => options.exceptions = true,
                "--members" => {
                    options.members = number()?;
                    if !matches!(options.members, 3 | 5) {
                        return Err(format!("--members {} is neither 3 nor 5", options.members));
                    }
                }
                "--preset" => {
                    options.preset = match words.next().map(String::as_str) {
                        Some("lan") => Preset::Lan,
                        Some("fast") => Preset::Fast,
                        Some("fastest") => Preset::Fastest,
                        other => {
                            return Err(format!("--preset {}: {USAGE}", other.unwrap_or("")));
                        }
                    };
                }
                other => return Err(format!("{other} is not known; {USAGE}")),
            }
        }
        Ok(options)
    }

    /// The command that repeats it.
    pub(crate) fn command(&self, group: Option<u64>) -> String {
        let mut load = if self.load { " --load" } else { "" }.to_owned();
        load += if self.exceptions { " --exceptions" } else { "" };
        let group = group.or(self.group).map_or_else(String::new, |it| format!(" --group {it}"));
        format!(
            "cargo bench --locked --bench chaos -- --faults {} --seed {} --members {} --preset \
             {}{load}{group}",
            self.faults,
            self.seed,
            self.members,
            self.preset.name()
        )
    }
}

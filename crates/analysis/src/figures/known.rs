//! What is known of a point: as much of its answer as figures read; and where it is kept.
//!
//! **Promise.** Who finds a point under its name need not simulate it. The name is a hash of the
//! version and of the point's command with its runs and its seed; both are in the file, too, and
//! compared. What is damaged or belongs to something else is not read. Numbers are kept bit by bit,
//! so a figure from kept points has the bytes of one that was made at once.
//!
//! **Assumptions.** As of pieces: the same build made it.

use crate::sweep::piece::{checksum, name_of};
use crate::sweep::work::Keep;
use bellwether_sim::stats::Summary;
use bellwether_sim::{Answer, Measure};
use std::fmt;
use std::sync::Arc;

/// What a file begins with.
const MAGIC: &str = "bellwether point 2";
/// The name of what a trial measures.
const TRIAL: &str = "trial";

/// As much of an answer as figures read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Known {
    pub(super) deliveries: Option<u64>,
    measures: Vec<Measured>,
}

/// What is known of one measure.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measured {
    name: String,
    pub(super) summary: Summary,
    /// In how many runs the end of the watch cut it off.
    pub(super) cut: u64,
}

impl Known {
    pub(super) fn of(answer: &Answer) -> Self {
        let measured = |(measure, summary): &(Measure, Summary)| Measured {
            name: measure.name(),
            summary: summary.clone(),
            cut: answer.cut(*measure).map_or(0, |cut| cut.runs),
        };
        let measures = answer.measures.iter().map(measured).collect();
        Self { deliveries: answer.deliveries, measures }
    }

    /// Of what each run of a trial gave. One that gave nothing ended too early to.
    pub(super) fn of_trial(samples: &[Option<f64>]) -> Self {
        let given: Vec<f64> = samples.iter().copied().flatten().collect();
        let cut = (samples.len() - given.len()) as u64;
        let measured = |summary| Measured { name: TRIAL.to_owned(), summary, cut };
        let measures = Summary::of(&given).into_iter().map(measured);
        Self { deliveries: None, measures: measures.collect() }
    }

    pub(super) fn measure(&self, measure: Measure) -> Option<&Measured> {
        self.named(&measure.name())
    }

    pub(super) fn trial(&self) -> Option<&Measured> {
        self.named(TRIAL)
    }

    fn named(&self, name: &str) -> Option<&Measured> {
        self.measures.iter().find(|known| known.name == name)
    }

    /// Lines: a heading, the key, the deliveries, the measures, and a checksum of all of them.
    fn encode(&self, key: &str) -> String {
        let deliveries = self.deliveries.map_or_else(|| "-".to_owned(), |count| count.to_string());
        let mut text = format!("{MAGIC}\n{key}\n{deliveries}\n");
        for Measured { name, summary, cut } in &self.measures {
            let numbers = numbers(summary).map(|number| format!("{:016x}", number.to_bits()));
            text += &format!("{name} {} {cut} {}\n", summary.count, numbers.join(" "));
        }
        let sum = checksum(text.as_bytes());
        text + &format!("{sum:016x}\n")
    }

    /// What is in these bytes, if they are of this key and whole.
    fn decode(key: &str, bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
        let end = text.rfind('\n')? + 1;
        let (content, sum) = text.split_at(end);
        if u64::from_str_radix(sum, 16).ok()? != checksum(content.as_bytes()) {
            return None;
        }
        let rest = content.strip_prefix(&format!("{MAGIC}\n{key}\n"))?;
        let (deliveries, rest) = rest.split_once('\n')?;
        let deliveries = match deliveries {
            "-" => None,
            count => Some(count.parse().ok()?),
        };
        let measures: Option<Vec<_>> = rest.lines().map(measured).collect();
        Some(Self { deliveries, measures: measures? })
    }
}

/// All numbers of a summary but the count.
fn numbers(summary: &Summary) -> [f64; 8] {
    let Summary { mean, stderr, ci95: [low, high], min, p50, p99, max, count: _ } = *summary;
    [mean, stderr, low, high, min, p50, p99, max]
}

/// A line of a measure.
fn measured(line: &str) -> Option<Measured> {
    let mut words = line.split(' ');
    let (name, count) = (words.next()?.to_owned(), words.next()?.parse().ok()?);
    let cut = words.next()?.parse().ok()?;
    let number = |word| u64::from_str_radix(word, 16).map(f64::from_bits).ok();
    let numbers: Option<Vec<f64>> = words.map(number).collect();
    let [mean, stderr, low, high, min, p50, p99, max] = numbers?.try_into().ok()?;
    let summary = Summary { mean, stderr, ci95: [low, high], min, p50, p99, max, count };
    Some(Measured { name, summary, cut })
}

/// Where points are kept, if they are.
#[derive(Clone, Default)]
pub(super) struct Kept(pub(super) Option<Arc<dyn Keep + Send>>);

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kept({})", self.0.is_some())
    }
}

impl Kept {
    pub(super) fn load(&self, command: &str) -> Option<Known> {
        let key = key(command);
        Known::decode(&key, &self.0.as_ref()?.load(&name_of(&key))?)
    }

    /// Keeps it, if there is a place.
    ///
    /// # Errors
    /// Why it cannot be kept, in one line.
    pub(super) fn keep(&self, command: &str, known: &Known) -> Result<(), String> {
        let Some(place) = &self.0 else { return Ok(()) };
        let key = key(command);
        place.keep(&name_of(&key), known.encode(&key).as_bytes())
    }
}

/// What a point is kept under: the version, and its command on one line.
fn key(command: &str) -> String {
    format!("{} {}", env!("CARGO_PKG_VERSION"), command.replace('\n', " "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::work::InMemory;

    fn known() -> Known {
        let summary = |samples: &[f64]| Summary::of(samples).expect("there are samples");
        let measures = [("messages", &[1.0, 2.0, 0.1][..], 0), ("rounds", &[-0.0, 1e-300], 7)];
        let measures = measures.map(|(name, samples, cut)| {
            let (name, summary) = (name.to_owned(), summary(samples));
            Measured { name, summary, cut }
        });
        Known { deliveries: Some(u64::MAX), measures: measures.to_vec() }
    }

    #[test]
    fn what_is_kept_is_read_again_to_the_last_bit() {
        let kept = Kept(Some(Arc::new(InMemory::default())));
        let nothing = Known::of_trial(&[None, None]);
        let some = Known::of_trial(&[Some(0.5), None, Some(1.5), None]);
        assert_eq!(some.trial().map(|all| (all.summary.count, all.cut)), Some((2, 2)));
        for (command, known) in
            [("bellwether sim le-s", known()), ("a trial, 2 runs", nothing), ("another", some)]
        {
            assert_eq!(kept.load(command), None);
            kept.keep(command, &known).expect("there is room");
            let read = kept.load(command).expect("it was kept");
            assert_eq!(read.encode(command), known.encode(command), "bit by bit");
        }
    }

    #[test]
    fn what_is_damaged_or_of_another_point_is_not_read() {
        let whole = known().encode("point 1").into_bytes();
        assert_eq!(Known::decode("point 1", &whole), Some(known()));
        assert_eq!(Known::decode("point 2", &whole), None);
        for place in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[place] ^= 1;
            assert_eq!(Known::decode("point 1", &damaged), None, "byte {place}");
            assert_eq!(Known::decode("point 1", &whole[..place]), None, "{place} bytes");
        }
    }
}

//! Members with clocks of their own, in time namespaces, and their traces on the machine's clock.
//!
//! **Assumptions.** A time namespace has an offset that never changes while a process is in it
//! (`/proc/PID/timens_offsets`). A rate cannot be given to it.
//!
//! **Promise.** What is judged differs from what was recorded in times alone: each is what the
//! machine's clock read. A time of another member's clock is shifted by that one's offset.

use super::Group;
use bellwether::core::Duration;
use serde_json::Value;

/// What starts a member whose clocks are so many seconds ahead. It becomes what it starts.
pub(super) fn enter(ahead: Duration) -> Vec<String> {
    let seconds = (ahead.as_nanos() / 1_000_000_000).to_string();
    let words = ["unshare", "--time", "--boottime", &seconds, "--monotonic", &seconds];
    words.map(str::to_owned).to_vec()
}

/// Fields that are times of the member's own clock, wherever they are numbers.
const OWN: [&str; 6] = ["t", "until", "reads", "since", "guardian", "work"];

fn shift(value: Option<&mut Value>, ahead: Duration) {
    // The greatest number is no time but "never".
    if let Some(value) = value
        && let Some(time) = value.as_u64().filter(|time| *time != u64::MAX)
    {
        *value = time.saturating_sub(ahead.as_nanos()).into();
    }
}

impl Group {
    fn ahead(&self, id: Option<u64>) -> Duration {
        id.and_then(|id| self.clocks.get(&id)).copied().unwrap_or(Duration::ZERO)
    }

    /// These traces with the times of the machine's clock, in files beside them. Without clocks of
    /// their own they are what they were.
    pub(super) fn on_one_clock(&self, traces: &[String]) -> Vec<String> {
        if self.clocks.is_empty() {
            return traces.to_vec();
        }
        let shifted = |path: &String| {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            let mut supported = None;
            let lines = text.split_inclusive('\n').map(|line| match serde_json::from_str(line) {
                Ok(record) => format!("{}\n", self.shifted(record, &mut supported)),
                Err(_) => line.to_owned(), // half a line of a killed process
            });
            let (lines, to) = (lines.collect::<String>(), format!("{path}.shifted"));
            std::fs::write(&to, lines).expect("the folder can be written");
            to
        };
        traces.iter().map(shifted).collect()
    }

    /// One record; `supported` is whom this member was last locked to.
    fn shifted(&self, mut record: Value, supported: &mut Option<u64>) -> Value {
        let own = self.ahead(record["node"].as_u64());
        OWN.iter().for_each(|key| shift(record.get_mut(*key), own));
        if let Some(boot) = record["boot"].as_str() {
            // After the start of the machine it names the time namespace, which is no more.
            record["boot"] = boot.split(' ').next().unwrap_or_default().into();
        }
        match (record["kind"].as_str(), record["fact"].as_str()) {
            (Some("fact"), Some("locked")) => *supported = record["to"].as_u64(),
            // The request that a lock is for was made by the clock of whoever made it.
            (Some("fact"), Some("granted")) => {
                shift(record.get_mut("sent"), self.ahead(*supported));
            }
            (Some("work"), _) => {
                ["from", "to"].iter().for_each(|key| shift(record.get_mut(*key), own));
            }
            _ => shift(record.get_mut("sent"), own),
        }
        record
    }
}

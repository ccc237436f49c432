//! What the members of a group say on their standard output, as it comes.

use super::clock::now;
use bellwether::core::{Duration, Instant};
use std::io::{BufRead, BufReader, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// One line of `bellwether run --format json`: what a member believes from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    /// When, on the clock that all share.
    pub(crate) t: Instant,
    /// Who.
    pub(crate) id: u64,
    /// `leader`, `follower`, `looking` or `withdrawn`.
    pub(crate) role: String,
    /// Whom it follows.
    pub(crate) leaders: Vec<u64>,
}

impl Said {
    /// Reads a line; the text says what is wrong with it.
    fn read(line: &str) -> Result<Self, String> {
        let value: serde_json::Value =
            serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
        let number = |key: &str| value[key].as_u64().ok_or_else(|| format!("no {key}: {line}"));
        let role = value["role"].as_str().ok_or_else(|| format!("no role: {line}"))?;
        let leaders = value["leaders"].as_array().ok_or_else(|| format!("no leaders: {line}"))?;
        Ok(Self {
            t: Instant::from_nanos(number("t")?),
            id: number("id")?,
            role: role.to_owned(),
            leaders: leaders.iter().filter_map(serde_json::Value::as_u64).collect(),
        })
    }

    pub(crate) fn leads(&self) -> bool {
        self.role == "leader"
    }
}

#[derive(Default)]
struct Heard {
    said: Vec<Said>,
    nonsense: Vec<String>,
}

/// Everything said so far, by all members, in the order of arrival.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<(Mutex<Heard>, Condvar)>);

impl Log {
    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Listens until the speaker is gone. Lines that cannot be read are kept and reported.
    pub(crate) fn listen(&self, output: impl Read + Send + 'static) {
        let log = self.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let mut heard = log.heard();
                match Said::read(&line) {
                    Ok(said) => heard.said.push(said),
                    Err(nonsense) => heard.nonsense.push(nonsense),
                }
                drop(heard);
                log.0.1.notify_all();
            }
        });
    }

    /// Waits for what `find` looks for among all that was said, for at most so long.
    pub(crate) fn wait<T>(
        &self,
        patience: Duration,
        mut find: impl FnMut(&[Said]) -> Option<T>,
    ) -> Option<T> {
        let end = now() + patience;
        let mut heard = self.heard();
        loop {
            assert!(heard.nonsense.is_empty(), "not a line of JSON: {:?}", heard.nonsense);
            if let Some(found) = find(&heard.said) {
                return Some(found);
            }
            let left = end.since(now());
            if left == Duration::ZERO {
                return None;
            }
            let left = std::time::Duration::from_nanos(left.as_nanos());
            let woken = self.0.1.wait_timeout(heard, left);
            heard = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// All that was said since then.
    pub(crate) fn since(&self, from: Instant) -> Vec<Said> {
        self.heard().said.iter().filter(|said| said.t >= from).cloned().collect()
    }

    /// When somebody began to lead, since then. A leader that goes on with a higher term, because a
    /// voter that missed its requests had granted itself one, does not begin again.
    pub(crate) fn begun(&self, from: Instant) -> Vec<Instant> {
        let heard = self.heard();
        let goes_on = |(number, said): (usize, &Said)| {
            let before = heard.said[..number].iter().rev().find(|before| before.id == said.id);
            before.is_some_and(Said::leads)
        };
        let led = heard.said.iter().enumerate().filter(|(_, said)| said.t >= from && said.leads());
        led.filter(|said| !goes_on(*said)).map(|(_, said)| said.t).collect()
    }

    /// How many times somebody began to lead since then.
    pub(crate) fn reigns(&self, from: Instant) -> usize {
        self.begun(from).len()
    }

    /// The last `count` lines, for whoever looks for the reason.
    pub(crate) fn tail(&self, count: usize) -> String {
        let heard = self.heard();
        let first = heard.said.len().saturating_sub(count);
        heard.said[first..].iter().map(|said| format!("{said:?}\n")).collect()
    }
}

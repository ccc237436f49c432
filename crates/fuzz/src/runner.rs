//! Runs a target with inputs of the mutator, and keeps what was read and what went wrong.

use crate::{Mutator, Target};
use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest that one input may take.
pub const LONGEST: Duration = Duration::from_secs(5);
/// The most inputs that are kept to make others from.
const CORPUS_MAX: usize = 4096;
/// After so many findings a target is given up: they are seldom different.
const FINDINGS_MAX: usize = 10;

/// An input that broke a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The input.
    pub input: Vec<u8>,
    /// What went wrong.
    pub problem: String,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How many inputs were given.
    pub executions: u64,
    /// How many of them could be read.
    pub read: u64,
    /// How many inputs others are made from, in the end.
    pub corpus: usize,
    /// How long it took.
    pub took: Duration,
    /// What was found.
    pub findings: Vec<Finding>,
}

/// The last message of a panic, which the hook leaves here.
static MESSAGE: Mutex<String> = Mutex::new(String::new());

/// Keeps the messages of panics instead of printing them.
fn quiet() {
    std::panic::set_hook(Box::new(|panic| {
        *MESSAGE.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string();
    }));
}

fn message(panic: &(dyn Any + Send)) -> String {
    let kept = std::mem::take(&mut *MESSAGE.lock().unwrap_or_else(PoisonError::into_inner));
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    if kept.is_empty() { text } else { kept }
}

/// Gives one input to a target: whether it could be read, or what went wrong.
///
/// # Errors
/// The message of the panic, or that it took too long.
pub fn run_once(target: &Target, input: &[u8]) -> Result<bool, String> {
    quiet();
    run(target, input)
}

#[allow(clippy::disallowed_methods, reason = "how long it takes is what is measured")]
fn run(target: &Target, input: &[u8]) -> Result<bool, String> {
    let begun = Instant::now();
    let read = catch_unwind(AssertUnwindSafe(|| (target.read)(input)));
    let took = begun.elapsed();
    match read {
        Err(panic) => Err(message(&*panic)),
        Ok(_) if took > LONGEST => Err(format!("it took {took:?}")),
        Ok(read) => Ok(read),
    }
}

/// Runs a target: first its seeds, then what the mutator makes of them and of what could be read.
#[allow(clippy::disallowed_methods, reason = "the rate is what is reported")]
pub fn fuzz(target: &Target, executions: u64, seed: u64) -> Outcome {
    quiet();
    let begun = Instant::now();
    let mut mutator = Mutator::new(seed);
    let mut corpus = target.seeds.clone();
    corpus.push(Vec::new());
    let seeds = corpus.len();
    let (mut findings, mut problems) = (Vec::new(), BTreeSet::new());
    let (mut done, mut read, mut input) = (0, 0, Vec::new());
    while done < executions && findings.len() < FINDINGS_MAX {
        match corpus.get(done as usize).filter(|_| done < seeds as u64) {
            Some(seed) => input.clone_from(seed),
            None => mutator.mutate(&corpus, &mut input),
        }
        done += 1;
        match run(target, &input) {
            Ok(false) => {}
            Ok(true) => {
                read += 1;
                if corpus.len() < CORPUS_MAX {
                    corpus.push(input.clone());
                } else if mutator.below(64) == 0 {
                    let place = seeds + mutator.below(CORPUS_MAX - seeds);
                    corpus[place].clone_from(&input); // the seeds stay
                }
            }
            Err(problem) => {
                // The place of a panic is its first line.
                let place = problem.lines().next().unwrap_or_default().to_owned();
                if problems.insert(place) {
                    findings.push(Finding { input: input.clone(), problem });
                }
            }
        }
    }
    Outcome { executions: done, read, corpus: corpus.len(), took: begun.elapsed(), findings }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(read: impl Fn(&[u8]) -> bool + Send + Sync + 'static) -> Target {
        Target::new("a", "bytes", read, vec![b"seed".to_vec()])
    }

    #[test]
    fn a_panic_is_found_with_the_input_that_causes_it_again() {
        let fragile = target(|bytes| {
            assert!(!bytes.windows(2).any(|pair| pair == [0xff, 0xff]), "two of them");
            true
        });
        let outcome = fuzz(&fragile, 100_000, 1);
        let [finding] = &outcome.findings[..] else { panic!("{:?}", outcome.findings) };
        assert!(finding.problem.contains("two of them"), "{}", finding.problem);
        assert_eq!(run_once(&fragile, &finding.input).map_err(|_| ()), Err(()));
        assert_eq!(run_once(&fragile, b"harmless"), Ok(true));
    }

    #[test]
    fn what_can_be_read_is_where_others_are_made_from_and_memory_is_bounded() {
        let deep = |bytes: &[u8]| bytes.len() > 100;
        let outcome = fuzz(&target(deep), 200_000, 1);
        assert!(outcome.read > 1000, "it gets there: {}", outcome.read);
        assert_eq!((outcome.corpus, outcome.executions), (CORPUS_MAX, 200_000));
        assert_eq!(outcome.findings, []);
    }
}

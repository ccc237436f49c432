//! The number of threads.

/// More threads than any machine has cores for.
const THREADS_MAX: usize = 1024;

/// Parses a number of threads.
pub(in crate::cli) fn parse(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(threads) if threads <= THREADS_MAX => Ok(threads),
        _ => Err(format!("threads are a whole number, from 0 to {THREADS_MAX}")),
    }
}

/// As many as asked for, one per core if that is 0, and no more than there is work for.
pub(in crate::cli) fn start(wanted: usize, work: u64) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let wanted = if wanted == 0 { cores() } else { wanted };
    usize::try_from(work).map_or(wanted, |work| wanted.min(work.max(1)))
}

//! What is printed: one line per system, as soon as it was measured.

/// What was measured of one system.
pub(crate) struct Figures {
    pub(crate) name: String,
    pub(crate) gives_up_after: f64,
    /// For each fault the times of all repetitions in milliseconds, sorted.
    pub(crate) failovers: Vec<Vec<f64>>,
    pub(crate) two_led: f64,
    pub(crate) packets: f64,
    pub(crate) memory: f64,
}

/// The lines so far.
pub(crate) struct Table;

fn median(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => f64::NAN,
        length => f64::midpoint(sorted[(length - 1) / 2], sorted[length / 2]),
    }
}

impl Table {
    pub(crate) fn new(repetitions: usize) -> Self {
        println!("three members in namespaces; failover: median / worst of {repetitions}, in ms\n");
        println!(
            "{:<28} {:>8} {:>15} {:>15} {:>15} {:>15} {:>9} {:>9} {:>7}",
            "", "given up", "", "", "", "", "two led,", "packets", "memory"
        );
        println!(
            "{:<28} {:>8} {:>15} {:>15} {:>15} {:>15} {:>9} {:>9} {:>7}",
            "", "after", "kill -9", "silent cut", "pause", "SIGTERM", "ms", "a second", "MiB"
        );
        Self
    }

    pub(crate) fn push(&mut self, figures: &Figures) {
        let cells = figures.failovers.iter().map(|times| {
            let worst = times.last().copied().unwrap_or(f64::NAN);
            format!(" {:>15}", format!("{:.1} / {worst:.1}", median(times)))
        });
        println!(
            "{:<28} {:>8.0}{} {:>9.1} {:>9.1} {:>7.1}",
            figures.name,
            figures.gives_up_after,
            cells.collect::<String>(),
            figures.two_led,
            figures.packets,
            figures.memory
        );
    }
}

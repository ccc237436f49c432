//! How long it takes until all of a command is gone, as a table:
//! `cargo test --test guardian -- --ignored --nocapture measure::`

use crate::member::{MARGIN, Member, PLAIN, Setup, WITHOUT_CGROUP, now, send};
use bellwether_core::Duration;
use rustix::process::Signal;
use std::fmt::Write;

/// So often each is measured.
const RUNS: usize = 5;
/// Long enough to start four hundred processes.
const LEASE: u64 = 4500;

/// A command of so many processes in sessions of their own that ignore SIGTERM.
fn sleepers(count: usize) -> String {
    format!(
        "exec 9>$LIFE; trap '' TERM; i=1
        while [ $i -lt {count} ]; do setsid sleep 30 & i=$((i+1)); done; echo up >&9; wait"
    )
}

/// From SIGKILL at the end of a permission until all is gone.
fn after_the_end(setup: Setup, count: usize) -> Duration {
    let mut member = Member::set_up(setup, &sleepers(count));
    let until = member.permit(LEASE);
    member.expect_started();
    member.expect_up(1);
    member.gone().since(until - MARGIN)
}

/// From SIGKILL to member and guardian until all of the command is gone.
fn after_both_were_killed(setup: Setup, count: usize) -> Duration {
    let mut member = Member::set_up(setup, &sleepers(count));
    member.permit(600_000);
    member.expect_started();
    member.expect_up(1);
    for process in [member.pid(), member.guardian] {
        send(process, Signal::STOP);
    }
    let begun = now();
    for process in [member.pid(), member.guardian] {
        send(process, Signal::KILL);
    }
    member.gone().since(begun)
}

#[test]
#[ignore = "it measures, and prints a table"]
fn how_long_it_takes_until_all_is_gone() {
    let mut table = String::from(
        "| processes | cgroup | the lease ends | member and guardian are killed |\n\
         |---|---|---|---|\n",
    );
    for count in [2, 40, 400] {
        for (name, setup) in [("yes", PLAIN), ("no", WITHOUT_CGROUP)] {
            let cells = [after_the_end, after_both_were_killed].map(|measure| {
                let mut times: Vec<f64> =
                    (0..RUNS).map(|_| measure(setup, count).as_nanos() as f64 / 1e6).collect();
                times.sort_by(f64::total_cmp);
                format!("{:.1} ms, {:.1} ms", times[RUNS / 2], times[RUNS - 1])
            });
            let _ = writeln!(table, "| {count} | {name} | {} |", cells.join(" | "));
        }
    }
    println!("{table}");
}

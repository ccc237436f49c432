//! Section X, Figure 24, of the local leaders: which processes of a connected set lead.
//!
//! Random graphs of 5 to 8 processes with fixed seeds, in local mode, in a network that loses
//! nothing. Half of them are drawn until one of their processes should lead at times. Each is
//! watched for 20 s after it settled. A process that should lead steadily led all the time, and one
//! that should never lead did not. One that should lead at times did not lead all the time.

use bellwether_analysis::connected_set::{ConnectedSet, Leads};
use bellwether_core::{Duration, Seeded};

const WATCHED: Duration = Duration::from_secs(20);

/// A random set in which a process leads at times: they are rare, so that sets are drawn until
/// there is one.
fn drawn_with_one_at_times(processes: usize, percent: u64, luck: &mut Seeded) -> ConnectedSet {
    let sets = (0..100_000).map(|_| ConnectedSet::drawn(processes, percent, luck));
    let mut fit = sets.filter(|set| set.leads().contains(&Leads::AtTimes));
    fit.next().expect("one set in some hundreds has such a process")
}

#[test]
fn who_leads_in_a_connected_set_is_known_from_its_graph() {
    let mut luck = Seeded::new(24);
    let (mut steadily, mut at_times, mut never, mut led) = (0, 0, 0, 0);
    for number in 0..120 {
        let (processes, percent) = (5 + number / 2 % 4, 25 + 10 * (number as u64 / 8 % 4));
        let set = match number % 2 {
            0 => ConnectedSet::drawn(processes, percent, &mut luck),
            _ => drawn_with_one_at_times(processes, percent, &mut luck),
        };
        let shares = set.led(WATCHED, number as u64);
        for (process, (leads, share)) in set.leads().into_iter().zip(&shares).enumerate() {
            let told = format!("set {number}, process {process}: {leads:?}, {share}: {set:?}");
            match leads {
                Leads::Steadily => assert!(*share == 1.0, "{told}"),
                Leads::AtTimes => assert!(*share < 1.0, "{told}"),
                Leads::Never => assert!(*share == 0.0, "{told}"),
            }
            led += u32::from(leads == Leads::AtTimes && *share > 0.0);
            match leads {
                Leads::Steadily => steadily += 1,
                Leads::AtTimes => at_times += 1,
                Leads::Never => never += 1,
            }
        }
    }
    println!("{steadily} lead steadily, {at_times} at times ({led} of them did), {never} never");
    assert!(steadily > 100 && at_times >= 60 && never > 100, "{steadily} {at_times} {never}");
    // Where several sporadic processes take turns, there may be no time left.
    assert!(led > 0 && led < at_times, "{led} of {at_times}");
}

/// The least example of a process that leads at times, and how much of the time.
#[test]
fn a_sporadic_process_takes_leadership_away_for_a_while() {
    let set = ConnectedSet::new(5, &[(0, 1), (1, 2), (2, 4), (3, 4)]);
    assert_eq!(set.leads()[3], Leads::AtTimes);
    let shares = set.led(WATCHED, 1);
    println!("{shares:.3?}");
    assert!(shares[0] == 1.0 && shares[3] > 0.0 && shares[3] < 1.0, "{shares:?}");
    assert!(shares[1] == 0.0 && shares[2] == 0.0 && shares[4] == 0.0, "{shares:?}");
}

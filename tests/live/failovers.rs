//! `bellwether run GROUP -- CMD`: the command runs on one member at a time, whatever befalls the
//! member that runs it.

use crate::lab::clock::sleep;
use crate::lab::group::{Group, PATIENCE, Shape};
use crate::lab::overlap::{Detector, Entry};
use crate::stage;
use bellwether::core::{Duration, Entropy};
use bellwether::sim::{RunSeed, StreamPurpose};

const FAILOVERS: usize = 50;

/// What befalls the member that runs the command.
#[derive(Clone, Copy, Debug)]
enum Failure {
    Kill,
    Stop,
    Pause,
    Cut,
    LinkDown,
}

impl Failure {
    const ALL: [Self; 5] = [Self::Kill, Self::Pause, Self::Stop, Self::Cut, Self::LinkDown];

    fn inject(self, group: &mut Group, id: u64) {
        match self {
            Self::Kill => group.crash(id),
            Self::Stop => group.stop(id),
            Self::Pause => group.pause(id),
            Self::Cut => group.cut_silently(id),
            Self::LinkDown => group.link_down(id),
        };
    }

    fn mend(self, group: &mut Group, id: u64) {
        match self {
            Self::Kill => {
                group.restart(id);
            }
            Self::Stop => {
                group.member(id).wait();
                group.start(id);
            }
            Self::Pause => {
                group.resume(id);
            }
            Self::Cut | Self::LinkDown => {
                group.heal();
            }
        }
    }
}

/// The member that runs the command now; no two may ever have run it.
fn runs(detector: &Detector, entries: &[Entry]) -> u64 {
    let overlaps: Vec<_> = entries.iter().enumerate().filter(|(_, entry)| entry.overlap).collect();
    assert!(overlaps.is_empty(), "the command ran twice at once: {overlaps:?}");
    assert!(!detector.free(), "who runs it holds the lock");
    entries.last().expect("somebody runs it").id
}

#[test]
fn a_command_never_runs_on_two_members_through_fifty_failovers() {
    let _stage = stage();
    let mut group = Group::new(Shape::lan(3));
    let detector = Detector::new(group.folder());
    for id in group.ids() {
        // Member 2's command leaves a process behind that does not want to go.
        let stubborn = if id == 2 { 60 } else { 0 };
        group.give_command(id, detector.command(id, stubborn));
    }
    group.start_all();
    let mut luck = RunSeed::new(1, 0).world(StreamPurpose::Caller(0));
    let mut entries = detector.wait_beyond(0, PATIENCE).expect("the command is started");
    for round in 0..FAILOVERS {
        let runner = runs(&detector, &entries);
        let failure = Failure::ALL[round % Failure::ALL.len()];
        sleep(Duration::from_millis(luck.below(250)));
        // A stall of the machine may have moved the command meanwhile.
        let known = detector.entries();
        let runner = known.last().map_or(runner, |entry| entry.id);
        failure.inject(&mut group, runner);
        entries = detector.wait_beyond(known.len(), PATIENCE).unwrap_or_else(|| {
            group.give_up(&format!(
                "round {round}: nobody took over from {runner} after {failure:?}"
            ))
        });
        println!(
            "{round}: {failure:?} of {runner}, then {:?}",
            entries.last().map(|entry| entry.id)
        );
        failure.mend(&mut group, runner);
    }
    runs(&detector, &entries);
    assert!(entries.len() > FAILOVERS, "{} starts", entries.len());
    for id in group.ids() {
        group.stop(id);
        group.member(id).wait();
    }
    assert!(detector.free(), "nothing of the command is left");
    group.acquit();
}

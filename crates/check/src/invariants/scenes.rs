//! Views made by hand, for the tests of invariants.

use super::{Finding, Invariant};
use crate::links::Links;
use crate::nodes::Nodes;
use crate::view::{Arrival, Course, Lock, Row, View};
use bellwether_core::{Duration, Instant, SimTime};
use bellwether_protocols::time_scales::TimeScales;

/// A scene: processes that all run, are connected and do not lead, just before the group must
/// settle.
pub(crate) struct Stage {
    pub(crate) rows: Vec<Row>,
    pub(crate) course: Course,
    pub(crate) at: SimTime,
    pub(crate) arrival: Option<Arrival>,
    pub(crate) stepped: Option<u32>,
}

/// The time scales of the scenes.
pub(crate) fn time_scales() -> TimeScales {
    let ms = Duration::from_millis;
    TimeScales {
        fastest: ms(1),
        timely: ms(5),
        scheduling: ms(5),
        drift: 200_000,
        clock_error: Duration::from_micros(100),
        stamps: ms(200),
        lease: ms(100),
        announces: ms(20),
        settles: ms(400),
        leases: true,
        best: false,
        quorum: None,
        tokens: false,
        roles: true,
        proved: false,
        rotates: None,
    }
}

impl Stage {
    pub(crate) fn new(nodes: u32) -> Self {
        let course =
            Course::new(SimTime::from_nanos(1_000_000_000), Links::all(nodes), time_scales());
        let at = course.settled;
        let rows = vec![Row { alive: true, ..Row::ABSENT }; nodes as usize];
        Self { rows, course, at, arrival: None, stepped: None }
    }

    /// Makes a process lead, with these supporters locked to it.
    pub(crate) fn leads(&mut self, leader: u32, supporters: &[u32]) {
        let row = &mut self.rows[leader as usize];
        row.leads = true;
        row.names = Nodes::only(leader);
        row.supporters = supporters.iter().copied().collect();
        row.told = Instant::from_nanos(1_000);
        for supporter in supporters {
            let lock = Lock { to: leader, until: Instant::NEVER };
            self.rows[*supporter as usize].lock = Some(lock);
        }
    }

    pub(crate) fn gone(&mut self, node: u32) {
        self.rows[node as usize] = Row { gone: Some(self.at), ..Row::ABSENT };
    }

    pub(crate) fn links_are(&mut self, links: &[(u32, u32)]) {
        self.course.links = Links::none(self.rows.len() as u32);
        links.iter().for_each(|(a, b)| self.course.links.join(*a, *b));
    }

    /// From now on the promise must be kept.
    pub(crate) fn settle(&mut self) {
        self.at = self.course.settled + Duration::from_nanos(1);
    }

    pub(crate) fn look(&self, invariant: &mut dyn Invariant) -> Finding {
        let those = |is: fn(&Row) -> bool| {
            (0u32..).zip(&self.rows).filter(|(_, row)| is(row)).map(|(node, _)| node).collect()
        };
        let alive = those(|row| row.alive);
        let parts = self.course.links.parts(alive);
        let (at, rows, course) = (self.at, &self.rows[..], &self.course);
        invariant.look(&View {
            at,
            rows,
            members: Nodes::first(self.rows.len() as u32),
            alive,
            leaders: those(|row| row.leads),
            course,
            parts: &parts,
            arrival: self.arrival,
            stepped: self.stepped,
            farewells: &[],
            torn: false,
        })
    }

    /// Whether the invariant is broken, and says so with these words.
    pub(crate) fn breaks(&self, invariant: &mut dyn Invariant, words: &str) -> bool {
        match self.look(invariant) {
            Finding::Broken(text) if text.contains(words) => true,
            other => panic!("expected '{words}', found {other:?}"),
        }
    }
}

//! How much of the time each process of a connected set leads, simulated.

use super::ConnectedSet;
use bellwether_core::{Duration, Entropy as _, Leadership, Seeded, SimTime};
use bellwether_protocols::local_leader::{Config, LocalLeader, Mode, Params};
use bellwether_sim::network::{Delay, Loss, Network};
use bellwether_sim::{Cause, Fault, Observer, Plan, RunSeed, Timed, World, id};

/// After this the group has settled.
const SETTLED: SimTime = SimTime::from_nanos(3_000_000_000);

/// For how long each process led after the group had settled.
struct Led {
    since: Vec<Option<SimTime>>,
    led: Vec<Duration>,
}

impl Led {
    fn end(&mut self, node: usize, at: SimTime) {
        if let Some(since) = self.since[node].take() {
            let since = since.max(SETTLED);
            self.led[node] = self.led[node] + at.max(since).since(since);
        }
    }
}

impl Observer<LocalLeader> for Led {
    fn on_change(
        &mut self,
        at: SimTime,
        node: u32,
        leadership: &Leadership<'_>,
        _cause: Option<Cause>,
    ) {
        let place = node as usize;
        match (leadership.names(id(node)), self.since[place]) {
            (true, None) => self.since[place] = Some(at),
            (false, Some(_)) => self.end(place, at),
            _ => {}
        }
    }
}

impl ConnectedSet {
    /// A random set of so many processes; each two are connected with the same chance.
    pub fn drawn(processes: usize, percent: u64, luck: &mut Seeded) -> Self {
        let pairs = (0..processes).flat_map(|one| (0..one).map(move |other| (one, other)));
        let connected: Vec<_> = pairs.filter(|_| luck.below(100) < percent).collect();
        Self::new(processes, &connected)
    }

    /// The part of the time in which each process leads, watched for this long after the group has
    /// settled: in local mode, in a network that loses nothing.
    ///
    /// # Panics
    /// Never: the parameters are those of a preset.
    pub fn led(&self, watched: Duration, seed: u64) -> Vec<f64> {
        let processes = self.neighbours.len();
        let cut = |(from, to): (usize, usize)| {
            let fault = Fault::Cut { from: vec![from as u32], to: vec![to as u32] };
            Timed { at: Duration::ZERO, fault }
        };
        let pairs = (0..processes).flat_map(|one| (0..processes).map(move |other| (one, other)));
        let apart = pairs.filter(|(one, other)| one != other && !self.has(*one, *other));
        let delay = Delay::Uniform { min: Duration::ZERO, max: Duration::from_millis(2) };
        let end = SETTLED + watched;
        let plan = Plan {
            network: Network::uniform(delay, Loss::None),
            faults: apart.map(cut).collect(),
            horizon: end.since(SimTime::ZERO),
            ..Plan::new(processes as u32)
        };
        let config = Config { mode: Mode::Local, drift_ppm: Some(0), ..Config::default() };
        let params = Params::try_from(config).expect("a preset is valid");
        let mut led = Led { since: vec![None; processes], led: vec![Duration::ZERO; processes] };
        World::<LocalLeader>::new(params.layered()).run(&plan, RunSeed::new(seed, 0), &mut led);
        (0..processes).for_each(|node| led.end(node, end));
        let whole = watched.as_secs_f64();
        led.led.into_iter().map(|length| length.as_secs_f64() / whole).collect()
    }
}

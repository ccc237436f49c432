//! The command that simulates a point: what differs from the defaults, as flags.

use super::{Point, usual_links};
use bellwether_core::Duration;
use bellwether_protocols::param::Kind;
use bellwether_sim::{Churn, Graph, Initiation, Initiators, Order, Scenario, Terrain};
use std::fmt::Display;

/// The flags that stand first, in this order. The others follow as they were added.
const FIRST: [&str; 15] = [
    "k",
    "strategy",
    "max-rounds",
    "most-relays",
    "view",
    "loss",
    "loss-model",
    "ucast-loss",
    "mcast-loss",
    "fail",
    "reinitiate",
    "size",
    "choice",
    "woken-by",
    "delay",
];

/// The flags that are no parameters of the protocol.
const FLAGS: &[&str] = &[
    "loss",
    "loss-model",
    "ucast-loss",
    "mcast-loss",
    "delay",
    "delay-model",
    "view",
    "fail",
    "initiators",
    "initiator",
    "order",
    "top-dead",
    "processing",
    "detection",
    "graph",
    "links",
    "range",
    "speed",
    "rest",
    "link",
    "scenario",
    "departures",
    "arrivals",
    "window",
    "runs",
    "seed",
];

/// Flags by name, and their values as texts; a switch has an empty one.
#[derive(Default)]
struct Flags(Vec<(&'static str, String)>);

impl Flags {
    fn add(&mut self, flag: &'static str, value: impl Display) {
        debug_assert!(FLAGS.contains(&flag), "{flag} is not listed");
        self.0.push((flag, value.to_string()));
    }

    /// Adds a parameter of the protocol.
    fn add_param(&mut self, name: &'static str, text: &str) {
        self.0.push((name, text.to_owned()));
    }

    fn add_if(&mut self, shown: bool, flag: &'static str, value: impl Display) {
        if shown {
            self.add(flag, value);
        }
    }

    fn line(mut self) -> String {
        let place = |flag: &str| FIRST.iter().position(|first| *first == flag);
        self.0.sort_by_key(|(flag, _)| place(flag).unwrap_or(FIRST.len()));
        let text = |(flag, value): &(&str, String)| match value.as_str() {
            "" => format!(" --{flag}"),
            value => format!(" --{flag} {value}"),
        };
        self.0.iter().map(text).collect()
    }
}

impl Point {
    /// The flags that a command may have, beside `nodes` and the parameters of the protocol.
    pub const FLAGS: &'static [&'static str] = FLAGS;

    /// The command that prints the same numbers.
    pub fn command(&self) -> String {
        let (usual, mut flags) = (Self::new(self.protocol, self.nodes), Flags::default());
        self.add_network(&usual, &mut flags);
        self.add_initiation(&usual, &mut flags);
        self.add_terrain(&mut flags);
        self.add_params(&mut flags);
        self.add_scenario(&usual, &mut flags);
        flags.add("runs", self.runs);
        flags.add("seed", self.seed);
        let Self { protocol, nodes, .. } = self;
        format!("bellwether sim {protocol} --nodes {nodes}{}", flags.line())
    }

    fn add_network(&self, usual: &Self, flags: &mut Flags) {
        let (unicasts, multicasts) = (self.unicast_loss, self.multicast_loss);
        if unicasts == multicasts {
            let lossy = multicasts != usual.multicast_loss;
            flags.add_if(lossy, "loss", multicasts.rate());
            flags.add_if(lossy && !self.has_rounds(), "loss-model", multicasts.name());
        } else {
            flags.add("ucast-loss", unicasts.rate());
            flags.add("mcast-loss", multicasts.rate());
        }
        flags.add_if(self.delay != usual.delay, "delay", self.delay);
        flags.add_if(self.delay_model != usual.delay_model, "delay-model", self.delay_model.name());
        flags.add_if(self.view != usual.view, "view", self.view);
        flags.add_if(self.fail != usual.fail, "fail", self.fail);
    }

    fn add_initiation(&self, usual: &Self, flags: &mut Flags) {
        let Initiation { initiators, order, processing, detection, top_dead, .. } =
            &self.initiation;
        match initiators {
            usually if *usually == usual.initiation.initiators => {}
            Initiators::One => flags.add("initiators", "one"),
            Initiators::All => flags.add("initiators", "all"),
            Initiators::Random => flags.add("initiators", "random"),
            Initiators::Some(count) => flags.add("initiators", count),
            Initiators::Named(named) => named.iter().for_each(|node| flags.add("initiator", node)),
        }
        match order {
            Order::Ascending => {}
            Order::Descending => flags.add("order", "descending"),
            Order::Random => flags.add("order", "random"),
            Order::Listed(order) => {
                flags.add("order", order.iter().map(u32::to_string).collect::<Vec<_>>().join(","));
            }
        }
        flags.add_if(*top_dead, "top-dead", "");
        flags.add_if(*processing > Duration::ZERO, "processing", processing);
        if *detection != usual.initiation.detection && !self.detects() {
            let never = || "never".to_owned();
            flags.add("detection", detection.map_or_else(never, |soon| soon.to_string()));
        }
    }

    fn add_terrain(&self, flags: &mut Flags) {
        let terrain = &self.initiation.terrain;
        if let Some(graph) = terrain.graph().filter(|graph| *graph != Graph::default()) {
            flags.add("graph", graph);
        }
        match terrain {
            Terrain::Open
            | Terrain::Complete
            | Terrain::Circle
            | Terrain::Line
            | Terrain::Grid
            | Terrain::Tree => {}
            Terrain::Random { links } => {
                flags.add_if(*links as u64 != usual_links(self.nodes), "links", links);
            }
            Terrain::Disc { range } => flags.add("range", range),
            Terrain::Moving(motion) => {
                flags.add("range", motion.range);
                flags.add("speed", motion.fastest);
                flags.add("rest", motion.rest);
                flags.add("window", motion.lasts);
            }
            Terrain::Listed(links) => {
                links.iter().for_each(|(a, b)| flags.add("link", format!("{a}-{b}")));
            }
        }
    }

    /// The parameters without which it would be another experiment, in the order of their table.
    fn add_params(&self, flags: &mut Flags) {
        let Ok(config) = self.config() else {
            self.params.iter().for_each(|(name, text)| flags.add_param(name, text));
            return;
        };
        let mut needed = self.clone();
        for (name, _) in &self.params {
            let fewer = needed.clone().without(name);
            // One by one: the default of a parameter may follow from another that was given.
            if fewer.config().is_ok_and(|same| same == config) {
                needed = fewer;
            }
        }
        for param in config.family().params() {
            match (needed.param(param.name), param.kind) {
                (None, _) => {}
                (Some("true"), Kind::Switch) => flags.add_param(param.name, ""),
                (Some(text), _) => flags.add_param(param.name, text),
            }
        }
    }

    fn add_scenario(&self, usual: &Self, flags: &mut Flags) {
        let scenario = &self.scenario;
        flags.add_if(*scenario != usual.scenario, "scenario", scenario.name());
        if let Scenario::Churn(Churn { departures, arrivals }) = scenario {
            flags.add("departures", departures);
            flags.add("arrivals", arrivals);
        }
        flags.add_if(self.window != usual.window, "window", self.window);
    }
}

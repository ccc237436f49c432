//! What others ask of bully.

use super::Bully;
use super::params::{BadConfig, Params, Recovery};
use super::table::Config;
use crate::choice::{Entry, Family};
use crate::detect::Detector;
use crate::on_demand::{Inner, Layer, layered};
use crate::profile::{Goal, Profile};
use crate::purpose::{MessageKind, Purpose};
use crate::simulated::{Extent, UnderWay};
use bellwether_core::{Duration, Protocol as _, Visitor};

impl Inner for Params {
    type Config = Config;
    type BadConfig = BadConfig;

    const ROWS: &'static [Entry] = &[Entry {
        name: Bully::NAME,
        summary: "whoever is asked by a lesser process takes over, unless a greater one does",
        source: "Garcia-Molina 1982, as taught",
        family: Family::Bully,
    }];

    const MESSAGES: &'static [MessageKind] = &[
        Purpose::Call.of("election"),
        Purpose::Answer.of("ok"),
        Purpose::Result.of("coordinator"),
        Purpose::Result.also("leader", 1),
        Purpose::Question.of("query"),
        Purpose::Farewell.of("resign"),
    ];

    fn profile(&self) -> Profile {
        let Config { reply, wait, recovery, call_after, detector, .. } = *self.config();
        Profile {
            goal: match recovery {
                Recovery::Bully => Goal::Leaders(1),
                Recovery::Ask => Goal::Same,
            },
            opening: reply,
            byes: 1,
            on_demand: Bully::ON_DEMAND,
            restless: call_after != Duration::MAX || detector == Detector::Heartbeats,
            ..Profile::every(wait)
        }
    }

    fn settles_among(&self, _nodes: u32, hop: Duration) -> Duration {
        self.settles(hop)
    }

    fn messages(&self, extent: &Extent) -> f64 {
        extent.ids as f64 * extent.ids as f64
    }

    fn under_way(&self, extent: &Extent) -> UnderWay {
        // The least asks all others, each of which asks all greater ones.
        let asked = extent.ids as f64 * extent.ids as f64 / 2.0;
        UnderWay { messages: asked, receptions: asked, ..UnderWay::default() }
    }

    fn visit<V: Visitor>(self, visitor: V, layer: Option<Layer>) -> V::Output {
        layered::<Bully, V>(visitor, self, layer)
    }

    fn elects_best(&self) -> bool {
        self.config().recovery != Recovery::Ask
    }
}

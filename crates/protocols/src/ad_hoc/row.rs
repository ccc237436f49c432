//! What others ask of the ad hoc election.

use super::AdHoc;
use super::params::{BadConfig, Params};
use super::table::Config;
use crate::answers::Usual;
use crate::choice::{Entry, Family};
use crate::on_demand::{Inner, Layer, layered};
use crate::profile::Profile;
use crate::purpose::{MessageKind, Purpose};
use crate::simulated::{Extent, Layout, UnderWay};
use bellwether_core::{Duration, Protocol as _, Visitor};

impl Inner for Params {
    type Config = Config;
    type BadConfig = BadConfig;

    const ROWS: &'static [Entry] = &[Entry {
        name: AdHoc::NAME,
        summary: "a tree grows through a network of links and brings back the best",
        source: "Vasudevan, Kurose and Towsley 2004, as taught",
        family: Family::AdHoc,
    }];

    const MESSAGES: &'static [MessageKind] = &[
        Purpose::Call.of("election"),
        Purpose::Report.of("ack"),
        Purpose::Result.also("leader", 1),
        Purpose::SignOfLife.of("heartbeat"),
    ];

    const USUAL: Usual = Usual { delay: Duration::from_millis(10), ..Usual::TEN };

    fn profile(&self) -> Profile {
        Profile {
            trust: self.leader_silence,
            attempt: self.timeout,
            on_demand: AdHoc::ON_DEMAND,
            restless: self.restless,
            ..Profile::every(self.leader_beat)
        }
    }

    fn settles_among(&self, nodes: u32, hop: Duration) -> Duration {
        self.settles(hop * u64::from(nodes))
    }

    fn messages(&self, extent: &Extent) -> f64 {
        match extent.links {
            Some(links) => 5.0 * links as f64,
            None => 20.0 * extent.ids as f64,
        }
    }

    fn under_way(&self, extent: &Extent) -> UnderWay {
        UnderWay { messages: 4.0 * extent.ids as f64, ..UnderWay::default() }
    }

    fn visit<V: Visitor>(self, visitor: V, layer: Option<Layer>) -> V::Output {
        layered::<AdHoc, V>(visitor, self, layer)
    }

    fn reads_rank(&self) -> bool {
        true
    }

    fn layout(&self) -> Option<Layout> {
        Some(Layout::Graph)
    }
}

//! What others ask of the elections on a ring.

use super::params::{BadConfig, Params, Variant};
use super::table::Config;
use super::{ChangRoberts, Collecting, HirschbergSinclair};
use crate::choice::{Entry, Family};
use crate::detect::Detector;
use crate::on_demand::{Inner, Layer, layered};
use crate::profile::Profile;
use crate::purpose::{MessageKind, Purpose};
use crate::simulated::{Extent, Layout, UnderWay};
use bellwether_core::{Duration, Protocol as _, Visitor};

const fn row(variant: Variant, summary: &'static str, source: &'static str) -> Entry {
    Entry { name: variant.name(), summary, source, family: Family::Ring(variant) }
}

impl Inner for Params {
    type Config = Config;
    type BadConfig = BadConfig;

    const ROWS: &'static [Entry] = &[
        row(
            Variant::Ring,
            "a message collects everyone round the ring, and its sender picks the greatest",
            "the ring of Tanenbaum, as taught",
        ),
        row(
            Variant::ChangRoberts,
            "everyone's id goes round until it meets a greater one",
            "Chang and Roberts 1979",
        ),
        row(
            Variant::Merea,
            "as ring, but the election that was called first stops the others",
            "MEREA, Table 3 corrected",
        ),
        row(
            Variant::HirschbergSinclair,
            "candidates win ever larger neighbourhoods, both ways round",
            "Hirschberg and Sinclair 1980, as taught",
        ),
    ];

    const MESSAGES: &'static [MessageKind] = &[
        Purpose::Call.of("election"),
        Purpose::Call.of("probe"),
        Purpose::Answer.of("reply"),
        Purpose::Result.of("coordinator"),
        Purpose::Result.of("announcement"),
    ];

    fn profile(&self) -> Profile {
        let Config { retry, call_after, detector, .. } = *self.config();
        let never = call_after == Duration::MAX && retry == Duration::MAX;
        Profile {
            on_demand: Collecting::ON_DEMAND,
            restless: !never || detector == Detector::Heartbeats,
            ..Profile::every(retry) // without a word when it departs: the neighbours notice
        }
    }

    fn settles_among(&self, nodes: u32, _hop: Duration) -> Duration {
        self.settles(nodes as usize)
    }

    fn messages(&self, extent: &Extent) -> f64 {
        let (ids, calls) = (extent.ids as f64, extent.calls as f64);
        match self.config().variant {
            Variant::HirschbergSinclair => {
                8.0 * ids * (2.0 + f64::from(u64::BITS - extent.ids.leading_zeros()))
            }
            Variant::Ring | Variant::ChangRoberts | Variant::Merea => ids * (calls + 2.0) * 2.0,
        }
    }

    fn under_way(&self, extent: &Extent) -> UnderWay {
        let (ids, calls) = (extent.ids as f64, extent.calls as f64);
        match self.config().variant {
            Variant::Ring | Variant::Merea => UnderWay { ids: calls * ids, ..UnderWay::default() },
            Variant::ChangRoberts | Variant::HirschbergSinclair => {
                UnderWay { messages: 4.0 * ids, ..UnderWay::default() }
            }
        }
    }

    fn visit<V: Visitor>(self, visitor: V, layer: Option<Layer>) -> V::Output {
        match self.config().variant {
            Variant::Ring | Variant::Merea => layered::<Collecting, V>(visitor, self, layer),
            Variant::ChangRoberts => layered::<ChangRoberts, V>(visitor, self, layer),
            Variant::HirschbergSinclair => layered::<HirschbergSinclair, V>(visitor, self, layer),
        }
    }

    fn layout(&self) -> Option<Layout> {
        let both_ways = self.config().variant == Variant::HirschbergSinclair;
        Some(Layout::Ring { both_ways })
    }

    fn is_as_printed(&self) -> bool {
        self.config().as_printed
    }
}

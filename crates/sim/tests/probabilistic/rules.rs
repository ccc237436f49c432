//! Which of the rules that the paper leaves open are the better ones.

use crate::support::{Means, Trial, many};
use bellwether_protocols::probabilistic::{Config, Reinitiate, WokenBy};

fn lossy(nodes: u32, loss: f64, config: Config, runs: u64) -> Means {
    let (unicast_loss, multicast_loss) = (loss, loss);
    let calm = Trial::calm(nodes, config);
    many(&Trial { view: 0.5, unicast_loss, multicast_loss, fail: 0.001, ..calm }, runs)
}

#[test]
#[ignore = "x"]
fn table() {
    for nodes in [300, 1000] {
        for loss in [0.0, 0.05, 0.1, 0.2, 0.3, 0.4] {
            for reinitiate in [Reinitiate::Hash, Reinitiate::Delay] {
                for woken_by in [WokenBy::Initiation, WokenBy::Preference] {
                    let config =
                        Config { reinitiate, woken_by, last_round_all: false, ..Config::default() };
                    let means = lossy(nodes, loss, config, 300);
                    println!("{nodes} {loss} {reinitiate:?} {woken_by:?} {means:.3?}");
                }
            }
        }
    }
}

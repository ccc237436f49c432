//! Who calls an election, and the ring or network it is held in.

use super::failure::Failure;
use super::group::{finite, flags, name, number};
use bellwether::core::Duration;
use bellwether::protocols::called::Called;
use bellwether::sim::motion::Motion;
use bellwether::sim::{Convening, Initiators, Order, Terrain};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

#[derive(Args, Debug)]
pub(super) struct Convened {
    #[command(flatten)]
    call: Call,
    #[command(flatten)]
    ring: Ring,
    #[command(flatten)]
    ground: Ground,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Elections that are called (bully, rings, ad-hoc)")]
struct Call {
    /// Who calls the election: one (process 0), all, so many of them or a random part, drawn for
    /// each run
    #[arg(long, value_name = "one|all|K|random", default_value = "one")]
    #[arg(value_parser = initiators, conflicts_with = "initiator")]
    initiators: Initiators,
    /// This process calls it; may be said several times
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    initiator: Vec<u32>,
    /// The greatest process is dead from the start
    #[arg(long)]
    top_dead: bool,
    /// How long a process takes over each message
    #[arg(long, value_name = "D", default_value = "0s", allow_negative_numbers = true)]
    processing: Duration,
    /// With --detector told: all know so soon who is gone or back
    #[arg(long, value_name = "D", default_value = "0s", allow_negative_numbers = true)]
    detection: Duration,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Rings")]
#[group(id = "Standing")]
struct Ring {
    /// In which order they stand: ascending, descending, random (drawn for each run), or a list of
    /// all ids such as 2,0,1
    #[arg(long, value_name = "ORDER", default_value = "ascending", value_parser = order)]
    order: Order,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Networks (ad-hoc)")]
struct Ground {
    /// Who is linked to whom; what is random is drawn for each run
    #[arg(long, value_enum, default_value_t)]
    graph: Graph,
    /// With --graph random: how many links [default: 2 for each process]
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    links: Option<usize>,
    /// With --graph disc or moving: how far radios are heard, in parts of the square's side
    #[arg(long, value_name = "X", default_value_t = 0.35, allow_negative_numbers = true)]
    #[arg(value_parser = number)]
    range: f64,
    /// With --graph moving: the greatest speed, in sides of the square per second; the least is a
    /// tenth of it
    #[arg(long, value_name = "X", default_value_t = 0.01, allow_negative_numbers = true)]
    #[arg(value_parser = number)]
    speed: f64,
    /// With --graph moving: the longest rest between two ways
    #[arg(long, value_name = "D", default_value = "10s", allow_negative_numbers = true)]
    rest: Duration,
    /// A link, as 0-1; may be said several times, and then these are all
    #[arg(long, value_name = "A-B", value_parser = link)]
    link: Vec<(u32, u32)>,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Graph {
    /// A random connected graph
    #[default]
    Random,
    /// A random tree
    Tree,
    /// Rows and columns
    Grid,
    /// A row
    Line,
    /// A circle
    Circle,
    /// Everyone with everyone
    Complete,
    /// Radios in a square that hear each other within a range
    Disc,
    /// Radios that move about the square
    Moving,
}

/// Parses who calls an election.
pub(super) fn initiators(text: &str) -> Result<Initiators, String> {
    Ok(match text {
        "one" => Initiators::One,
        "all" => Initiators::All,
        "random" => Initiators::Random,
        number => Initiators::Some(number.parse().map_err(|_| {
            "initiators are one, all, random or a number; for certain ones use --initiator"
                .to_owned()
        })?),
    })
}

fn order(text: &str) -> Result<Order, String> {
    Ok(match text {
        "ascending" => Order::Ascending,
        "descending" => Order::Descending,
        "random" => Order::Random,
        list => Order::Listed(
            list.split(',').map(|id| id.trim().parse()).collect::<Result<_, _>>().map_err(
                |_| {
                    "an order is ascending, descending, random or a list of ids such as 2,0,1"
                        .to_owned()
                },
            )?,
        ),
    })
}

fn link(text: &str) -> Result<(u32, u32), String> {
    let ends = text.split_once('-').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    ends.ok_or_else(|| "a link is two ids with a dash between them, such as 0-1".to_owned())
}

impl Convened {
    /// The flags that mean something to one of them.
    pub(super) fn flags_of(called: Called) -> Vec<String> {
        let mut known = flags::<Call>();
        match called {
            Called::Bully => {}
            Called::Ring(_) => known.extend(flags::<Ring>()),
            Called::AdHoc => known.extend(flags::<Ground>()),
        }
        known
    }

    /// How long a process takes over each message.
    pub(super) fn processing(&self) -> Duration {
        self.call.processing
    }

    /// Whether links come and go.
    pub(super) fn wanders(&self) -> bool {
        self.ground.graph == Graph::Moving && self.ground.link.is_empty()
    }

    /// The circumstances, for so many processes that move for so long; failures are told unless
    /// they are detected.
    pub(super) fn convening(
        &self,
        called: Called,
        nodes: u32,
        lasts: Duration,
        detects: bool,
    ) -> Result<Convening, Failure> {
        let Call { initiators, initiator, top_dead, processing, detection } = &self.call;
        for (flag, length) in [("processing", processing), ("detection", detection)] {
            if *length == Duration::MAX {
                return Err(Failure::usage(format!(
                    "--{flag} infinite: nothing would ever happen; choose a length"
                )));
            }
        }
        Ok(Convening {
            initiators: if initiator.is_empty() {
                initiators.clone()
            } else {
                Initiators::Named(initiator.clone())
            },
            order: self.ring.order.clone(),
            processing: *processing,
            detection: (!detects).then_some(*detection),
            top_dead: *top_dead,
            terrain: match called {
                Called::Bully | Called::Ring(_) => Terrain::Open,
                Called::AdHoc => self.terrain(nodes, lasts),
            },
        })
    }

    fn terrain(&self, nodes: u32, lasts: Duration) -> Terrain {
        let Ground { graph, links, range, speed, rest, link } = &self.ground;
        if !link.is_empty() {
            return Terrain::Listed(link.clone());
        }
        match graph {
            Graph::Random => {
                let (least, most) = (nodes.saturating_sub(1), u64::from(nodes));
                let most = most * most.saturating_sub(1) / 2;
                let usual = (u64::from(nodes) * 2).min(most).max(u64::from(least));
                Terrain::Random { links: links.unwrap_or(usual as usize) }
            }
            Graph::Tree => Terrain::Tree,
            Graph::Grid => Terrain::Grid,
            Graph::Line => Terrain::Line,
            Graph::Circle => Terrain::Circle,
            Graph::Complete => Terrain::Complete,
            Graph::Disc => Terrain::Disc { range: *range },
            Graph::Moving => Terrain::Moving(Motion {
                side: 1.0,
                range: *range,
                slowest: speed / 10.0,
                fastest: *speed,
                rest: *rest,
                lasts,
            }),
        }
    }

    /// What is not the same in every experiment, for people to read.
    pub(super) fn conditions(&self) -> String {
        let mut text = format!(", {}", self.who());
        if self.call.top_dead {
            text += ", the greatest is dead";
        }
        if self.call.processing > Duration::ZERO {
            text += &format!(", processing {}", self.call.processing);
        }
        text
    }

    fn who(&self) -> String {
        let Call { initiators, initiator, .. } = &self.call;
        match initiators {
            _ if !initiator.is_empty() => {
                let ids: Vec<String> = initiator.iter().map(u32::to_string).collect();
                format!("called by {}", ids.join(","))
            }
            Initiators::One | Initiators::Named(_) => "called by 0".to_owned(),
            Initiators::All => "called by all".to_owned(),
            Initiators::Some(count) => format!("called by {count} of them"),
            Initiators::Random => "called by a random part".to_owned(),
        }
    }

    /// All of it, for programs, under the names of the flags.
    pub(super) fn to_json(&self, called: Called) -> Map<String, Value> {
        let Call { initiators, initiator, top_dead, processing, detection } = &self.call;
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
        if initiator.is_empty() {
            put(
                "initiators",
                match initiators {
                    Initiators::One | Initiators::Named(_) => json!("one"),
                    Initiators::All => json!("all"),
                    Initiators::Random => json!("random"),
                    Initiators::Some(count) => json!(count),
                },
            );
        } else {
            put("initiator", json!(initiator));
        }
        put("top_dead", json!(top_dead));
        put("processing", json!(finite(*processing)));
        put("detection", json!(finite(*detection)));
        match called {
            Called::Bully => {}
            Called::Ring(_) => {
                let order = match &self.ring.order {
                    Order::Ascending => json!("ascending"),
                    Order::Descending => json!("descending"),
                    Order::Random => json!("random"),
                    Order::Listed(list) => json!(list),
                };
                put("order", order);
            }
            Called::AdHoc => {
                let Ground { graph, links, range, speed, rest, link } = &self.ground;
                if link.is_empty() {
                    put("graph", json!(name(*graph)));
                    put("links", json!(links));
                    put("range", json!(range));
                    put("speed", json!(speed));
                    put("rest", json!(finite(*rest)));
                } else {
                    put("link", json!(link));
                }
            }
        }
        map
    }
}

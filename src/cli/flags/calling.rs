//! Who calls an election, and the ring or network it is held in.

use crate::cli::failure::Failure;
use crate::cli::flags;
use crate::cli::flags::common::{CALLED, Callers, Links, Processing};
use crate::cli::flags::group::{finite, number};
use crate::cli::flags::one_of;
use bellwether::analysis::usual_links;
use bellwether::core::Duration;
use bellwether::protocols::simulated::Layout;
use bellwether::sim::motion::Motion;
use bellwether::sim::{Graph, Initiation, Initiators, Order, Terrain};
use clap::Args;
use serde_json::{Map, Value, json};

#[derive(Args, Debug)]
pub(in crate::cli) struct InitiationFlags {
    #[command(flatten)]
    pub(in crate::cli) call: Call,
    #[command(flatten)]
    ring: Ring,
    #[command(flatten)]
    ground: Ground,
}

#[derive(Args, Debug)]
#[command(next_help_heading = CALLED)]
#[command(mut_arg("initiators", |flag| flag.default_value("one")))]
pub(in crate::cli) struct Call {
    #[command(flatten)]
    callers: Callers,
    /// Each calls at a random moment within this time, drawn for each run
    #[arg(long, value_name = "D", default_value = "0s")]
    spread: Duration,
    /// The greatest process is dead from the start
    #[arg(long)]
    top_dead: bool,
    #[command(flatten)]
    processing: Processing,
    /// With --detector told: how soon all are told who is gone or back; `never` leaves it to
    /// time-outs [default: 0s]
    #[arg(long, value_name = "D|never", value_parser = detection)]
    detection: Option<Detection>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Rings")]
#[group(id = "RingOrder")]
struct Ring {
    /// The order of the processes on the ring: ascending, descending, random (drawn for each run),
    /// or a list of all ids such as 2,0,1
    #[arg(long, value_name = "ORDER", default_value = "ascending", value_parser = order)]
    order: Order,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Networks")]
struct Ground {
    /// Who is linked to whom; what is random is drawn for each run
    #[arg(long, value_parser = one_of::<Graph>(), default_value_t)]
    graph: Graph,
    #[command(flatten)]
    links: Links,
    /// With --graph disc or moving: how far radios are heard, in parts of the square's side
    /// [default: 0.35]
    #[arg(long, value_name = "X", value_parser = number)]
    range: Option<f64>,
    /// With --graph moving: the greatest speed, in sides of the square per second; the least is a
    /// tenth of it [default: 0.01]
    #[arg(long, value_name = "X", value_parser = number)]
    speed: Option<f64>,
    /// With --graph moving: the longest pause between two movements [default: 10s]
    #[arg(long, value_name = "D")]
    rest: Option<Duration>,
    /// A link, as 0-1; may be given several times, and then there are no others
    #[arg(long, value_name = "A-B", value_parser = link)]
    link: Vec<(u32, u32)>,
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

/// How soon processes are told of failures, if ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Detection(Option<Duration>);

fn detection(text: &str) -> Result<Detection, String> {
    if text == "never" {
        return Ok(Detection(None));
    }
    match text.parse::<Duration>() {
        Ok(length) if length != Duration::MAX => Ok(Detection(Some(length))),
        Ok(_) => Err("that is never; say `never`".to_owned()),
        Err(bad) => Err(bad.to_string()),
    }
}

fn link(text: &str) -> Result<(u32, u32), String> {
    let ends = text.split_once('-').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    ends.ok_or_else(|| "a link is two ids with a dash between them, such as 0-1".to_owned())
}

impl Ground {
    fn range(&self) -> f64 {
        self.range.unwrap_or(0.35)
    }

    /// The links of so many processes, which move for so long if they do.
    fn terrain(&self, nodes: u32, lasts: Duration) -> Result<Terrain, Failure> {
        let Self { graph, links: Links { links }, range, speed, rest, link } = self;
        let radios = matches!(graph, Graph::Disc | Graph::Moving);
        let moving = *graph == Graph::Moving;
        let listed = !link.is_empty();
        for (flag, given, means) in [
            ("links", links.is_some(), *graph == Graph::Random),
            ("range", range.is_some(), radios),
            ("speed", speed.is_some(), moving),
            ("rest", rest.is_some(), moving),
        ] {
            if given && (listed || !means) {
                let graph = if listed { "--link".to_owned() } else { format!("--graph {graph}") };
                return Err(Failure::usage(format!(
                    "--{flag} has no effect with {graph}; leave one of them out"
                )));
            }
        }
        if listed {
            return Ok(Terrain::Listed(link.clone()));
        }
        Ok(match graph {
            Graph::Random => {
                let usual = || usual_links(nodes) as usize;
                Terrain::Random { links: links.unwrap_or_else(usual) }
            }
            Graph::Tree => Terrain::Tree,
            Graph::Grid => Terrain::Grid,
            Graph::Line => Terrain::Line,
            Graph::Circle => Terrain::Circle,
            Graph::Complete => Terrain::Complete,
            Graph::Disc => Terrain::Disc { range: self.range() },
            Graph::Moving => {
                let fastest = speed.unwrap_or(0.01);
                Terrain::Moving(Motion {
                    side: 1.0,
                    range: self.range(),
                    slowest: fastest / 10.0,
                    fastest,
                    rest: rest.unwrap_or(Duration::from_secs(10)),
                    lasts,
                })
            }
        })
    }
}

impl Call {
    /// Who calls, and how long a process takes to handle a message.
    pub(in crate::cli) fn initiation(&self) -> Result<Initiation, Failure> {
        let Self { spread, top_dead, .. } = self;
        let processing = self.processing.processing;
        if *spread > Duration::LONGEST_WRITTEN {
            return Err(Failure::usage("--spread infinite: nobody would call; choose a length"));
        }
        if processing == Duration::MAX {
            return Err(Failure::usage(
                "--processing infinite: nothing would ever happen; choose a length",
            ));
        }
        Ok(Initiation {
            initiators: self.initiators(),
            processing,
            top_dead: *top_dead,
            spread: *spread,
            ..Initiation::default()
        })
    }

    /// Who calls.
    fn initiators(&self) -> Initiators {
        let Callers { initiators, initiator } = &self.callers;
        match initiator.is_empty() {
            true => initiators.clone().unwrap_or(Initiators::One),
            false => Initiators::Named(initiator.clone()),
        }
    }

    /// How soon processes are told of failures, if they are.
    fn detection(&self) -> Detection {
        self.detection.unwrap_or(Detection(Some(Duration::ZERO)))
    }

    /// What differs between experiments, for people to read; `one` is who calls if one does.
    pub(in crate::cli) fn conditions(&self, one: &str) -> String {
        let mut text = format!(", {}", self.who(one));
        if self.spread > Duration::ZERO {
            text += &format!(", within {}", self.spread);
        }
        if self.top_dead {
            text += ", the greatest is dead";
        }
        let Processing { processing } = self.processing;
        if processing > Duration::ZERO {
            text += &format!(", processing {processing}");
        }
        text
    }

    fn who(&self, one: &str) -> String {
        match self.initiators() {
            Initiators::Named(named) => {
                let ids: Vec<String> = named.iter().map(u32::to_string).collect();
                format!("called by {}", ids.join(","))
            }
            Initiators::One => format!("called by {one}"),
            Initiators::All => "called by all".to_owned(),
            Initiators::Some(count) => format!("called by {count} of them"),
            Initiators::Random => "called by a random part".to_owned(),
        }
    }

    /// All of it, for programs, under the names of the flags.
    pub(in crate::cli) fn to_json(&self) -> Map<String, Value> {
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
        match self.initiators() {
            Initiators::Named(named) => put("initiator", json!(named)),
            Initiators::One => put("initiators", json!("one")),
            Initiators::All => put("initiators", json!("all")),
            Initiators::Random => put("initiators", json!("random")),
            Initiators::Some(count) => put("initiators", json!(count)),
        };
        put("top_dead", json!(self.top_dead));
        put("processing", json!(finite(self.processing.processing)));
        put("spread", json!(finite(self.spread)));
        put("detection", json!(self.detection().0.and_then(finite)));
        map
    }
}

impl InitiationFlags {
    /// The flags that have an effect in such a layout.
    pub(in crate::cli) fn flags_of(layout: Option<Layout>) -> Vec<String> {
        let mut known = flags::of::<Call>();
        match layout {
            None => {}
            Some(Layout::Ring { .. }) => known.extend(flags::of::<Ring>()),
            Some(Layout::Graph) => known.extend(flags::of::<Ground>()),
        }
        known
    }

    /// How long a process takes to handle each message.
    pub(in crate::cli) fn processing(&self) -> Duration {
        self.call.processing.processing
    }

    /// Whether links come and go.
    pub(in crate::cli) fn wanders(&self) -> bool {
        self.ground.graph == Graph::Moving && self.ground.link.is_empty()
    }

    /// The initiation for so many processes, which move for so long. They are told of failures
    /// unless they detect them.
    pub(in crate::cli) fn initiation(
        &self,
        layout: Option<Layout>,
        nodes: u32,
        lasts: Duration,
        detects: bool,
    ) -> Result<Initiation, Failure> {
        if detects && self.call.detection.is_some() {
            return Err(Failure::usage(
                "--detection has an effect only with --detector told, not with heartbeats; leave \
                 one out",
            ));
        }
        Ok(Initiation {
            order: self.ring.order.clone(),
            detection: self.call.detection().0.filter(|_| !detects),
            terrain: match layout {
                None | Some(Layout::Ring { .. }) => Terrain::Open,
                Some(Layout::Graph) => {
                    self.ground.terrain(nodes - u32::from(self.call.top_dead), lasts)?
                }
            },
            ..self.call.initiation()?
        })
    }

    /// What differs between experiments, for people to read.
    pub(in crate::cli) fn conditions(&self, layout: Option<Layout>) -> String {
        let ground = match layout {
            None => String::new(),
            Some(Layout::Ring { .. }) => match &self.ring.order {
                Order::Ascending => String::new(),
                Order::Descending => ", descending".to_owned(),
                Order::Random => ", in random order".to_owned(),
                Order::Listed(_) => ", in the order given".to_owned(),
            },
            Some(Layout::Graph) if !self.ground.link.is_empty() => ", links given".to_owned(),
            Some(Layout::Graph) => {
                let range = match self.ground.graph {
                    Graph::Disc | Graph::Moving => format!(" {}", self.ground.range()),
                    _ => String::new(),
                };
                format!(", graph {}{range}", self.ground.graph)
            }
        };
        ground + &self.call.conditions("0")
    }

    /// All of it, for programs, under the names of the flags.
    pub(in crate::cli) fn to_json(&self, layout: Option<Layout>) -> Map<String, Value> {
        let mut map = self.call.to_json();
        let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
        match layout {
            None => {}
            Some(Layout::Ring { .. }) => {
                let order = match &self.ring.order {
                    Order::Ascending => json!("ascending"),
                    Order::Descending => json!("descending"),
                    Order::Random => json!("random"),
                    Order::Listed(list) => json!(list),
                };
                put("order", order);
            }
            Some(Layout::Graph) => {
                let Ground { graph, links: Links { links }, range, speed, rest, link } =
                    &self.ground;
                if link.is_empty() {
                    put("graph", json!(graph.name()));
                    put("links", json!(links));
                    put("range", json!(range));
                    put("speed", json!(speed));
                    put("rest", json!(rest.and_then(finite)));
                } else {
                    put("link", json!(link));
                }
            }
        }
        map
    }
}

//! The lazy engine against the event engine: every measure, every seed, to the last bit.
//!
//! A failure prints the two commands that replay it.

use crate::support::{experiment, p};
use bellwether_core::Duration;
use bellwether_protocols::announce_listen::{
    Config, Criterion, Mapping, Params, Repeat, Shape, Variant,
};
use bellwether_sim::network::{Delay, Loss, Network};
use bellwether_sim::{Answer, BadExperiment, Engine, Experiment, Measure, Ranks};

/// One experiment, in the terms of the command line.
#[derive(Clone, Copy, Debug)]
struct Case {
    variant: Variant,
    criterion: Option<Criterion>,
    /// Whether the best wakes first.
    mapped: bool,
    jitter: Duration,
    shape: Shape,
    suppress: Duration,
    announce: Duration,
    delay: Duration,
    model: Model,
    loss: f64,
    nodes: u32,
    runs: u64,
    seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Model {
    None,
    Correlated,
    Uncorrelated,
}

impl Case {
    fn new(variant: Variant) -> Self {
        Self {
            variant,
            criterion: None,
            mapped: false,
            jitter: Duration::ZERO,
            shape: Shape::Uniform,
            suppress: Duration::from_secs(1),
            announce: Duration::from_secs(1),
            delay: Duration::from_millis(100),
            model: Model::Uncorrelated,
            loss: 0.4,
            nodes: 50,
            runs: 1,
            seed: 1,
        }
    }

    fn by_rank(self) -> Self {
        Self { criterion: Some(Criterion::Rank), ..self }
    }

    fn ranks(&self) -> Ranks {
        if self.criterion == Some(Criterion::Rank) { Ranks::Random } else { Ranks::ById }
    }

    fn experiment(&self, engine: Engine) -> Experiment {
        let best = match self.ranks() {
            Ranks::Random => Ranks::BOUND - 1,
            Ranks::ById => u64::from(self.nodes),
        };
        let mapped = Mapping::ByStanding { best, worst: 0, jitter: self.jitter };
        let (usual, (opening, _, repeat)) = (Config::new(self.variant), self.variant.rules());
        let config = Config {
            criterion: self.criterion,
            suppress: if opening.suppresses() { self.suppress } else { usual.suppress },
            announce: if repeat == Repeat::Once { usual.announce } else { self.announce },
            ..usual
        };
        let config = config.shaped(self.shape);
        let config = if self.mapped { config.mapped(mapped) } else { config };
        let loss = p(self.loss);
        let loss = match self.model {
            Model::None => Loss::None,
            Model::Correlated => Loss::Correlated(loss),
            Model::Uncorrelated => Loss::Uncorrelated(loss),
        };
        let params = Params::try_from(config).expect("a valid choice");
        let network = Network::uniform(Delay::Constant(self.delay), loss);
        Experiment {
            ranks: self.ranks(),
            runs: self.runs,
            seed: self.seed,
            engine,
            ..experiment(params, self.nodes, network)
        }
    }

    fn ask(&self, engine: Engine) -> Answer {
        self.experiment(engine).run(&|| ()).expect("an answer")
    }

    /// The command that replays it.
    fn command(&self, engine: &str) -> String {
        let Self { nodes, runs, seed, suppress, announce, delay, jitter, .. } = self;
        let mut line = format!(
            "bellwether sim {} --nodes {nodes} --runs {runs} --seed {seed} --suppress {suppress} \
             --announce {announce} --delay {delay} --engine {engine}",
            self.variant.name()
        );
        let mut add = |option: String| line.push_str(&option);
        match self.model {
            Model::None => {}
            Model::Correlated => add(format!(" --loss {} --loss-model correlated", self.loss)),
            Model::Uncorrelated => add(format!(" --loss {}", self.loss)),
        }
        match self.criterion {
            Some(Criterion::Rank) => add(" --criterion rank".to_owned()),
            Some(Criterion::EarliestWakeUp) => add(" --criterion earliest-wake-up".to_owned()),
            Some(Criterion::HighestId) | None => {}
        }
        if self.mapped {
            add(format!(" --mapping standing --jitter {jitter}"));
        }
        match self.shape {
            Shape::Uniform => {}
            Shape::Rising { rate } => add(format!(" --timer exponential --timer-rate {rate}")),
            Shape::Falling { rate } => {
                add(format!(" --timer exponential-falling --timer-rate {rate}"));
            }
        }
        line
    }

    /// Checks that both engines give the same result.
    fn compare(&self) {
        let (event, lazy) = (self.ask(Engine::Event), self.ask(Engine::Lazy));
        assert!(lazy.lazy && !event.lazy);
        let same = event.measures == lazy.measures && event.unsettled == lazy.unsettled;
        assert!(
            same,
            "the engines differ; replay with\n  {}\n  {}\nevent: {event:#?}\nlazy: {lazy:#?}",
            self.command("event"),
            self.command("lazy"),
        );
    }
}

/// All protocols that the lazy engine supports.
fn kinds() -> [Case; 10] {
    let les = Case::new(Variant::LeS);
    let jitter = Duration::from_millis(50);
    [
        Case::new(Variant::LeA),
        Case::new(Variant::LeA).by_rank(),
        les,
        les.by_rank(),
        Case { mapped: true, ..les },
        Case { mapped: true, jitter, ..les.by_rank() },
        Case::new(Variant::LeM),
        Case::new(Variant::Sup),
        Case::new(Variant::Al),
        Case::new(Variant::Al).by_rank(),
    ]
}

/// All kinds of loss, each with some rates.
fn losses() -> Vec<(Model, f64)> {
    let rates = [0.1, 0.4, 0.7];
    let lossy = [Model::Correlated, Model::Uncorrelated];
    let pairs = lossy.into_iter().flat_map(|model| rates.map(|loss| (model, loss)));
    std::iter::once((Model::None, 0.0)).chain(pairs).collect()
}

const SIZES: [u32; 7] = [1, 2, 3, 10, 64, 65, 200];

/// Every size and loss.
fn compare_everywhere(case: Case) {
    for (model, loss) in losses() {
        for nodes in SIZES {
            Case { model, loss, nodes, ..case }.compare();
        }
    }
}

#[test]
fn both_engines_agree_on_every_kind_loss_size_and_delay() {
    for (delay, seed) in [100, 300, 1000, 1700].into_iter().zip(1..) {
        for kind in kinds() {
            let delay = Duration::from_millis(delay);
            compare_everywhere(Case { delay, seed, runs: 3, ..kind });
        }
    }
}

#[test]
fn both_engines_agree_on_timers_that_rise_or_fall() {
    for shape in [Shape::Rising { rate: 10.0 }, Shape::Falling { rate: 5.0 }] {
        for variant in [Variant::LeS, Variant::LeM, Variant::Sup] {
            compare_everywhere(Case { shape, runs: 2, ..Case::new(variant) });
        }
    }
}

#[test]
fn both_engines_agree_on_a_thousand_seeds_and_two_sizes() {
    for nodes in [50, 500] {
        for seed in 0..1000 {
            Case { nodes, seed, ..Case::new(Variant::LeS) }.compare();
        }
    }
}

#[test]
fn both_engines_agree_where_all_times_collide() {
    // A few nanoseconds: wake-ups tie, and messages arrive exactly when timers end.
    let nanos = Duration::from_nanos;
    for (suppress, announce, delay) in [(10, 3, 2), (4, 4, 1), (7, 2, 7), (3, 5, 15), (1, 1, 1)] {
        let (suppress, announce, delay) = (nanos(suppress), nanos(announce), nanos(delay));
        for kind in kinds() {
            let jitter = announce;
            compare_everywhere(Case { suppress, announce, delay, jitter, runs: 4, ..kind });
        }
    }
}

#[test]
fn both_engines_agree_where_almost_everything_is_lost() {
    // So that announcements far beyond the first few are read.
    for kind in kinds() {
        for loss in [0.9, 0.97, 0.99] {
            for nodes in [5, 150] {
                Case { loss, nodes, runs: 2, ..kind }.compare();
            }
        }
    }
    for variant in [Variant::LeA, Variant::LeS] {
        Case { loss: 0.9995, nodes: 3000, ..Case::new(variant) }.compare();
    }
}

#[test]
fn both_engines_agree_on_a_large_group() {
    for kind in kinds() {
        // Processes that fall silent late, or never, cost the event engine too much.
        let talks = matches!(kind.variant, Variant::Al | Variant::LeA);
        let nodes = if talks { 1500 } else { 6000 };
        Case { nodes, ..kind }.compare();
    }
}

#[test]
fn a_group_that_is_not_done_before_the_world_ends_is_unsettled_for_both_engines() {
    let secs = Duration::from_secs;
    let (announce, delay) = (secs(300_000_000), secs(500_000_000));
    let (suppress, jitter) = (secs(1_000_000_000), secs(500_000_000));
    let mut unsettled = 0;
    for kind in kinds() {
        for (model, loss) in losses() {
            let late = Case { announce, delay, suppress, jitter, model, loss, ..kind };
            for nodes in [1, 2, 5] {
                let case = Case { nodes, runs: 20, ..late };
                case.compare();
                unsettled += case.ask(Engine::Lazy).unsettled;
            }
        }
    }
    assert!(unsettled > 0, "some must fail, or nothing was tested");
}

#[test]
fn lazy_results_do_not_depend_on_the_number_of_threads() {
    for kind in kinds() {
        let one = Case { nodes: 100, runs: 200, ..kind }.experiment(Engine::Lazy);
        let four = Experiment { threads: 4, ..one.clone() };
        assert_eq!(one.run(&|| ()).unwrap(), four.run(&|| ()).unwrap(), "{kind:?}");
    }
}

#[test]
fn a_million_processes_can_be_asked() {
    let answer = Case { nodes: 1_000_000, ..Case::new(Variant::LeS) }.ask(Engine::Auto);
    assert!(answer.lazy);
    let mean = |measure| answer.measure(measure).unwrap().mean;
    // The mean of a geometric number, and the greatest of a million of them.
    assert!((mean(Measure::AverageRounds) - 1.0 / 0.6).abs() < 0.01, "{answer:?}");
    assert!((10.0..40.0).contains(&mean(Measure::Rounds)), "{answer:?}");
    // No process is silenced in the first tenth of a second, and hardly any speaks after it.
    assert!((98_500.0..102_000.0).contains(&mean(Measure::Messages)), "{answer:?}");
}

#[test]
fn what_the_lazy_engine_cannot_do_it_refuses_and_auto_leaves_to_the_event_engine() {
    let no_delay = Case { delay: Duration::ZERO, ..Case::new(Variant::LeS) };
    for case in [Case::new(Variant::SupAlSpread), Case::new(Variant::Query), no_delay] {
        let refused = case.experiment(Engine::Lazy).run(&|| ());
        assert!(matches!(refused, Err(BadExperiment::NotLazy(_))), "{case:?}: {refused:?}");
        assert!(!case.ask(Engine::Auto).lazy);
    }
    assert!(Case::new(Variant::LeS).ask(Engine::Auto).lazy);
}

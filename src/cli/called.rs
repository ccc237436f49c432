//! The flags of elections that somebody calls: bully, the rings, ad hoc networks.

use super::calling::Convened;
use super::failure::Failure;
use super::group::{Surroundings, finite, flags, name};
use bellwether::core::Duration;
use bellwether::protocols::bully;
use bellwether::protocols::called::{Called, Config};
use bellwether::protocols::detect;
use bellwether::protocols::ring;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

#[derive(Args, Debug)]
pub(super) struct Elections {
    #[command(flatten)]
    pub(super) convened: Convened,
    #[command(flatten)]
    times: Times,
    #[command(flatten)]
    bully: Bully,
    #[command(flatten)]
    ring: Rings,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Time-outs and failures (bully, rings, ad-hoc)")]
struct Times {
    /// How a process comes to know that another is gone [default: told; heartbeats if there is
    /// loss, and in `check`]
    #[arg(long, value_enum)]
    detector: Option<Detector>,
    /// With --detector heartbeats: a process says this often that it lives [default: 10 delays]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    beat: Option<Duration>,
    /// With --detector heartbeats: who was silent for so long is held to be gone [default: 35
    /// delays]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    suspect: Option<Duration>,
    /// With --detector heartbeats: what was not acknowledged is sent again after this [default: 3
    /// delays]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    resend: Option<Duration>,
    /// With --detector heartbeats: how often, before its receiver is held to be gone [default: 5]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    tries: Option<u32>,
    /// How long a process bears to have no leader before it calls an election [default: infinite;
    /// where failures are detected, 30 or 60 delays]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    call_after: Option<Duration>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Bully")]
struct Bully {
    /// How long a process waits for an OK before it takes the lead [default: 10 delays]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    reply: Option<Duration>,
    /// How long it then waits for the Coordinator message [default: 3 times --reply]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    wait: Option<Duration>,
    /// How the greatest process of all answers an election
    #[arg(long, value_enum, default_value_t)]
    top_answers: TopAnswers,
    /// What a process does that has recovered
    #[arg(long, value_enum, default_value_t)]
    recovery: Recovery,
    /// Elections carry the time they were called, and the oldest prevails: MEREA's idea
    #[arg(long)]
    stamps: bool,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Rings")]
struct Rings {
    /// How long a message may take to the next process: an election that has not come to an end
    /// after so long for every hop is held again [default: infinite; where failures are detected,
    /// 5 delays]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    retry: Option<Duration>,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Detector {
    /// It is told, without fail
    Told,
    /// By heartbeats and acknowledgements
    Heartbeats,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TopAnswers {
    /// With OK, like everyone; then it tells all that it leads
    #[default]
    Ok,
    /// By telling all that it leads
    Coordinator,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Recovery {
    /// It calls an election
    #[default]
    Bully,
    /// It asks who leads, and follows
    Ask,
}

impl Elections {
    /// The flags that mean something to one of them.
    pub(super) fn flags_of(called: Called) -> Vec<String> {
        let mut known = Convened::flags_of(called);
        known.extend(flags::<Times>());
        match called {
            Called::Bully => known.extend(flags::<Bully>()),
            Called::Ring(_) => known.extend(flags::<Rings>()),
            Called::AdHoc => {}
        }
        known
    }

    /// What was asked for, of this protocol.
    pub(super) fn config(&self, called: Called, around: &Surroundings) -> Result<Config, Failure> {
        let hop = around.delay + self.convened.processing();
        let hop = if hop == Duration::ZERO { Duration::from_millis(1) } else { hop };
        if around.copies && self.times.detector == Some(Detector::Told) {
            return Err(Failure::usage(
                "--duplicate with --detector told: every copy is passed on, and copied again; use \
                 --detector heartbeats, which knows copies",
            ));
        }
        if self.ring.retry.is_some_and(|retry| retry < hop) {
            return Err(Failure::usage(format!(
                "--retry below {hop}, which a message takes: everything would be said again before \
                 it is heard; choose a longer one"
            )));
        }
        let detects = match self.times.detector {
            Some(detector) => detector == Detector::Heartbeats,
            None => around.unsteady && !self.convened.wanders(),
        };
        let restless = detects || around.unsteady || self.convened.wanders();
        let detector = self.detector(detects, hop)?;
        let base =
            if restless { called.unsteady(hop, around.nodes, detector) } else { called.plain(hop) };
        let patience = self.times.call_after;
        Ok(match base {
            Config::Bully(config) => Config::Bully(bully::Config {
                reply: self.bully.reply.unwrap_or(config.reply),
                wait: self.bully.wait.unwrap_or(self.bully.reply.map_or(config.wait, |r| r * 3)),
                patience: patience.unwrap_or(config.patience),
                top_answers: match self.bully.top_answers {
                    TopAnswers::Ok => bully::TopAnswers::Ok,
                    TopAnswers::Coordinator => bully::TopAnswers::Coordinator,
                },
                recovery: match self.bully.recovery {
                    Recovery::Bully => bully::Recovery::Bully,
                    Recovery::Ask => bully::Recovery::Ask,
                },
                stamps: self.bully.stamps,
                detector,
            }),
            Config::Ring(config) => Config::Ring(ring::Config {
                patience: patience.unwrap_or(config.patience),
                retry: self.ring.retry.unwrap_or(config.retry),
                as_printed: around.as_printed,
                detector,
                ..config
            }),
            Config::AdHoc(mut config) => {
                config.patience = patience.unwrap_or(config.patience);
                config.detector = detector;
                Config::AdHoc(config)
            }
        })
    }

    fn detector(&self, detects: bool, hop: Duration) -> Result<Option<detect::Config>, Failure> {
        let Times { beat, suspect, resend, tries, .. } = self.times;
        if !detects {
            let length = beat.or(suspect).or(resend);
            return if length.is_some() || tries.is_some() {
                Err(Failure::usage(
                    "--beat, --suspect, --resend and --tries are of --detector heartbeats; say \
                     that too",
                ))
            } else {
                Ok(None)
            };
        }
        let usual = detect::Config::paced(hop);
        Ok(Some(detect::Config {
            beat: beat.unwrap_or(usual.beat),
            suspect: suspect.unwrap_or(usual.suspect),
            resend: resend.unwrap_or(usual.resend),
            tries: tries.unwrap_or(usual.tries),
        }))
    }

    /// What is not the same in every experiment, for people to read.
    pub(super) fn conditions(&self, called: Called, detects: bool) -> String {
        let stamps = if called == Called::Bully && self.bully.stamps { ", stamps" } else { "" };
        let told = if detects { ", failures detected" } else { "" };
        self.convened.conditions(called) + stamps + told
    }

    /// All of it, for programs: enough to ask the same again, under the names of the flags.
    pub(super) fn to_json(&self, config: &Config) -> Map<String, Value> {
        let mut map = self.convened.to_json(config.called());
        let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
        let detector = config.detector();
        let which = if detector.is_some() { Detector::Heartbeats } else { Detector::Told };
        put("detector", json!(name(which)));
        if let Some(detect::Config { beat, suspect, resend, tries }) = detector {
            for (key, length) in [("beat", beat), ("suspect", suspect), ("resend", resend)] {
                put(key, json!(finite(length)));
            }
            put("tries", json!(tries));
        }
        match config {
            Config::Bully(config) => {
                put("call_after", json!(finite(config.patience)));
                put("reply", json!(finite(config.reply)));
                put("wait", json!(finite(config.wait)));
                put("top_answers", json!(name(self.bully.top_answers)));
                put("recovery", json!(name(self.bully.recovery)));
                put("stamps", json!(self.bully.stamps));
            }
            Config::Ring(config) => {
                put("call_after", json!(finite(config.patience)));
                put("retry", json!(finite(config.retry)));
                put("as_printed", json!(config.as_printed));
            }
            Config::AdHoc(config) => {
                put("call_after", json!(finite(config.patience)));
            }
        }
        map
    }
}

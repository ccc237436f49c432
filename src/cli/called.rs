//! The flags of elections that somebody calls: bully, the rings, ad hoc networks.

use super::calling::Convened;
use super::failure::Failure;
use super::group::{flags, name};
use bellwether::core::Duration;
use bellwether::protocols::choice::{Config, Family};
use bellwether::protocols::surroundings::Surroundings;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value};

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
    pub(super) fn flags_of(called: Family) -> Vec<String> {
        let mut known = Convened::flags_of(called);
        known.extend(flags::<Times>());
        match called {
            Family::Bully => known.extend(flags::<Bully>()),
            Family::Ring(_) => known.extend(flags::<Rings>()),
            _ => {}
        }
        known
    }

    /// What was asked for of this protocol, by name and text.
    pub(super) fn pairs(
        &self,
        called: Family,
        around: &Surroundings,
    ) -> Result<Vec<(&'static str, String)>, Failure> {
        self.check(around)?;
        let Times { detector, beat, suspect, resend, tries, call_after } = self.times;
        let length = |length: Option<Duration>| length.map(|length| length.to_string());
        let mut pairs = vec![
            ("detector", detector.and_then(name)),
            ("beat", length(beat)),
            ("suspect", length(suspect)),
            ("resend", length(resend)),
            ("tries", tries.map(|tries| tries.to_string())),
            ("call-after", length(call_after)),
        ];
        match called {
            Family::Bully => pairs.extend([
                ("reply", length(self.bully.reply)),
                ("wait", length(self.bully.wait)),
                ("top-answers", name(self.bully.top_answers)),
                ("recovery", name(self.bully.recovery)),
                ("stamps", Some(self.bully.stamps.to_string())),
            ]),
            Family::Ring(_) => pairs.push(("retry", length(self.ring.retry))),
            _ => {}
        }
        Ok(pairs.into_iter().filter_map(|(name, text)| Some((name, text?))).collect())
    }

    /// Refuses what would be refused later, under the names of the flags.
    fn check(&self, around: &Surroundings) -> Result<(), Failure> {
        let hop = around.hop();
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
        let Times { detector, beat, suspect, resend, tries, .. } = self.times;
        let detects = match detector {
            Some(detector) => detector == Detector::Heartbeats,
            None => around.unsteady && !around.moving,
        };
        if !detects && (beat.or(suspect).or(resend).is_some() || tries.is_some()) {
            return Err(Failure::usage(
                "--beat, --suspect, --resend and --tries are of --detector heartbeats; say \
                 that too",
            ));
        }
        Ok(())
    }

    /// What is not the same in every experiment, for people to read.
    pub(super) fn conditions(&self, called: Family, detects: bool) -> String {
        let stamps = if called == Family::Bully && self.bully.stamps { ", stamps" } else { "" };
        let told = if detects { ", failures detected" } else { "" };
        self.convened.conditions(called) + stamps + told
    }

    /// All of it, for programs: enough to ask the same again, under the names of the flags.
    pub(super) fn to_json(&self, called: Family, config: &Config) -> Map<String, Value> {
        let mut map = self.convened.to_json(called);
        map.extend(config.to_map());
        map
    }
}

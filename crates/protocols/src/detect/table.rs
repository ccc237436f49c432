//! The parameters of the layer, as they appear among those of the inner protocol.
//!
//! Bully, the rings and the ad hoc election have them. [`detected!`] gives their configurations
//! what they have in common.

use crate::named::named;
use crate::param::Param;

named! {
    /// How a process learns that another one is gone.
    pub enum Detector = Told {
        /// The driver tells it reliably.
        Told = "told",
        /// By heartbeats and acknowledgements.
        Heartbeats = "heartbeats",
    }
}

const HEARTBEATS: &[&str] = &[Detector::Heartbeats.name()];

/// How failures are detected.
pub const DETECTOR: Param =
    Param::one_of("detector", Detector::CHOICES, "how a process learns that another one is gone")
        .follows("told; heartbeats where messages or processes are lost");

/// How often each process sends a heartbeat.
pub const BEAT: Param = Param::length("beat", "how often a process says that it lives")
    .follows("10 delays")
    .within("0 < beat < suspect")
    .on(&["suspect"])
    .only_with("detector", HEARTBEATS);

/// A peer silent for this long is considered dead.
pub const SUSPECT: Param =
    Param::length("suspect", "a process silent for this long is considered dead")
        .follows("35 delays")
        .within("beat < suspect < infinite")
        .on(&["beat"])
        .only_with("detector", HEARTBEATS);

/// How long a message waits for its acknowledgement before it is sent again.
pub const RESEND: Param =
    Param::length("resend", "a message that is not acknowledged after this is sent again")
        .follows("3 delays")
        .within("0 < resend < infinite")
        .only_with("detector", HEARTBEATS);

/// How often it is sent before its receiver is considered dead.
pub const TRIES: Param =
    Param::count("tries", "how often a message is sent before its receiver is considered dead")
        .follows("5")
        .within("1 <= tries <= 1000")
        .only_with("detector", HEARTBEATS);

/// A configuration of a protocol that the layer may carry.
pub trait Detected {
    /// How failures are detected; `None` if whoever drives the protocol tells of them.
    fn layer(&self) -> Option<super::Config>;
}

/// What the configurations of the protocols that the layer carries have in common.
macro_rules! detected {
    ($Config:ty) => {
        impl $crate::detect::Detected for $Config {
            fn layer(&self) -> Option<$crate::detect::Config> {
                let usual = $crate::detect::Config::default();
                let layer = $crate::detect::Config {
                    beat: self.beat.unwrap_or(usual.beat),
                    suspect: self.suspect.unwrap_or(usual.suspect),
                    resend: self.resend.unwrap_or(usual.resend),
                    tries: self.tries.unwrap_or(usual.tries),
                };
                (self.detector == $crate::detect::Detector::Heartbeats).then_some(layer)
            }
        }

        impl $Config {
            /// The same with the detector that these surroundings need. A layer is paced for the
            /// network where it was not given.
            fn fit_detector(
                self,
                around: &$crate::surroundings::Surroundings,
                given: &$crate::param::Given,
            ) -> Self {
                use $crate::detect::Detector;
                let detector = match around.unsteady && !around.moving {
                    _ if given.has("detector") => self.detector,
                    true => Detector::Heartbeats,
                    false => Detector::Told,
                };
                if detector == Detector::Told {
                    return Self { detector, ..self };
                }
                let paced = $crate::detect::Config::paced(around.hop());
                Self {
                    detector,
                    beat: self.beat.or(Some(paced.beat)),
                    suspect: self.suspect.or(Some(paced.suspect)),
                    resend: self.resend.or(Some(paced.resend)),
                    tries: self.tries.or(Some(paced.tries)),
                    ..self
                }
            }

            /// Rejects duplication without a detector: unrecognised copies would be passed on and
            /// copied again.
            fn check_copies(
                &self,
                around: &$crate::surroundings::Surroundings,
                given: &$crate::param::Given,
            ) -> Result<(), $crate::param::BadParam> {
                let told = self.detector == $crate::detect::Detector::Told;
                if !(around.copies && told && given.has("detector")) {
                    return Ok(());
                }
                Err($crate::param::BadParam::Unfit {
                    name: "detector",
                    text: alloc::string::String::from("told"),
                    because: alloc::string::String::from(
                        "messages arrive twice, and every copy would be passed on and copied \
                         again; choose heartbeats, which recognises copies",
                    ),
                })
            }
        }
    };
}

pub(crate) use detected;

//! The parameters of the layer, as they appear among those of the inner protocol.
//!
//! Bully, the rings and the ad hoc election have them. [`detected!`] gives their configurations
//! what they have in common.

use crate::named;

named! {
    /// How a process learns that another one is gone.
    pub enum Detector = Told {
        /// The driver tells it reliably.
        Told = "told",
        /// By heartbeats and acknowledgements.
        Heartbeats = "heartbeats",
    }
}

/// A configuration of a protocol that the layer may carry.
pub trait Detected {
    /// How failures are detected; `None` if whoever drives the protocol tells of them.
    fn layer(&self) -> Option<super::Config>;
}

/// A configuration like one of [`params!`](crate::params), after the parameters that all protocols
/// have which the layer carries; and what these have in common.
macro_rules! detected {
    (
        $(#[$meta:meta])*
        $vis:vis struct $Config:ident $(of $Variant:ty)? { $($own:tt)* }
    ) => {
        $crate::params! {
            $(#[$meta])*
            $vis struct $Config $(of $Variant)? {
                /// How a process learns that another one is gone.
                detector: $crate::detect::Detector,
                    follows("told; heartbeats where messages or processes are lost");
                /// How often a process says that it lives.
                beat: Option<Duration>,
                    follows("10 delays"),
                    within("0 < beat < suspect"),
                    on(&["suspect"]),
                    only_with("detector", &["heartbeats"]);
                /// A process silent for this long is considered dead.
                suspect: Option<Duration>,
                    follows("35 delays"),
                    within("beat < suspect < infinite"),
                    on(&["beat"]),
                    only_with("detector", &["heartbeats"]);
                /// A message that is not acknowledged after this is sent again.
                resend: Option<Duration>,
                    follows("3 delays"),
                    within("0 < resend < infinite"),
                    only_with("detector", &["heartbeats"]);
                /// How often a message is sent before its receiver is considered dead.
                tries: Option<u32>,
                    follows("5"),
                    within("1 <= tries <= 1000"),
                    only_with("detector", &["heartbeats"]);
                /// A process without a leader for this long calls an election.
                ///
                /// Also one whose leader is not the greatest. Infinite: for ever, and then it does
                /// only what the text says.
                #[formerly = "patience"]
                call_after: Duration = Duration::MAX,
                    follows("infinite; where failures are detected, 60 delays, or 30 for ad-hoc"),
                    within("0 < call-after");
                $($own)*
            }
        }

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
                given: &$crate::param::GivenParams,
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
                given: &$crate::param::GivenParams,
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

//! A fault in a file: `at`, `what`, and the keys of this kind of fault.

use crate::fault::{Disk, Fault, Renumbered, Timed, Who};
use crate::network::Network;
use bellwether_core::Duration;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One table of `[[faults]]` with the keys of all kinds, in the order of writing.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Row {
    at: Duration,
    what: FaultKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<Who>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nominee: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    voter: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    with: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lock: Option<Duration>,
    #[serde(alias = "drift_ppm", skip_serializing_if = "Option::is_none")]
    drift_ppm: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disk: Option<Disk>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reboot: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    life: Option<Renumbered>,
    #[serde(skip_serializing_if = "Option::is_none")]
    release: Option<Duration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<Duration>,
    #[serde(alias = "parts_per_billion", skip_serializing_if = "Option::is_none")]
    parts_per_billion: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ends: Option<(u32, u32)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    up: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Vec<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Vec<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<Box<Network>>,
}

/// The kinds of faults; see [`Fault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// See [`Fault::Crash`], and [`Fault::Kill`] if `release` is given.
    Crash,
    /// See [`Fault::Release`].
    Release,
    /// See [`Fault::Restart`].
    Restart,
    /// See [`Fault::Renumber`].
    Renumber,
    /// See [`Fault::Pause`].
    Pause,
    /// See [`Fault::Resume`].
    Resume,
    /// See [`Fault::Slow`].
    Slow,
    /// See [`Fault::Drift`].
    Drift,
    /// See [`Fault::Jump`].
    Jump,
    /// See [`Fault::Join`].
    Join,
    /// See [`Fault::Leave`].
    Leave,
    /// See [`Fault::Resign`].
    Resign,
    /// See [`Fault::Transfer`].
    Transfer,
    /// See [`Fault::Campaign`].
    Campaign,
    /// See [`Fault::Add`].
    Add,
    /// See [`Fault::Remove`].
    Remove,
    /// See [`Fault::Replace`].
    Replace,
    /// See [`Fault::Lengths`].
    Lengths,
    /// See [`Fault::Link`].
    Link,
    /// See [`Fault::Cut`].
    Cut,
    /// See [`Fault::Heal`], and [`Fault::Mend`] if `from` and `to` are given.
    Heal,
    /// See [`Fault::Network`].
    Network,
}

/// A fault that lacks a key, or has one that it must not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadRow {
    /// The kind of fault.
    pub what: FaultKind,
    /// The key.
    pub key: &'static str,
    /// Whether the key is missing; otherwise it must be left out.
    pub missing: bool,
}

impl fmt::Display for BadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, key, missing } = self;
        let what = format!("{what:?}").to_lowercase();
        match missing {
            true => write!(f, "what = \"{what}\" needs the key `{key}`; add it"),
            false => write!(f, "what = \"{what}\" has no key `{key}`; leave it out"),
        }
    }
}

impl Row {
    /// Converts the row to a fault.
    pub(super) fn read(mut self) -> Result<Timed, BadRow> {
        let what = self.what;
        let bad = |key, missing| BadRow { what, key, missing };
        let fault = self.take().map_err(|key| bad(key, true))?;
        match self.left() {
            Some(key) => Err(bad(key, false)),
            None => Ok(Timed { at: self.at, fault }),
        }
    }

    /// Takes the fault out of the row; the error is the missing key.
    fn take(&mut self) -> Result<Fault, &'static str> {
        let who = |row: &mut Self| row.node.take().ok_or("node");
        let voter = |row: &mut Self| row.voter.take().ok_or("voter");
        Ok(match self.what {
            FaultKind::Crash => match (who(self)?, self.release.take()) {
                (node, Some(release)) => Fault::Kill { node, release },
                (node, None) => Fault::Crash { node },
            },
            FaultKind::Release => Fault::Release { node: who(self)? },
            FaultKind::Restart => Fault::Restart {
                node: who(self)?,
                disk: self.disk.take().unwrap_or_default(),
                reboot: self.reboot.take().unwrap_or_default(),
            },
            FaultKind::Renumber => {
                Fault::Renumber { node: who(self)?, life: self.life.take().ok_or("life")? }
            }
            FaultKind::Pause => Fault::Pause { node: who(self)? },
            FaultKind::Resume => Fault::Resume { node: who(self)? },
            FaultKind::Slow => Fault::Slow { node: who(self)?, by: self.by.take().ok_or("by")? },
            FaultKind::Drift => Fault::Drift {
                node: who(self)?,
                parts_per_billion: self.parts_per_billion.take().ok_or("parts-per-billion")?,
            },
            FaultKind::Jump => Fault::Jump { node: who(self)?, by: self.by.take().ok_or("by")? },
            FaultKind::Join => Fault::Join { node: who(self)? },
            FaultKind::Leave => Fault::Leave { node: who(self)? },
            FaultKind::Resign => Fault::Resign { node: who(self)? },
            FaultKind::Transfer => {
                Fault::Transfer { node: who(self)?, nominee: self.nominee.take().ok_or("nominee")? }
            }
            FaultKind::Campaign => Fault::Campaign { node: who(self)? },
            FaultKind::Add => Fault::Add { node: who(self)?, voter: voter(self)? },
            FaultKind::Remove => Fault::Remove { node: who(self)?, voter: voter(self)? },
            FaultKind::Replace => Fault::Replace {
                node: who(self)?,
                voter: voter(self)?,
                with: self.with.take().ok_or("with")?,
            },
            FaultKind::Lengths => {
                let (node, lock) = (who(self)?, self.lock.take());
                let drift_ppm = self.drift_ppm.take();
                if lock.is_none() && drift_ppm.is_none() {
                    return Err("lock");
                }
                Fault::Lengths { node, lock, drift_ppm }
            }
            FaultKind::Link => Fault::Link {
                ends: self.ends.take().ok_or("ends")?,
                up: self.up.take().ok_or("up")?,
            },
            FaultKind::Cut => Fault::Cut {
                from: self.from.take().ok_or("from")?,
                to: self.to.take().ok_or("to")?,
            },
            FaultKind::Heal => match (self.from.take(), self.to.take()) {
                (None, None) => Fault::Heal,
                (from, to) => Fault::Mend { from: from.ok_or("from")?, to: to.ok_or("to")? },
            },
            FaultKind::Network => Fault::Network { network: self.network.take().ok_or("network")? },
        })
    }

    /// A key that the fault does not use, if there is one.
    fn left(&self) -> Option<&'static str> {
        let keys = [
            ("node", self.node.is_some()),
            ("nominee", self.nominee.is_some()),
            ("voter", self.voter.is_some()),
            ("with", self.with.is_some()),
            ("lock", self.lock.is_some()),
            ("drift-ppm", self.drift_ppm.is_some()),
            ("disk", self.disk.is_some()),
            ("reboot", self.reboot.is_some()),
            ("life", self.life.is_some()),
            ("release", self.release.is_some()),
            ("by", self.by.is_some()),
            ("parts-per-billion", self.parts_per_billion.is_some()),
            ("ends", self.ends.is_some()),
            ("up", self.up.is_some()),
            ("from", self.from.is_some()),
            ("to", self.to.is_some()),
            ("network", self.network.is_some()),
        ];
        keys.into_iter().find(|(_, left)| *left).map(|(key, _)| key)
    }

    /// A row with only these keys.
    fn new(at: Duration, what: FaultKind) -> Self {
        Self {
            at,
            what,
            node: None,
            nominee: None,
            voter: None,
            with: None,
            lock: None,
            drift_ppm: None,
            disk: None,
            reboot: None,
            life: None,
            release: None,
            by: None,
            parts_per_billion: None,
            ends: None,
            up: None,
            from: None,
            to: None,
            network: None,
        }
    }
}

impl From<&Timed> for Row {
    fn from(timed: &Timed) -> Self {
        let row = |what| Self { node: timed.fault.node(), ..Self::new(timed.at, what) };
        match &timed.fault {
            Fault::Crash { .. } => row(FaultKind::Crash),
            Fault::Kill { release, .. } => {
                Self { release: Some(*release), ..row(FaultKind::Crash) }
            }
            Fault::Release { .. } => row(FaultKind::Release),
            Fault::Restart { disk, reboot, .. } => {
                Self { disk: Some(*disk), reboot: Some(*reboot), ..row(FaultKind::Restart) }
            }
            Fault::Renumber { life, .. } => Self { life: Some(*life), ..row(FaultKind::Renumber) },
            Fault::Pause { .. } => row(FaultKind::Pause),
            Fault::Resume { .. } => row(FaultKind::Resume),
            Fault::Slow { by, .. } => Self { by: Some(*by), ..row(FaultKind::Slow) },
            Fault::Drift { parts_per_billion, .. } => {
                Self { parts_per_billion: Some(*parts_per_billion), ..row(FaultKind::Drift) }
            }
            Fault::Jump { by, .. } => Self { by: Some(*by), ..row(FaultKind::Jump) },
            Fault::Join { .. } => row(FaultKind::Join),
            Fault::Leave { .. } => row(FaultKind::Leave),
            Fault::Resign { .. } => row(FaultKind::Resign),
            Fault::Transfer { nominee, .. } => {
                Self { nominee: Some(*nominee), ..row(FaultKind::Transfer) }
            }
            Fault::Campaign { .. } => row(FaultKind::Campaign),
            Fault::Add { voter, .. } => Self { voter: Some(*voter), ..row(FaultKind::Add) },
            Fault::Remove { voter, .. } => Self { voter: Some(*voter), ..row(FaultKind::Remove) },
            Fault::Replace { voter, with, .. } => {
                Self { voter: Some(*voter), with: Some(*with), ..row(FaultKind::Replace) }
            }
            Fault::Lengths { lock, drift_ppm, .. } => {
                Self { lock: *lock, drift_ppm: *drift_ppm, ..row(FaultKind::Lengths) }
            }
            Fault::Link { ends, up } => {
                Self { ends: Some(*ends), up: Some(*up), ..row(FaultKind::Link) }
            }
            Fault::Cut { from, to } => {
                Self { from: Some(from.clone()), to: Some(to.clone()), ..row(FaultKind::Cut) }
            }
            Fault::Heal => row(FaultKind::Heal),
            Fault::Mend { from, to } => {
                Self { from: Some(from.clone()), to: Some(to.clone()), ..row(FaultKind::Heal) }
            }
            Fault::Network { network } => {
                Self { network: Some(network.clone()), ..row(FaultKind::Network) }
            }
        }
    }
}

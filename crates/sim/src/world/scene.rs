//! The state of the whole world at one moment.

use super::World;
use super::members::Members;
use crate::observer::Observer;
use bellwether_core::{Instant, Node, Protocol, SimTime};

/// What an observer sees of the world after a step.
pub struct Scene<'a, P: Protocol> {
    members: &'a Members<P>,
    at: SimTime,
}

impl<P: Protocol> Scene<'_, P> {
    /// The world's time.
    pub fn at(&self) -> SimTime {
        self.at
    }

    /// The number of processes, running or not.
    pub fn len(&self) -> u32 {
        self.members.nodes.len() as u32
    }

    /// Whether there are no processes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The state of a process, if it is running.
    pub fn node(&self, node: u32) -> Option<&Node<P>> {
        self.members.nodes.get(node as usize)?.as_ref()
    }

    /// What a process's clock reads.
    #[inline]
    pub fn clock(&self, node: u32) -> Instant {
        self.members.clock(node).read(self.at)
    }

    /// When a process's clock will read this, if its rate stays the same.
    pub fn when(&self, node: u32, instant: Instant) -> SimTime {
        self.members.clock(node).when(instant)
    }
}

impl<P: Protocol> World<P> {
    /// Shows the world to an observer that wants to see it.
    #[inline(always)]
    pub(super) fn show<O: Observer<P>>(&self, node: u32, observer: &mut O) {
        if O::LOOKS {
            observer.on_step(node, &Scene { members: &self.members, at: self.now });
        }
    }
}

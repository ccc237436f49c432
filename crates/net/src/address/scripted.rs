//! Neighbours that say what a test has them say, and keep what they are told.

pub(crate) use super::neighbourhood::Heard;
use super::neighbourhood::{Neighbourhood, Neighbours};
use crate::wake_fd::WakeFd;
use rustix::fd::{AsFd, BorrowedFd};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Asked,
    Announced,
    GaveUp,
}

/// A handle of them.
#[derive(Clone, Debug)]
pub(crate) struct Scripted {
    packets: Arc<Mutex<VecDeque<Option<Heard>>>>,
    told: Arc<Mutex<Vec<Told>>>,
    bell: WakeFd,
}

impl Scripted {
    pub(crate) fn new() -> Self {
        let bell = WakeFd::new().unwrap();
        Self { packets: Arc::default(), told: Arc::default(), bell }
    }

    pub(crate) fn neighbourhood(&self) -> Arc<Neighbourhood> {
        let address = "10.0.0.100/24@eth0".parse().unwrap();
        Arc::new(Neighbourhood::scripted(address, Box::new(self.clone())))
    }

    /// These packets come in; `None` is one that says nothing of the address.
    pub(crate) fn say(&self, packets: impl IntoIterator<Item = Option<Heard>>) {
        self.packets.lock().unwrap().extend(packets);
        self.bell.wake();
    }

    pub(crate) fn told(&self) -> Vec<Told> {
        self.told.lock().unwrap().clone()
    }

    fn tell(&self, what: Told) -> io::Result<()> {
        self.told.lock().unwrap().push(what);
        Ok(())
    }
}

impl Neighbours for Scripted {
    fn probe(&self) -> io::Result<()> {
        self.tell(Told::Asked)
    }

    fn announce(&self) -> io::Result<()> {
        self.tell(Told::Announced)
    }

    fn give_up(&self) -> io::Result<()> {
        self.tell(Told::GaveUp)
    }

    fn hear(&self) -> io::Result<Option<Heard>> {
        let mut packets = self.packets.lock().unwrap();
        if packets.len() <= 1 {
            self.bell.clear();
        }
        packets.pop_front().ok_or_else(|| io::ErrorKind::WouldBlock.into())
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

//! What befalls a group. Each fault is written down for the judge and says when it began.

use super::super::clock::now;
use super::super::member::Member;
use super::super::network::Network;
use super::super::relay::Weather;
use super::{Group, NAME};
use bellwether::core::{Event, Instant, NodeId};
use bellwether::net::control::{self, Client, ClientError};
use rustix::process::Signal;
use std::path::Path;

fn cut(from: &[u64], to: &[u64]) -> Event {
    let ids = |ids: &[u64]| ids.iter().copied().map(NodeId).collect();
    Event::Cut { from: ids(from), to: ids(to) }
}

/// Processes.
impl Group {
    pub(crate) fn member(&mut self, id: u64) -> &mut Member {
        self.members.get_mut(&id).unwrap_or_else(|| panic!("member {id} was never started"))
    }

    /// kill -9.
    pub(crate) fn crash(&mut self, id: u64) -> Instant {
        let member = self.members.get_mut(&id).expect("who crashes was started");
        self.faults.befall(id, Event::Crash, || member.kill())
    }

    /// kill -9 of the member and of all that it started, which does nothing more for it.
    pub(crate) fn crash_all(&mut self, id: u64) -> Instant {
        let member = self.members.get_mut(&id).expect("who crashes was started");
        self.faults.befall(id, Event::Crash, || member.kill_all())
    }

    /// Starts a member that crashed again.
    pub(crate) fn restart(&mut self, id: u64) -> Instant {
        let incarnation = self.lives.get(&id).copied().unwrap_or(0) + 1;
        let begun = self.faults.befall(id, Event::Restart { incarnation }, || ());
        self.start(id);
        begun
    }

    /// SIGSTOP.
    pub(crate) fn pause(&mut self, id: u64) -> Instant {
        let member = &self.members[&id];
        self.faults.befall(id, Event::Pause, || member.signal(Signal::STOP))
    }

    /// SIGCONT.
    pub(crate) fn resume(&mut self, id: u64) -> Instant {
        let member = &self.members[&id];
        self.faults.befall(id, Event::Resume, || member.signal(Signal::CONT))
    }

    /// SIGTERM: it leaves in good order, and says so itself.
    pub(crate) fn stop(&mut self, id: u64) -> Instant {
        let begun = now();
        self.member(id).signal(Signal::TERM);
        begun
    }
}

/// Requests at the control socket.
impl Group {
    /// A connection to a member, if it answers.
    pub(crate) fn reach(&self, id: u64) -> Result<Client, ClientError> {
        control::find(Path::new(&self.dir(id)), Some(NAME), Some(id))
    }

    fn client(&self, id: u64) -> Client {
        self.reach(id).unwrap_or_else(|error| panic!("member {id}: {error}"))
    }

    /// The leader resigns.
    pub(crate) fn resign(&mut self, id: u64) -> Instant {
        let mut client = self.client(id);
        let begun = now();
        client.resign().unwrap_or_else(|error| panic!("member {id}: {error}"));
        begun
    }

    /// The leader hands over to another member.
    pub(crate) fn transfer(&mut self, id: u64, to: u64) -> Instant {
        let mut client = self.client(id);
        let begun = now();
        client.transfer(to).unwrap_or_else(|error| panic!("member {id} to {to}: {error}"));
        begun
    }
}

/// Links.
impl Group {
    /// Something goes wrong that no record describes: until all is healed the judge expects nothing
    /// in time. Links in one direction only are the records that say so.
    pub(crate) fn unsettle(&mut self) {
        let ids = self.ids();
        for (at, id) in ids.iter().enumerate() {
            self.faults.befall(*id, cut(&[*id], &ids[at + 1..]), || ());
        }
    }

    /// What went wrong without a record is over.
    pub(crate) fn all_is_well(&mut self) -> Instant {
        self.faults.befall(1, Event::Heal, || ())
    }

    /// The relay's weather changes.
    pub(crate) fn change_weather(&self, weather: Weather) {
        self.relay.as_ref().expect("only a relay has weather").change(weather);
    }

    /// So many of a thousand datagrams are lost, everywhere.
    pub(crate) fn lose(&self, of_thousand: u64) {
        self.ids().into_iter().for_each(|id| self.network().lose(id, of_thousand));
    }

    /// Both directions between one member and all others.
    fn cut_off(&mut self, id: u64, act: impl FnOnce(&Network)) -> Instant {
        let others = self.without(&[id]);
        let network = self.network.as_ref().expect("only a network of namespaces can be cut");
        let begun = self.faults.befall(id, cut(&[id], &others), || act(network));
        self.faults.befall(id, cut(&others, &[id]), || ());
        begun
    }

    /// The port leaves the bridge, the carrier stays.
    pub(crate) fn cut_silently(&mut self, id: u64) -> Instant {
        self.cut_off(id, |network| network.cut_silently(id))
    }

    /// The interface goes down.
    pub(crate) fn link_down(&mut self, id: u64) -> Instant {
        self.cut_off(id, |network| network.link_down(id))
    }

    /// Nothing that these send reaches those.
    pub(crate) fn cut_one_way(&mut self, from: &[u64], to: &[u64]) -> Instant {
        let network = self.network.as_ref().expect("only a network of namespaces can be cut");
        self.faults.befall(from[0], cut(from, to), || {
            for (from, to) in from.iter().flat_map(|from| to.iter().map(move |to| (*from, *to))) {
                network.cut_one_way(from, to);
            }
        })
    }

    /// Nothing goes between these and those, in either direction.
    pub(crate) fn cut_between(&mut self, these: &[u64], those: &[u64]) -> Instant {
        let begun = self.cut_one_way(these, those);
        self.cut_one_way(those, these);
        begun
    }

    /// Every port on the bridge, every interface up, every rule gone.
    pub(crate) fn heal(&mut self) -> Instant {
        let ids = self.ids();
        let network = self.network.as_ref().expect("only a network of namespaces can be cut");
        self.faults.befall(1, Event::Heal, || {
            for id in ids {
                network.join(id);
                network.link_up(id);
                network.mend(id);
            }
        })
    }
}

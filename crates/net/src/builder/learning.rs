//! How a member that joins a running group comes by its settings: from its book, if it joined
//! before, or from the members that it is told to ask.

use super::{Builder, Checked, FoundingVoters, Rule};
use crate::asking::{Asking, Wanted};
use crate::bad_settings::BadSettings;
use crate::book::{Book, Founding, GroupFacts};
use crate::control::check_group;
use crate::frame::{ConfigDigest, Keyring};
use crate::peers::{Peers, check_place};
use crate::program::Program;
use crate::resolver::lookup;
use crate::setting::Setting;
use crate::settings::readable;
use bellwether_core::NodeId;
use bellwether_protocols::choice::Config;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// The protocol of groups that accept members while they run.
const PROTOCOL: &str = "local-leader";

impl Builder {
    /// The settings with all that must be known of the group: as they are, unless it joins a
    /// running one; from its book, if it joined before. `None` if that is to be learnt.
    pub(super) fn knows_group(&self) -> Checked<Option<Self>> {
        if self.through.is_empty() {
            return Ok(Some(self.clone()));
        }
        let (me, _) = self.check_join()?;
        let dir = self.dir.as_deref().ok_or(BadSettings::NoDir)?;
        // What is no file there is refused when the member joins; nothing is learnt from it.
        let name = format!("{}.{me}", self.group);
        let (book, _) = Book::open(dir, &name).unwrap_or_default();
        let own = |book: &Book| book.entry(me).and_then(|entry| entry.at);
        let book = book.filter(|book| own(book).is_some());
        if let Some((at, listen)) = book.as_ref().and_then(own).zip(self.listen) {
            let moved = !listen.ip().is_unspecified() && listen.ip() != at.ip();
            if moved || listen.port() != at.port() {
                return Err(BadSettings::JoinedElsewhere { id: me, at, listen });
            }
        }
        book.map(|book| self.with(book)).transpose()
    }

    /// The rules of a member that joins and has asked nobody yet.
    pub(super) fn check_joining(&self) -> Checked<Vec<Rule>> {
        check_group(&self.group).map_err(BadSettings::Group)?;
        let (me, _) = self.check_join()?;
        let at = self.own_address()?;
        let through = self.through.join(" or ");
        let text = format!("asks {through} to accept it as member {me} at {at}");
        Ok(vec![Rule { name: "join", text }])
    }

    /// Asks until the group has taken it up.
    pub(super) fn learn(&self, tell: &mut dyn FnMut(String)) -> Checked<Self> {
        check_group(&self.group).map_err(BadSettings::Group)?;
        let (me, keyring) = self.check_join()?;
        let name = format!("{}.{me}", self.group);
        let found = self.dir.as_deref().and_then(|dir| Book::open(dir, &name).ok());
        found.and_then(|(_, ignored)| ignored).into_iter().for_each(&mut *tell);
        let at = self.own_address()?;
        let listen = self.listen.unwrap_or(at);
        let named = self.listen.is_some_and(|listen| !listen.ip().is_unspecified());
        if at.ip().is_loopback() && !named {
            tell(format!(
                "the group is told that this member is at {at}, where other machines do not reach \
                 it: set {} to an address that they reach",
                Setting::Listen
            ));
        }
        let through = self.through.as_slice();
        let wanted = Wanted { group: &self.group, me, keyring: &keyring, through, listen, at };
        let check = |told: &GroupFacts| self.digest_of(&told.founding);
        let asking = Asking::new(&wanted, tell).map_err(|bad| match bad {
            BadSettings::Listen(at, error) if !named => BadSettings::JoinsAt(at, error),
            other => other,
        })?;
        let book = asking.join(&check)?;
        self.with(book)
    }

    /// Checks what a member that joins must be told, and what it learns from the group.
    fn check_join(&self) -> Checked<(NodeId, Keyring)> {
        if self.peers.is_some() {
            return Err(BadSettings::JoinsAndLists);
        }
        let id = self.id.map(NodeId).ok_or(BadSettings::JoinsWithoutId)?;
        self.through
            .iter()
            .try_for_each(|place| check_place(place))
            .map_err(BadSettings::JoinsThrough)?;
        if self.voters.is_some() || !self.priorities.is_empty() || self.bootstrap {
            return Err(BadSettings::JoinLearns);
        }
        if let Some(program) = self.program.clone().transpose().map_err(BadSettings::Program)?
            && program.founding_record.is_none()
        {
            return Err(BadSettings::JoinsOtherKind);
        }
        self.dir.as_ref().ok_or(BadSettings::NoDir)?;
        Ok((id, self.keyring.clone().ok_or(BadSettings::NoKey)?))
    }

    /// The same settings for a member of this group.
    fn with(&self, book: Book) -> Checked<Self> {
        let founding = book.founding();
        self.digest_of(founding)?;
        let mut learnt = self.clone();
        learnt.peers = founding.peers();
        let named = |ids: Vec<u64>| ids.into_iter().map(NodeId).collect();
        learnt.voters = founding.voters.clone().map(named).map(FoundingVoters::Named);
        learnt.program = Some(Ok(self.program_of(founding)?));
        learnt.book = Some(book);
        Ok(learnt)
    }

    /// The digest of a group. Fails if this member was given other parameters than all must share.
    fn digest_of(&self, founding: &Founding) -> Checked<ConfigDigest> {
        let Some(Peers::Listed(list)) = founding.peers() else {
            return Err(BadSettings::JoinsOpenGroup { list: founding.list.clone() });
        };
        let theirs = program(founding)?;
        let own = self.program_of(founding)?;
        if theirs.founding_record.is_none() {
            return Err(BadSettings::JoinsOtherKind);
        }
        if own.terms != theirs.terms {
            let (group, own) = (readable(&theirs.terms), readable(&own.terms));
            return Err(BadSettings::OtherParams { group, own });
        }
        let terms = founding.terms(&theirs.terms);
        Ok(ConfigDigest::listed(list.iter().map(|(id, place)| (*id, place.as_str())), &terms))
    }

    /// Its protocol: as it was given, or that of the group.
    fn program_of(&self, founding: &Founding) -> Checked<Program> {
        match &self.program {
            Some(own) => own.clone().map_err(BadSettings::Program),
            None => program(founding),
        }
    }

    /// Which member it is, and where, if it joined a running group.
    pub(super) fn own_entry(&self) -> Option<(NodeId, SocketAddr)> {
        let (book, me) = (self.book.as_ref()?, NodeId(self.id?));
        Some((me, book.entry(me)?.at?))
    }

    /// Where the others reach it.
    fn own_address(&self) -> Checked<SocketAddr> {
        if let Some(at) = self.listen.filter(|at| !at.ip().is_unspecified()) {
            return Ok(at);
        }
        let first = self.through.iter().find_map(|place| lookup(place).first().copied());
        let Some(first) = first else {
            return Err(BadSettings::NoWay { through: self.through.clone() });
        };
        let any = match first {
            SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
            SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
        };
        // Connecting sends nothing: the system says which of its addresses it would use.
        let here = UdpSocket::bind(any).and_then(|socket| {
            socket.connect(first)?;
            socket.local_addr()
        });
        let here =
            here.map_err(|error| BadSettings::System("cannot find a route to the group", error))?;
        Ok(SocketAddr::new(here.ip(), self.listen.map_or(first.port(), |at| at.port())))
    }
}

/// The protocol of a group with its parameters.
fn program(founding: &Founding) -> Checked<Program> {
    let config = Config::from_json(PROTOCOL, &founding.params).map_err(BadSettings::GroupParams)?;
    Program::of_table(PROTOCOL, config).map_err(BadSettings::Program)
}

//! A member with checked settings, and how it joins.

use super::Checked;
use super::multicast::sockets;
use crate::bad_settings::BadSettings;
use crate::book::Book;
use crate::clock::{CheckedClock, Clock as _};
use crate::control;
use crate::directory::{Directory, Times};
use crate::frame::{BODY_MAX, Session};
use crate::handle::Election;
use crate::joins::Joins;
use crate::last_will::LastWill;
use crate::member::{Member, Parts};
use crate::past::PastWriter;
use crate::peers::Peers;
use crate::recorder::Recorder;
use crate::request::Request;
use crate::settings::Settings;
use crate::shared::Shared;
use crate::snapshot::Snapshot;
use crate::socket::Sockets;
use crate::state::State;
use bellwether_core::Candidacy;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::{fmt, io};

/// A member with checked settings that has not joined yet. Use it to prepare what must be ready
/// before the member may be elected.
pub struct Prepared {
    pub(super) settings: Settings,
}

impl Prepared {
    /// Which member of the group it will be.
    pub fn id(&self) -> u64 {
        self.settings.me.0
    }

    /// How willing it will be to lead.
    pub fn candidacy(&self) -> Candidacy {
        self.settings.candidacy
    }

    /// Lets it begin as willing to lead as this: see
    /// [`Election::set_candidacy`](crate::Election::set_candidacy).
    pub fn set_candidacy(&mut self, candidacy: Candidacy) {
        self.settings.candidacy = candidacy;
    }

    /// Checks that it can listen at its address, so that no other process of this member runs: what
    /// an earlier one left can be removed then.
    ///
    /// # Errors
    /// [`BadSettings::Listen`].
    pub fn check_listen(&self) -> Checked<()> {
        let at = self.settings.listen;
        Sockets::bind(at).map(drop).map_err(|error| BadSettings::Listen(at, error))
    }

    /// The parameters of the protocol, as they are recorded: those of the settings, or those that
    /// were learnt from the group.
    pub fn params(&self) -> &str {
        &self.settings.program.params
    }

    /// The last will that this member will leave with its guardian, which must be started with it
    /// (the feature `guardian`). If this process is killed, the guardian releases those that
    /// support the member, and the next leader need not wait until its lease has run out.
    ///
    /// Everything that acts on the leadership must be in this process or be the guardian's command.
    /// Before anything else is told until when the member leads, it must be noted:
    /// [`LastWill::told`]. `None` where members have none: without a list, and without leases from
    /// a majority.
    ///
    /// # Errors
    /// If the system refuses what is needed. Then a leader that is killed keeps its lease.
    pub fn last_will(&mut self) -> io::Result<Option<LastWill>> {
        let settings = &mut self.settings;
        if matches!(settings.peers, Peers::Listed(_)) && settings.program.has_tokens() {
            settings.last_will = Some(LastWill::new()?);
        }
        Ok(settings.last_will.clone())
    }

    /// Joins the group: see [`Builder::join`](super::Builder::join).
    ///
    /// # Errors
    /// [`BadSettings`] if the system refuses.
    pub fn join(self) -> Checked<Election> {
        self.join_and_tell(&mut |_| {})
    }

    /// The same, and tells in a sentence if a state file was found that is not used.
    ///
    /// # Errors
    /// [`BadSettings`] if the system refuses.
    pub fn join_and_tell(self, tell: &mut dyn FnMut(String)) -> Checked<Election> {
        let name = format!("bellwether-{}", self.settings.me);
        let (member, shared, server) = self.assemble(tell)?;
        let thread = thread::Builder::new().name(name).spawn(move || member.run());
        let failed = |error| BadSettings::System("cannot start the member's thread", error);
        Ok(Election::new(shared, thread.map_err(failed)?, server))
    }

    /// The member with all that it needs, before its thread is started.
    pub(crate) fn assemble(
        self,
        tell: &mut dyn FnMut(String),
    ) -> Checked<(Member, Arc<Shared>, Option<control::Server>)> {
        let mut settings = self.settings;
        let failed = |what: &'static str| move |error| BadSettings::System(what, error);
        let state =
            State::open(settings.dir.as_deref(), &settings.name(), settings.founding_places());
        let mut state = state.map_err(BadSettings::State)?;
        state.damage().into_iter().for_each(|line| tell(line.to_owned()));
        if settings.bootstrap {
            found(&settings, &mut state)?;
        }
        let joins = joins(&mut settings)?;
        let clock = CheckedClock::new(Arc::clone(&settings.clock), settings.clock_check());
        let clock = Arc::new(clock);
        let clock_now = clock.now();
        let standing = Snapshot::none(settings.me, clock_now);
        let shared = Shared::new(clock, standing).map(Arc::new);
        let shared = shared.map_err(failed("cannot start the member"))?;
        let record = settings.record.as_deref();
        let past = PastWriter::new(Arc::clone(&shared.ring), settings.me);
        let recorder = Recorder::open(record, settings.me, past).map_err(|error| {
            BadSettings::Record(record.map(Path::to_owned).unwrap_or_default(), error)
        })?;
        let sockets = sockets(&settings)?;
        let will = settings.last_will.clone();
        // A member that should answer other processes, and cannot, does not join.
        let server = settings
            .control
            .as_deref()
            .map(|dir| {
                control::own::serve(dir, &settings.group, settings.me.0, &shared, will.as_ref())
            })
            .transpose()
            .map_err(BadSettings::Control)?;
        let most = settings.program.most_others(BODY_MAX);
        let mailbox = Arc::downgrade(&shared);
        let resolved = move || {
            mailbox.upgrade().map(|shared| shared.ask(Request::Resolved));
        };
        let times = Times { forget: settings.forget(), absent: settings.binds() * 2 };
        let voters = settings.founders();
        let voters = voters.as_deref();
        let directory = Directory::new(settings.me, &settings.peers, voters, times, most, resolved);
        let mut directory = directory.map_err(failed("cannot look names up"))?;
        if let Some(book) = &joins.book {
            directory.set_joined(&book.joined(), clock_now);
        }
        let former = state.still_binds(settings.binds());
        let incarnation = state.begin(settings.binds()).map_err(BadSettings::State)?;
        let session = Session::draw().map_err(failed("cannot draw a random number"))?;
        let life = (incarnation, session);
        let own = Arc::clone(&shared);
        let parts = Parts { settings, sockets, directory, state, joins, recorder, shared: own };
        Ok((Member::new(parts, life, former), shared, server))
    }
}

/// Stores that this member has never voted, by the operator's word.
fn found(settings: &Settings, state: &mut State) -> Checked<()> {
    let record = settings.program.founding_record.as_ref().ok_or(BadSettings::NoRecords)?;
    // A damaged file may have held a record, and is put aside by now or since an earlier start.
    let voted = state.holds().map(|place| (place, String::new()));
    if let Some((place, unless)) = voted.or_else(|| state.may_have_held()) {
        return Err(BadSettings::HasVoted { place, unless });
    }
    state.store(record).map_err(BadSettings::State)
}

/// The address book, in a group that takes up members while it runs. A process that has just joined
/// stores it before it takes part.
fn joins(settings: &mut Settings) -> Checked<Joins> {
    let (Some(founding), Some(dir)) = (settings.founding(), &settings.dir) else {
        return Ok(Joins::default());
    };
    let name = settings.name();
    if let Some(book) = settings.book.take() {
        book.keep(dir, &name).map_err(BadSettings::State)?;
        return Ok(Joins::new(Some(book), None));
    }
    let (found, ignored) = Book::open(dir, &name).map_err(BadSettings::State)?;
    let other = || {
        "its address book was ignored (it is of another founding list): members that joined are \
         learnt again"
            .to_owned()
    };
    Ok(match found {
        Some(book) if book.founding().is_like(&founding) => {
            Joins::new(Some(book.founded_as(founding)), None)
        }
        Some(_) => Joins::new(Some(Book::new(founding)), Some(other())),
        None => Joins::new(Some(Book::new(founding)), ignored),
    })
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").field("id", &self.id()).finish_non_exhaustive()
    }
}

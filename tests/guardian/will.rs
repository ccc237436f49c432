//! The last will of a member that is killed: its guardian sends it, and only if it may.
//!
//! The member is the command itself (`bellwether run`), the only voter of a group of two, so it
//! leads alone; the other member is a socket of the test, which receives the will. A frame with the
//! last number there is can be told from all others by its header.

use super::member::{eventually, now, send};
use super::told::answered;
use bellwether_core::{Duration, Event, Fact, Instant, LAST_NUMBER, NodeId, Record};
use bellwether_net::control;
use bellwether_net::{Election, Keyring, VoterChange};
use rustix::process::{Pid, Signal};
use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) const BELLWETHER: &str = env!("CARGO_BIN_EXE_bellwether");
/// Long enough for a will that is never sent to be noticed.
const SILENCE: Duration = Duration::from_millis(1_500);
/// No test waits that long unless it fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Ignores SIGTERM, as does what it starts; says who they are.
const STUBBORN: &str = "trap '' TERM; (trap '' TERM; sleep 60) & setsid sleep 60 & \
                        echo $$ $! > $PIDS; sleep 60 & echo $! >> $PIDS; wait";

/// A member, and the other one's socket.
pub(crate) struct Scene {
    member: Child,
    lines: Lines<BufReader<ChildStdout>>,
    other: UdpSocket,
    place: SocketAddr,
    pub(crate) folder: PathBuf,
    arguments: Vec<String>,
}

fn places() -> [SocketAddr; 2] {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let (pid, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let [a, b, c] = [1 + pid % 250, pid / 250 % 250, 1 + count % 250].map(|part| part as u8);
    [7400, 7401].map(|port| SocketAddr::new(Ipv4Addr::new(127, a, b, c).into(), port))
}

impl Scene {
    /// A member that leads, with these arguments and this command, if it has one.
    fn new(arguments: &[&str], script: Option<&str>) -> Self {
        let mut scene = Self::start(arguments, script);
        scene.leads();
        scene
    }

    /// The places of the two members, and a folder with a key.
    pub(crate) fn ground() -> ([SocketAddr; 2], PathBuf) {
        let [place, other] = places();
        let port = place.to_string().replace([':', '.'], "-");
        let folder = std::env::temp_dir().join(format!("bellwether-will-{port}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("there is room");
        let key = folder.join("key");
        let made = Command::new(BELLWETHER).arg("keygen").arg(&key).output().expect("it starts");
        assert!(made.status.success());
        ([place, other], folder)
    }

    /// A member that is yet to lead.
    pub(crate) fn start(arguments: &[&str], script: Option<&str>) -> Self {
        let ([place, other], folder) = Self::ground();
        let file = |name: &str| folder.join(name).display().to_string();
        let peers = format!("1={place},2={other}");
        let words = ["run", "will", "--id", "1", "--voters", "1", "--peers", &peers];
        let mut all: Vec<String> = words.map(str::to_owned).to_vec();
        all.extend(["--key".into(), file("key"), "--dir".into(), file("dir")]);
        all.extend(["--record".into(), file("trace"), "--format".into(), "json".into()]);
        all.extend(arguments.iter().map(|word| (*word).to_owned()));
        if let Some(script) = script {
            all.extend(["--", "sh", "-c", script].map(str::to_owned));
        }
        let other = UdpSocket::bind(other).expect("the address is ours");
        let member = Self::spawn(&all, &folder);
        Self::of(member, other, place, folder, all)
    }

    pub(crate) fn of(
        mut member: Child,
        other: UdpSocket,
        place: SocketAddr,
        folder: PathBuf,
        arguments: Vec<String>,
    ) -> Self {
        let lines = BufReader::new(member.stdout.take().expect("it is piped")).lines();
        Self { member, lines, other, place, folder, arguments }
    }

    fn spawn(arguments: &[String], folder: &Path) -> Child {
        let mut command = Command::new(BELLWETHER);
        command.args(arguments).env("PIDS", folder.join("pids"));
        let silent = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        silent.spawn().expect("it starts")
    }

    /// Waits until it says that it leads; until when, as it says.
    pub(crate) fn leads(&mut self) -> Instant {
        loop {
            let line = self.lines.next().expect("it says that it leads").expect("text");
            let said: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
            if said["role"] == "leader" {
                return Instant::from_nanos(said["until"].as_u64().expect("it has a lease"));
            }
        }
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.member.id() as i32).expect("a process has a number")
    }

    /// Its guardian: a child, or the child of a child.
    fn guardian(&self) -> Pid {
        self.find_guardian().expect("it has a guardian")
    }

    fn find_guardian(&self) -> Option<Pid> {
        let children =
            |of: u32| processes().into_iter().filter(move |(_, parent, _)| *parent == of);
        let own: Vec<_> = children(self.member.id()).collect();
        let theirs = own.iter().flat_map(|(pid, ..)| children(*pid));
        let mut all = own.iter().cloned().chain(theirs);
        let found = all.find(|(_, _, name)| name == "bw-guardian")?;
        Pid::from_raw(found.0 as i32)
    }

    /// Lets pass what was told outside: two leases.
    fn keep_silent(&self) {
        std::thread::sleep(std::time::Duration::from_millis(400));
    }

    /// kill -9 of the member alone; waits until it is gone.
    pub(crate) fn kill(&mut self) -> Instant {
        let begun = now();
        self.member.kill().expect("it is our child");
        self.member.wait().expect("it is our child");
        begun
    }

    /// The will, when it came, and from where; `None` if none comes for so long.
    pub(crate) fn will(&self, patience: Duration) -> Option<(Vec<u8>, Instant, SocketAddr)> {
        let limit = now() + patience;
        loop {
            let left = limit.since(now()).as_nanos();
            if left == 0 {
                return None;
            }
            let timeout = std::time::Duration::from_nanos(left);
            self.other.set_read_timeout(Some(timeout)).expect("it is more than nothing");
            let mut frame = [0; 2048];
            let Ok((length, from)) = self.other.recv_from(&mut frame) else { continue };
            // The sequence number is at this place of the header.
            if frame[48..56] == [0xff; 8] {
                return Some((frame[..length].to_vec(), now(), from));
            }
        }
    }

    /// When its last recorded lease ends.
    fn lease(&self) -> Instant {
        let text = fs::read_to_string(self.folder.join("trace")).expect("it records");
        let records = text.lines().filter_map(|line| serde_json::from_str::<Record>(line).ok());
        let ends = records.filter_map(|record| match record.event {
            Event::Leadership { until, .. } => until,
            Event::Fact(Fact::Held { until }) => Some(until),
            _ => None,
        });
        ends.max().expect("it led")
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let guardian = self.find_guardian();
        let _ = self.member.kill(); // it may be gone
        let _ = self.member.wait();
        if let Some(guardian) = guardian {
            let _ = rustix::process::kill_process(guardian, Signal::KILL);
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// All processes: number, parent and name.
fn processes() -> Vec<(u32, u32, String)> {
    let all = fs::read_dir("/proc").expect("there is a list of processes").flatten();
    let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let seen = numbers.filter_map(|pid| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (name, rest) = stat.split_once('(')?.1.rsplit_once(") ")?;
        let mut words = rest.split(' ');
        let (state, parent) = (words.next()?, words.next()?);
        (state != "Z").then_some(())?;
        Some((pid, parent.parse().ok()?, name.to_owned()))
    });
    seen.collect()
}

#[test]
fn a_killed_leader_is_released_before_its_lease_is_over() {
    for script in [None, Some("sleep 60")] {
        let mut scene = Scene::new(&[], script);
        scene.keep_silent();
        scene.kill();
        let (will, at, from) = scene.will(PATIENCE).expect("a will");
        assert_eq!(from, scene.place, "from the member's own address");
        let lease = scene.lease();
        assert!(at < lease, "{script:?}: {} after the end of the lease", at.since(lease));
        let (copy, ..) = scene.will(PATIENCE).expect("a copy");
        assert_eq!(copy, will);
        eventually("the guardian ends", || UdpSocket::bind(scene.place).is_ok());
    }
}

/// Leases of five seconds, so that a will that comes before the end of one did not wait for it,
/// also on a busy machine.
#[test]
fn a_leader_that_dies_by_any_signal_is_released_before_its_lease_is_over() {
    let dies = |signal: Signal, script: Option<&str>| {
        let mut scene = Scene::start(&["--lease", "5s"], script);
        let told = scene.leads();
        eventually("what was told is over", || now() > told);
        // The first SIGSEGV or SIGBUS that no access to memory caused goes to a handler of the
        // standard library, which returns.
        let mut ended = None;
        eventually("its end", || {
            send(scene.pid(), signal);
            ended = scene.member.try_wait().expect("it is our child");
            ended.is_some()
        });
        let by = ended.and_then(|status| status.signal());
        assert_eq!(by, Some(signal.as_raw()), "{signal:?}, {script:?}");
        let (_, at, from) = scene.will(PATIENCE).expect("a will");
        assert_eq!(from, scene.place, "from the member's own address");
        let lease = scene.lease();
        let late = at.since(lease);
        assert!(at < lease, "{signal:?}, {script:?}: {late} after the end of the lease");
    };
    let all = [Signal::KILL, Signal::SEGV, Signal::ABORT, Signal::BUS, Signal::ILL, Signal::FPE];
    let more = [Signal::TRAP, Signal::SYS, Signal::QUIT, Signal::ALARM, Signal::XCPU];
    std::thread::scope(|scope| {
        for signal in all.into_iter().chain(more) {
            for script in [None, Some("sleep 60")] {
                scope.spawn(move || dies(signal, script));
            }
        }
    });
}

#[test]
fn nothing_of_the_command_is_left_when_the_will_is_sent() {
    let mut scene = Scene::new(&["--grace", "10ms"], Some(STUBBORN));
    let pids = scene.folder.join("pids");
    let written = || fs::read_to_string(&pids).unwrap_or_default();
    eventually("the command runs", || written().split_whitespace().count() == 3);
    scene.keep_silent();
    scene.kill();
    scene.will(PATIENCE).expect("a will");
    let left: Vec<_> = processes().into_iter().map(|(pid, ..)| pid.to_string()).collect();
    for pid in written().split_whitespace() {
        assert!(!left.contains(&pid.to_owned()), "process {pid} of the command is left");
    }
}

#[test]
fn whoever_was_told_how_long_it_leads_is_waited_for() {
    // A printed change.
    let mut scene = Scene::new(&[], None);
    scene.kill();
    scene.restart_and_kill_at_once();
    // An answer.
    let mut scene = Scene::new(&[], None);
    scene.keep_silent();
    let told = answered(&scene);
    scene.kill();
    let (_, at, _) = scene.will(PATIENCE).expect("a will");
    assert!(at >= told, "{} too early", told.since(at));
}

impl Scene {
    /// It says that it leads, and is killed in that moment.
    fn restart_and_kill_at_once(&mut self) {
        let mut member = Self::spawn(&self.arguments, &self.folder);
        self.lines = BufReader::new(member.stdout.take().expect("it is piped")).lines();
        self.member = member;
        let until = self.leads();
        self.kill();
        while self.other.set_nonblocking(true).is_ok() {
            if self.other.recv(&mut [0; 2048]).is_err() {
                break; // what was sent for the life before
            }
        }
        self.other.set_nonblocking(false).expect("it is a socket");
        let (_, at, _) = self.will(PATIENCE).expect("a will");
        assert!(at >= until, "{} before what was told", until.since(at));
    }
}

#[test]
fn a_member_that_is_not_dead_has_no_will() {
    let mut scene = Scene::new(&[], None);
    scene.keep_silent();
    send(scene.pid(), Signal::STOP);
    assert_eq!(scene.will(SILENCE), None, "it is only stopped");
    send(scene.pid(), Signal::KILL);
    assert!(scene.will(PATIENCE).is_some(), "now it is dead");
    scene.kill();
}

#[test]
fn a_member_that_leaves_has_no_will() {
    let mut scene = Scene::new(&[], None);
    scene.keep_silent();
    send(scene.pid(), Signal::TERM);
    assert!(scene.member.wait().expect("it ends").success());
    assert_eq!(scene.will(SILENCE), None, "it has said itself that it leaves");
}

#[test]
fn without_a_guardian_nothing_is_sent() {
    // Killed first: the member is stopped, so that it starts no other.
    let mut scene = Scene::new(&[], None);
    scene.keep_silent();
    let guardian = scene.guardian();
    send(scene.pid(), Signal::STOP);
    send(guardian, Signal::KILL);
    scene.kill();
    assert_eq!(scene.will(SILENCE), None, "both are dead");
    // With a command, both at once: the watchdog ends the command and says nothing.
    let mut scene = Scene::new(&[], Some("sleep 60"));
    scene.keep_silent();
    let guardian = scene.guardian();
    send(scene.pid(), Signal::STOP);
    send(guardian, Signal::KILL);
    scene.kill();
    assert_eq!(scene.will(SILENCE), None, "both are dead");
    let mut scene = Scene::new(&["--guardian", "no"], None);
    scene.keep_silent();
    assert_eq!(scene.find_guardian(), None);
    scene.kill();
    assert_eq!(scene.will(SILENCE), None, "none was wanted");
}

#[test]
fn a_guardian_that_is_killed_is_replaced() {
    let mut scene = Scene::new(&[], None);
    scene.keep_silent();
    let first = scene.guardian();
    send(first, Signal::KILL);
    eventually("another guardian", || scene.find_guardian().is_some_and(|next| next != first));
    std::thread::sleep(std::time::Duration::from_millis(100)); // it is told what to do
    scene.kill();
    assert!(scene.will(PATIENCE).is_some());
}

/// Without a command the kernel lets the guardian go on when the member dies: its process group is
/// an orphan. With one the watchdog is its parent, and ends the command in its place.
#[test]
fn a_guardian_that_is_stopped_sends_only_if_it_goes_on() {
    for (script, sends) in [(None, true), (Some("sleep 60"), false)] {
        let mut scene = Scene::new(&[], script);
        scene.keep_silent();
        send(scene.guardian(), Signal::STOP);
        scene.kill();
        assert_eq!(scene.will(SILENCE).is_some(), sends, "{script:?}");
    }
}

/// The guardian waits for what was told; meanwhile the member is started again.
#[test]
fn for_a_member_that_is_back_nothing_is_sent() {
    // Leases of five seconds, so that it is back in time on a busy machine, too.
    let long = ["--lock", "5s", "--period", "5.3s", "--expires", "10s", "--preset", "wan"];
    let mut scene = Scene::new(&long, None);
    let status = ["status", "will", "--dir"];
    let told = Command::new(BELLWETHER).args(status).arg(scene.folder.join("dir")).output();
    assert!(told.expect("it starts").status.success());
    scene.kill();
    scene.member = Scene::spawn(&scene.arguments, &scene.folder);
    eventually("the member is back", || UdpSocket::bind(scene.place).is_err());
    let over = scene.lease().since(now()) + SILENCE;
    assert_eq!(scene.will(over), None, "the next life has the address");
}

#[test]
fn both_stopped_send_nothing_until_the_member_is_dead_and_the_guardian_goes_on() {
    let mut scene = Scene::new(&[], Some("sleep 60"));
    scene.keep_silent();
    let guardian = scene.guardian();
    for process in [scene.pid(), guardian] {
        send(process, Signal::STOP);
    }
    assert_eq!(scene.will(SILENCE), None, "both are stopped");
    scene.kill();
    assert_eq!(scene.will(Duration::from_millis(300)), None, "the guardian is stopped or ended");
}

#[test]
fn a_will_is_sealed_with_the_present_key() {
    let mut scene = Scene::new(&[], None);
    let first = fs::read_to_string(scene.folder.join("key")).expect("it was made");
    let made = Command::new(BELLWETHER).arg("keygen").arg(scene.folder.join("new")).output();
    assert!(made.expect("it starts").status.success());
    let new = fs::read_to_string(scene.folder.join("new")).expect("it was made");
    fs::write(scene.folder.join("key"), format!("{new}{first}")).expect("there is room");
    let id = |frame: &[u8]| frame[4..8].to_vec();
    let mut frame = [0; 2048];
    scene.other.recv(&mut frame).expect("it sends");
    let before = id(&frame);
    send(scene.pid(), Signal::HUP);
    eventually("it sends with the new key", || {
        scene.other.recv(&mut frame).expect("it sends");
        id(&frame) != before
    });
    scene.keep_silent();
    scene.kill();
    let (will, ..) = scene.will(PATIENCE).expect("a will");
    assert_ne!(id(&will), before, "the new key");
}

/// When the member began, nobody but a founder had an address; the will goes to who is there when
/// it is killed.
#[test]
fn a_voter_that_joined_while_the_group_ran_gets_the_will() {
    let mut scene = Scene::start(&["--tokens", "durable", "--bootstrap"], None);
    scene.leads();
    let dir = scene.folder.join("joined");
    let joins = Election::builder("will")
        .join_through([scene.place.to_string()])
        .id(3)
        .listen(SocketAddr::new(scene.place.ip(), 7402))
        .keyring(Keyring::read(&scene.folder.join("key")).expect("it was made"))
        .dir(&dir);
    let voter = joins.join().expect("it is taken up");
    let found = control::find(&scene.folder.join("dir"), Some("will"), Some(1));
    let mut client = found.expect("it listens");
    let add = VoterChange::Add(NodeId(3));
    eventually("it may vote", || client.change_voters(add, None).is_ok());
    let votes = |list: bellwether_net::status::Voters| list.committed && list.ids == [1, 3];
    eventually("it votes", || voter.status().is_ok_and(|it| it.voters.is_some_and(votes)));
    // The leader looks ten times a second to whom its will goes.
    std::thread::sleep(std::time::Duration::from_millis(500));
    let wills = || {
        let is_will =
            |record: &Record| matches!(record.event, Event::Recv { number: LAST_NUMBER, .. });
        voter.past(None).filter(is_will).count()
    };
    assert_eq!(wills(), 0);
    scene.kill();
    eventually("the will", || wills() > 0);
}

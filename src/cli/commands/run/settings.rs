//! The merged settings of a member, and the rules that the command checks before it starts.

use super::addresses;
use super::checks;
use super::fifo;
use super::layers::{self, GROUP, Layer, check_effect};
use super::options::{Commanding, DEFAULT, Options};
use super::params;
use super::permission::Permission;
use super::programs::{self, check_command, check_executable};
use super::sources::MergedSettings;
use crate::cli::failure::{Failure, with_flags};
use crate::cli::file;
use crate::cli::output::TextOrJson;
use crate::cli::runtime_dir;
use bellwether::core::{Duration, Instant, NodeId};
use bellwether::net::clock::{BootTime, Clock};
use bellwether::net::control::{check_group, socket_path};
use bellwether::net::guardian::Recording;
use bellwether::net::leader_file;
use bellwether::net::{Builder, Election, Keyring};
use bellwether::protocols::choice::{Choice, Config, Promise};
use bellwether_http::{Place, Token};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

/// The merged settings.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Settings {
    pub(super) group: String,
    pub(super) options: Options,
    pub(super) config: Config,
    /// The length of leases, if all their times follow from it.
    lease: Option<Duration>,
    pub(super) dir: PathBuf,
    pub(super) hooks: Vec<PathBuf>,
    pub(super) command: Vec<OsString>,
    pub(super) permission: Permission,
    /// What was given, by name.
    pub(super) given: MergedSettings,
    /// Whether parameters were given, so that they are not learnt from a group that it joins.
    has_params: bool,
    /// When this process began; its records refer to it.
    since: Instant,
}

impl Settings {
    /// The settings in the text of a file, alone.
    pub(in crate::cli) fn of_text(text: &str) -> Result<Self, Failure> {
        let file = layers::from_text(text).map_err(Failure::Config)?;
        let options = layers::parse(&Layer::new()).map_err(Failure::Config)?;
        Self::merge_file(options, &[], Layer::new(), file)
    }

    /// Merges them; `written` are the flags with their values.
    pub(super) fn merge_file(
        options: Options,
        written: &[(String, Vec<String>)],
        environment: Layer,
        file: layers::File,
    ) -> Result<Self, Failure> {
        let switched = |(name, values): &(String, Vec<String>)| {
            let on = vec!["true".to_owned()];
            (name.clone(), if values.is_empty() { on } else { values.clone() })
        };
        let mut flags: Layer = written.iter().map(switched).collect();
        flags.extend(options.group.map(|group| (GROUP.to_owned(), vec![group])));
        if file.layer.contains_key("shell") && !file.command.is_empty() {
            let line = "shell and command both name what the leader runs: keep one of them";
            return Err(Failure::Config(line.to_owned()));
        }
        let mut all = layers::over(layers::over(file.layer, environment), flags);
        let group = all.remove(GROUP).and_then(|mut group| group.pop()).ok_or_else(|| {
            Failure::usage(
                "no group is named: give its name, as in `bellwether run web --peers ...`, or set \
                 BELLWETHER_GROUP, or group in the file",
            )
        })?;
        let by_flag = written.iter().any(|(name, _)| name == "shell");
        let shell = all.get("shell").and_then(|lines| lines.last());
        let shell = shell.map(|line| (line.as_str(), by_flag));
        let command = programs::command(options.command, file.command, shell)?;
        let options = layers::parse(&all).map_err(Failure::Config)?;
        let (commands, hooks) = (!command.is_empty(), !options.hooking.on_change.is_empty());
        let no_command = "without a command; add -- CMD";
        let names = ["restart", "stop-timeout", "stop-signal", "grace", "pass-stdin"];
        check_effect(&all, written, &names, commands, no_command)?;
        let marks = !options.addresses.is_empty() || options.hooking.leader_file.is_some();
        let guarded = commands || marks;
        let no_work = "without a command, an address and a leader file; add -- CMD or --address";
        check_effect(&all, written, &["margin"], guarded, no_work)?;
        let no_hook = "without a hook; add --on-change HOOK";
        check_effect(&all, written, &["hook-timeout", "hook-retry"], hooks, no_hook)?;
        let tcp = matches!(options.serving.http, Some(Place::Tcp(_)));
        let no_http = "without --http ADDRESS, where requests come from anybody; add it";
        check_effect(&all, written, &["http-token"], tcp, no_http)?;
        let given: Vec<String> = all.keys().cloned().collect();
        let has_params = options.params.pairs().next().is_some()
            || options.lease.is_some()
            || !file.params.table.is_empty();
        let params = file.params.table.clone();
        let (config, lease) = params::config(&options, &given, file.params)?;
        let config = params::asking(config);
        let name = options.protocol.name;
        let plans = if name == DEFAULT {
            format!("; `bellwether plan {name} --detect T` computes all values")
        } else {
            String::new()
        };
        let choice = Choice::try_from(config.clone())
            .map_err(|bad| params::broken(&options, &bad))
            .map_err(|rule| Failure::Config(format!("{name}: {rule}{plans}")))?;
        let by_id =
            format!("with {name} and these parameters, without a hook; add --on-change HOOK");
        let tells = hooks || options.hooking.notify_fifo.is_some();
        check_effect(&all, written, &["rank"], tells || choice.reads_rank(), &by_id)?;
        let ordinary = format!("with {name} and these parameters; only leases from a majority ask");
        let roles = choice.reads_candidacy();
        let names = ["priority", "priorities", "witness", "voters", "check"];
        check_effect(&all, written, &names, roles, &ordinary)?;
        let settled = Self::settle(group, options, (config, &choice), command)?;
        let given = MergedSettings { layer: all, params, config: settled.config.clone() };
        Ok(Self { has_params, lease, given, ..settled })
    }

    fn settle(
        group: String,
        options: Options,
        (config, choice): (Config, &Choice),
        command: Vec<OsString>,
    ) -> Result<Self, Failure> {
        check_group(&group).map_err(|bad| Failure::Config(with_flags(&bad)))?;
        let permission = permission(&options.commanding, &command, choice);
        let absolute = |hook: &PathBuf| {
            std::path::absolute(hook).map_err(|error| Failure::io("find", hook, &error))
        };
        let hooks = options.hooking.on_change.iter().map(absolute).collect::<Result<_, _>>()?;
        let dir = runtime_dir::of_process(options.dir.as_deref());
        let since = BootTime.now();
        let (has_params, lease) = (false, None);
        let given = MergedSettings {
            layer: Layer::new(),
            params: toml::Table::new(),
            config: config.clone(),
        };
        Ok(Self {
            group,
            options,
            config,
            lease,
            dir,
            hooks,
            command,
            permission,
            given,
            has_params,
            since,
        })
    }

    /// Takes over the parameters that were learnt from the group.
    pub(super) fn learn(&mut self, params: &str) -> Result<(), Failure> {
        let name = self.options.protocol.name;
        let bad = |error: &dyn std::fmt::Display| Failure::Config(format!("{name}: {error}"));
        let config = Config::from_json(name, params).map_err(|error| bad(&error))?;
        let choice = Choice::try_from(config.clone()).map_err(|error| bad(&error))?;
        self.permission = permission(&self.options.commanding, &self.command, &choice);
        if self.is_guarded() {
            self.permission.check()?;
        }
        self.config = config;
        Ok(())
    }

    /// The file that is there while this member leads, if one is wanted.
    pub(super) fn leader_file(&self) -> Option<PathBuf> {
        let file = self.options.hooking.leader_file.as_deref()?;
        Some(std::path::absolute(file).unwrap_or_else(|_| file.to_owned()))
    }

    /// Whether there is something that must end before the lease does: a command, an address or a
    /// file.
    pub(super) fn is_guarded(&self) -> bool {
        let marks = !self.options.addresses.is_empty() || self.leader_file().is_some();
        !self.command.is_empty() || marks
    }

    /// Whether there are never two leaders, so that a command runs in one place.
    pub(super) fn is_exclusive(&self) -> bool {
        let choice = Choice::try_from(self.config.clone());
        choice.is_ok_and(|choice| choice.promise() == Promise::NeverTwo)
    }

    /// Whether tokens grow across restarts, too.
    pub(super) fn keeps_terms(&self) -> bool {
        let choice = Choice::try_from(self.config.clone());
        choice.is_ok_and(|choice| choice.founding_record().is_some())
    }

    /// The builder of the member.
    pub(super) fn builder(&self) -> Result<Builder, Failure> {
        Ok(self.without_dir()?.dir(&self.dir))
    }

    /// The same without a directory, in which case nothing is stored.
    pub(super) fn without_dir(&self) -> Result<Builder, Failure> {
        let options = &self.options;
        let mut builder = Election::builder(&self.group).bootstrap(options.bootstrap);
        // A member that joins learns the parameters, unless some were given.
        if options.through.is_empty() || self.has_params || options.protocol.name != DEFAULT {
            builder = builder.protocol(options.protocol.name, self.config.clone());
        }
        builder = builder.join_through(options.through.iter().cloned());
        if let Some(peers) = &options.peers {
            builder = builder.peers(peers.clone());
        }
        if let Some(voters) = &options.voters {
            builder = builder.founding_voters(voters.clone());
        }
        builder = builder.priorities(options.priorities.iter().copied());
        if let Some(id) = options.id {
            builder = builder.id(id);
        }
        if let Some(address) = options.address {
            builder = builder.listen(address);
        }
        if let Some(group) = options.broadcasts {
            builder = builder.multicast(group);
        }
        if let Some(rank) = options.rank {
            builder = builder.rank(rank);
        }
        builder = builder.witness(options.witness).priority(options.priority.unwrap_or_default());
        if self.is_guarded() {
            builder = builder.least_lease(self.permission.needed());
        }
        if let Some(file) = &options.record {
            builder = builder.record(file);
            if !self.command.is_empty() {
                builder = builder.record_work(self.since);
            }
        }
        if let Some(file) = &options.key {
            return Ok(builder.keyring(read_keys(file)?));
        }
        Ok(if options.insecure { builder.insecure() } else { builder })
    }

    /// Where the guardian of this member records, if it does.
    pub(super) fn recording(&self, id: u64) -> Option<Recording> {
        let trace = self.options.record.as_deref().filter(|_| !self.command.is_empty());
        trace.map(|trace| Recording::beside(trace, &self.group, NodeId(id), self.since))
    }

    /// How results are written.
    pub(in crate::cli) fn format(&self) -> TextOrJson {
        self.options.format.unwrap_or_default()
    }

    /// Reports why each rule holds, until one does not.
    pub(in crate::cli) fn check(
        &self,
        tell: &mut dyn FnMut(&'static str, String),
    ) -> Result<(), Failure> {
        for rule in self.builder()?.check()? {
            tell(rule.name, rule.text);
        }
        if let Some(lease) = self.lease {
            tell("lease", format!("{lease} gives {}", params::times_of(&self.config)));
        }
        tell("directory", runtime_dir::check(&self.dir)?);
        if let Some(id) = self.options.id {
            tell("socket", format!("asked at {}", self.check_socket(id)?.display()));
        }
        for record in self.check_record()? {
            tell("record", format!("{} can be written", record.display()));
        }
        for hook in self.check_hooks()? {
            tell("hook", hook);
        }
        if let Some(file) = self.check_leader_file()? {
            tell("leader", format!("{} is there while it leads", file.display()));
        }
        for check in self.check_checks()? {
            tell("check", check);
        }
        if let Some(place) = &self.options.serving.http {
            let token = self.token()?;
            let who = match (place, token) {
                (Place::Unix(_), _) => "its user and root may change something",
                (Place::Tcp(_), Some(_)) => "whoever has the token may change something",
                (Place::Tcp(_), None) => "nobody may change something",
            };
            tell("http", format!("answers at {place}; {who}{}", in_use(place)));
        }
        if let Some(program) = self.command.first() {
            tell("command", check_command(program)?);
        }
        for address in self.check_addresses()? {
            tell("address", address);
        }
        if self.is_guarded() {
            tell("permission", self.permission.check()?);
        }
        Ok(())
    }

    /// The token of requests that change something, if there is one.
    pub(super) fn token(&self) -> Result<Option<Token>, Failure> {
        let token = self.options.serving.http_token.as_deref().map(Token::read);
        token.transpose().map_err(|bad| Failure::Config(bad.to_string()))
    }

    /// Why the addresses can be set, or why one cannot.
    pub(super) fn check_addresses(&self) -> Result<Vec<String>, Failure> {
        let Options { addresses, peers, address, .. } = &self.options;
        addresses::check(addresses, peers.as_ref(), *address, self.is_exclusive())
    }

    /// The files for the traces, if there are any. A pipe is refused: its reader could hold up the
    /// election.
    pub(super) fn check_record(&self) -> Result<Vec<PathBuf>, Failure> {
        let work = self.recording(self.options.id.unwrap_or(0)).map(|it| it.file);
        let files: Vec<PathBuf> = self.options.record.iter().cloned().chain(work).collect();
        for file in &files {
            if std::fs::metadata(file).is_ok_and(|found| !found.is_file()) {
                return Err(Failure::Config(format!(
                    "--record {}: it is no regular file; a trace is kept in one",
                    file.display()
                )));
            }
            file::check_writable(file)?;
        }
        Ok(files)
    }

    /// Why the hooks can be called and the pipe be told, or why not.
    pub(super) fn check_hooks(&self) -> Result<Vec<String>, Failure> {
        let hooks = self.hooks.iter().map(|hook| check_executable("hook", hook));
        hooks.chain(self.options.hooking.notify_fifo.as_deref().map(fifo::check)).collect()
    }

    /// The file of the leader, if there is one and it can be.
    pub(super) fn check_leader_file(&self) -> Result<Option<PathBuf>, Failure> {
        let file = self.leader_file();
        let checked = file.as_deref().map(leader_file::check).transpose();
        checked.map_err(|bad| Failure::Config(format!("--leader-file: {bad}")))?;
        Ok(file)
    }

    /// What the health checks look at, or why one cannot.
    pub(super) fn check_checks(&self) -> Result<Vec<String>, Failure> {
        checks::check(&self.options.checks, self.options.witness)
    }

    /// The path of the control socket, which has a limited length.
    pub(super) fn check_socket(&self, id: u64) -> Result<PathBuf, Failure> {
        let path = socket_path(&self.dir, &self.group, id);
        path.map_err(|bad| Failure::Config(with_flags(&bad)))
    }
}

/// A remark, if somebody answers there now.
fn in_use(place: &Place) -> &'static str {
    let Place::Tcp(at) = place else { return "" };
    match TcpListener::bind(at) {
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            "; note: somebody listens there now, by which this member will not start, unless it \
             is this member that runs"
        }
        _ => "",
    }
}

/// The times of a command, or of addresses alone: those need no grace.
fn permission(commanding: &Commanding, command: &[OsString], choice: &Choice) -> Permission {
    let Commanding { margin, grace, stop_timeout, .. } = *commanding;
    let alone = command.is_empty().then_some(Duration::ZERO);
    Permission::new(choice, margin, alone.or(grace)).stopping_within(stop_timeout)
}

/// The keys in a file.
pub(super) fn read_keys(file: &Path) -> Result<Keyring, Failure> {
    Ok(Keyring::read(file)?)
}

#[cfg(test)]
mod tests {
    use super::super::sources::Sources;
    use super::*;
    use crate::cli::{Bellwether, Command, command, written};
    use bellwether::protocols::local_leader::{Mode, Preset, Tokens};
    use clap::FromArgMatches;

    /// The settings of these arguments, with a file and an environment.
    fn settings(
        arguments: &str,
        file: &str,
        environment: &[(&str, &str)],
    ) -> Result<Settings, Failure> {
        let name = format!("bellwether-set-{}-{:x}", std::process::id(), hash(arguments, file));
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, file).unwrap();
        let words = format!("bellwether run {arguments} --config {}", path.display());
        let mut command = command();
        let matches = command.try_get_matches_from_mut(words.split_whitespace()).unwrap();
        let Command::Run(run) = Bellwether::from_arg_matches(&matches).unwrap().command else {
            panic!("{words}");
        };
        let environment = layers::from_environment(
            environment.iter().map(|(name, value)| (name.into(), value.into())),
        );
        let environment = environment.map_err(Failure::Config);
        let written = written(&command, &matches);
        let merged = environment
            .and_then(|environment| Sources::new(run.options, &written, environment).gather());
        std::fs::remove_file(&path).unwrap();
        merged
    }

    fn hash(one: &str, other: &str) -> u64 {
        let bytes = one.bytes().chain([0]).chain(other.bytes());
        bytes.fold(7, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
    }

    fn leases(settings: &Settings) -> &bellwether::protocols::local_leader::Config {
        match &settings.config {
            Config::LocalLeader(config) => config,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn flags_go_before_the_environment_and_that_before_the_file() {
        let file = "group = \"web\"\npeers = [\"1=127.0.0.1:1\"]\nid = 1\nrank = 1\n\
                    hook-timeout = \"1s\"\non-change = \"/hook\"\n\
                    [params]\npreset = \"wan\"\nrenew = \"301ms\"\n";
        let environment =
            [("BELLWETHER_ID", "2"), ("BELLWETHER_RANK", "2"), ("BELLWETHER_DELTA", "101ms")];
        let all = settings("--id 3 --period 1060ms --expires 1900ms", file, &environment).unwrap();
        assert_eq!(
            (all.group.as_str(), all.options.id, all.options.rank),
            ("web", Some(3), Some(2))
        );
        assert_eq!(all.options.hooking.hook_timeout, Duration::from_secs(1));
        let config = leases(&all);
        assert_eq!((config.preset, config.mode), (Preset::Wan, Mode::Majority));
        let ms = |ms| Some(Duration::from_millis(ms));
        assert_eq!((config.renew, config.delta, config.period), (ms(301), ms(101), ms(1060)));
        let other = settings("db --preset fast", "group = \"web\"", &[]).unwrap();
        assert_eq!((other.group.as_str(), leases(&other).preset), ("db", Preset::Fast));
    }

    #[test]
    fn a_lease_alone_gives_all_times_wherever_it_stands() {
        let ms = |ms| Some(Duration::from_millis(ms));
        let file = "[params]\nlease = \"5s\"\n";
        let environment = [("BELLWETHER_LEASE", "6s")];
        for (arguments, file, environment, lock) in [
            ("g --lease 5s", "", &[][..], 5_000),
            ("g", file, &[], 5_000),
            ("g", "lease = \"5s\"\n", &[], 5_000),
            ("g", file, &environment, 6_000),
            ("g --lease 7s", file, &environment, 7_000),
        ] {
            let all = settings(arguments, file, environment).unwrap();
            let config = leases(&all);
            assert_eq!((config.lock, config.preset), (ms(lock), Preset::Wan), "{arguments} {file}");
            assert!(config.period > ms(lock) && config.renew < ms(lock), "{config:?}");
        }
        let drifting = settings("g --lease 5s --drift-ppm 100", "", &[]).unwrap();
        assert_eq!(leases(&drifting).delta, ms(102), "what is no time may be given");
    }

    #[test]
    fn members_that_are_listed_need_a_majority_and_others_lead_those_they_reach() {
        let mode = |arguments: &str| leases(&settings(arguments, "", &[]).unwrap()).mode;
        assert_eq!(mode("g --peers 1=127.0.0.1:1,2=127.0.0.1:2"), Mode::Majority);
        assert_eq!(mode("g --peers dns:example.org:7400"), Mode::Local);
        assert_eq!(mode("g --peers 1=127.0.0.1:1 --mode local"), Mode::Local);
        let file = "peers = \"dns:example.org:7400\"\n[params]\nmode = \"majority\"\n";
        assert_eq!(leases(&settings("g", file, &[]).unwrap()).mode, Mode::Majority);
    }

    #[test]
    fn a_live_group_has_volatile_tokens_unless_it_asks_for_others() {
        let tokens = |arguments: &str, file: &str| {
            leases(&settings(&format!("g --peers 1=127.0.0.1:1 {arguments}"), file, &[]).unwrap())
                .tokens
        };
        assert_eq!(tokens("", ""), Tokens::Volatile);
        assert_eq!(tokens("--tokens durable", ""), Tokens::Durable);
        assert_eq!(tokens("", "[params]\ntokens = \"durable\""), Tokens::Durable);
        let simulated = bellwether::protocols::local_leader::Config::default();
        assert_eq!(simulated.tokens, Tokens::Durable);
    }

    #[test]
    fn an_announcing_group_gives_up_a_dead_leader_after_three_seconds() {
        let listen = |arguments: &str, file: &str| match settings(
            &format!("g --protocol le-s {arguments}"),
            file,
            &[],
        )
        .unwrap()
        .config
        {
            Config::AnnounceListen(config) => config.listen,
            other => panic!("{other:?}"),
        };
        assert_eq!(listen("", ""), Duration::from_secs(3));
        assert_eq!(listen("", "[params]\nlisten = \"7s\""), Duration::from_secs(7));
        assert_eq!(listen("--listen-for 9s", "[params]\nlisten = \"7s\""), Duration::from_secs(9));
    }

    #[test]
    fn what_breaks_a_rule_is_refused_with_the_way_out() {
        for (arguments, file, text) in [
            ("", "", "no group is named"),
            ("a/b", "", "group 'a/b': the name of a group has"),
            ("g", "[params]\nlokc = \"1s\"", "no setting is called 'lokc'; did you mean 'lock'?"),
            ("g", "[params]\nlock = \"1 parsec\"", "'1 parsec' breaks the rule"),
            ("g", "id = 1\n[params]\n\nlock = \"1 parsec\"", ": line 4: [params] lock: "),
            ("g", "[params]\nrenew = \"1s\"\nlokc = \"1s\"", ": line 3: [params] lokc: no setting"),
            ("g --protocol probabilistic", "[params]\nk = \"seven\"", ": line 2: [params] k: "),
            ("g --listen-for 3s", "", "--listen-for is no flag of local-leader"),
            ("g --protocol le-s --lock 1s", "", "--lock is no flag of le-s"),
            ("g --lock 10ms", "", "local-leader: "),
            (
                "g --lease 5s --preset lan",
                "",
                "--lease 5s sets all times of the leases, and --preset",
            ),
            (
                "g --lease 5s",
                "[params]\nlock = \"4s\"",
                "would set one of them again: leave out --lock",
            ),
            ("g --renew 1s", "[params]\nlease = \"5s\"", "leave out --renew, or --lease"),
            ("g", "[params]\n\nlease = \"soon\"", ": line 3: [params] lease: invalid value 'soon'"),
            ("g --lease 5s --protocol le-s", "", "--lease 5s: le-s has no leases"),
            ("g --lease 10ms", "", "--lease 0.01s: lease = 0.01s, but 0.036s <= lease"),
            ("g --restart", "", "--restart has no effect without a command"),
            ("g --margin 5ms", "", "--margin has no effect without a command"),
            ("g --stop-timeout 5s", "", "--stop-timeout has no effect without a command"),
            ("g", "stop-signal = \"INT\"", "--stop-signal has no effect without a command"),
            ("g", "stop-signal = \"KILL\"", "SIGKILL does not ask a program to end"),
            ("g", "stop-timeout = \"soon\"", "invalid value 'soon' for '--stop-timeout <T>'"),
            ("g", "grace = \"5ms\"", "--grace has no effect without a command"),
            ("g", "hook-timeout = \"5s\"", "--hook-timeout has no effect without a hook"),
            ("g", "rank = 7", "--rank has no effect with local-leader and these parameters"),
            ("g --witness --mode local", "", "--witness has no effect with local-leader and"),
            ("g --voters 1,2 --mode local", "", "--voters has no effect with local-leader and"),
            ("g", "voters = [1, \"x\"]", "'x' is not a number: write ids, as in 1,2,3"),
            ("g --priorities 4=1 --mode local", "", "--priorities has no effect with local-leader"),
            ("g --protocol le-s", "priority = 3", "--priority has no effect with le-s and"),
            ("g --protocol bully --reply 1s", "[params]\nretry = \"1s\"", "no setting is called"),
            (
                "g --protocol bully --retry 1s",
                "",
                "--retry is no flag of bully, which has --detector",
            ),
        ] {
            let error = settings(arguments, file, &[]).unwrap_err();
            let line = match error {
                Failure::Usage(line) | Failure::Config(line) => line,
                other => panic!("{other:?}"),
            };
            assert!(line.contains(text), "{arguments}: {line}");
            assert!(!line.contains("column"), "{arguments}: {line}");
        }
    }

    #[test]
    fn a_rank_is_for_protocols_that_read_it_and_for_hooks() {
        for arguments in [
            "--protocol le-s --criterion rank",
            "--protocol ad-hoc",
            "--protocol probabilistic",
            "--on-change /hook",
        ] {
            let given = settings(&format!("g --rank 7 {arguments}"), "", &[]);
            assert_eq!(given.unwrap().options.rank, Some(7), "{arguments}");
        }
    }

    #[test]
    fn a_setting_without_a_command_is_bad_usage_as_a_flag_and_bad_configuration_elsewhere() {
        let code = |arguments: &str, file: &str, environment: &[(&str, &str)]| {
            settings(arguments, file, environment).unwrap_err().into_line().1
        };
        assert_eq!(code("g --grace 5ms", "", &[]), 2);
        assert_eq!(code("g", "grace = \"5ms\"", &[]), 78);
        assert_eq!(code("g", "restart = true", &[]), 78);
        assert_eq!(code("g", "", &[("BELLWETHER_MARGIN", "5ms")]), 78);
    }
}

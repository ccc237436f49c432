//! One health check as it is written: a table `[[check]]` in a file, or `--check` as a flag.
//!
//! **Source.** The words are those of keepalived's `vrrp_script`, `track_process` and
//! `track_interface`.
//!
//! **Promise.** A check that is not right is refused in one line that names the value, the rule and
//! the way out.

use bellwether::core::Duration;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// What a check may say besides what it looks at.
const SETTINGS: [&str; 8] =
    ["name", "interval", "timeout", "rise", "fall", "weight", "init-fail", "status"];
/// What a check may look at.
const KINDS: [&str; 5] = ["exec", "process", "file", "interface", "http"];

/// How often and how long a check runs: from the first to the second.
const TIMES: [Duration; 2] = [Duration::from_millis(10), Duration::from_secs(86_400)];
/// The most runs in a row that a change may take.
const RUNS_MAX: i64 = 1_000;
/// The farthest from zero that a weight may be.
const WEIGHT_MAX: i64 = 1_000_000;
/// The most characters of a name.
const NAME_MAX: usize = 64;
/// The most bytes of the name of a process, as the kernel keeps it.
const PROCESS_MAX: usize = 255;
/// The most bytes of the name of an interface.
const INTERFACE_MAX: usize = 15;

/// A health check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Check {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// From the beginning of one run to that of the next.
    pub(super) interval: Duration,
    /// A run that takes longer has failed.
    pub(super) timeout: Duration,
    /// How many runs in a row must succeed, or fail, before that counts.
    pub(super) rise: u32,
    pub(super) fall: u32,
    /// What is added to the priority: if it is positive while the check is well, if it is negative
    /// while it fails. Without one the member does not lead while it fails.
    pub(super) weight: i32,
    /// Whether it fails until it was well.
    pub(super) init_fail: bool,
}

/// What a check looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A command, and its arguments: well if it exits with 0.
    Exec(Vec<String>),
    /// Whether a process of this name runs.
    Process(String),
    /// Whether this file exists.
    File(PathBuf),
    /// Whether this interface is up and has a carrier.
    Interface(String),
    /// Whether a GET is answered with this code; with any of 200 to 299, if none is given.
    Http(Url, Option<u16>),
}

/// A place that is asked by plain HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Url {
    /// HOST:PORT.
    pub(super) place: String,
    pub(super) path: String,
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}{}", self.place, self.path)
    }
}

impl Kind {
    /// What is told to whoever asks: arguments, and what follows the path of a URL, may be secret.
    pub(super) fn told(&self) -> String {
        match self {
            Self::Exec(words) => format!("exec {}", words.first().map_or("", String::as_str)),
            Self::Http(url, _) => {
                let url = url.to_string();
                format!("http {}", url.split(['?', '#']).next().unwrap_or_default())
            }
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exec(words) => write!(f, "exec {}", words.join(" ")),
            Self::Process(name) => write!(f, "process {name}"),
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::Interface(name) => write!(f, "interface {name}"),
            Self::Http(url, None) => write!(f, "http {url}"),
            Self::Http(url, Some(status)) => write!(f, "http {url} with {status}"),
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, kind, interval, timeout, rise, fall, weight, .. } = self;
        let effect = match weight {
            0 => "the member does not lead while it fails".to_owned(),
            weight => format!("weight {weight}"),
        };
        write!(
            f,
            "{name}: {kind}, every {interval}, at most {timeout}, rise {rise}, fall {fall}; \
             {effect}"
        )
    }
}

impl Check {
    /// Whether the member does not lead while this fails.
    pub(super) fn decides(&self) -> bool {
        self.weight == 0
    }
}

/// The text of a table in a file, as the flag has it.
pub(in crate::cli) fn of_table(table: toml::Table) -> Result<String, String> {
    let text = toml::Value::Table(table).to_string();
    text.parse::<Check>().map(|_| text)
}

impl FromStr for Check {
    type Err = String;

    /// Either `exec=/usr/bin/check,interval=2s`, or the table of a file, as in
    /// `{ exec = ["/usr/bin/check", "a b"], interval = "2s" }`.
    fn from_str(text: &str) -> Result<Self, String> {
        let table = if text.trim_start().starts_with('{') {
            let whole = toml::from_str::<toml::Table>(&format!("check = {text}"));
            match whole.ok().and_then(|mut whole| whole.remove("check")) {
                Some(toml::Value::Table(table)) => table,
                _ => return Err(format!("'{}' is no table of TOML", shown(text))),
            }
        } else {
            pairs(text)?
        };
        Written { table }.read()
    }
}

/// The settings of a flag. A part that does not begin with the name of a setting belongs to the one
/// before it, so that a command may have commas.
fn pairs(text: &str) -> Result<toml::Table, String> {
    let mut all: Vec<(String, String)> = Vec::new();
    for part in text.split(',') {
        let named = part.split_once('=').filter(|(name, _)| is_known(&plain(name)));
        match (named, all.last_mut()) {
            (Some((name, value)), _) => all.push((plain(name), value.trim().to_owned())),
            (None, Some((_, value))) => *value += &format!(",{part}"),
            (None, None) => {
                return Err(format!(
                    "'{}' begins with no setting of a check: write what it looks at, as in \
                     exec=/usr/bin/check,interval=2s",
                    shown(part)
                ));
            }
        }
    }
    let mut table = toml::Table::new();
    for (name, value) in all {
        if table.insert(name.clone(), toml::Value::String(value)).is_some() {
            return Err(format!("{name} is given twice: give it once"));
        }
    }
    Ok(table)
}

/// The name of a setting: keepalived writes `init_fail`, our files have dashes.
fn plain(name: &str) -> String {
    name.trim().replace('_', "-")
}

fn is_known(name: &str) -> bool {
    KINDS.iter().chain(&SETTINGS).any(|known| *known == name)
}

/// A value as a message shows it.
fn shown(text: &str) -> String {
    text.chars().take(NAME_MAX).collect::<String>().escape_debug().to_string()
}

/// A check that is yet to be read.
struct Written {
    table: toml::Table,
}

impl Written {
    fn read(mut self) -> Result<Check, String> {
        let names: Vec<String> = self.table.keys().cloned().collect();
        for name in names {
            let Some(value) = self.table.remove(&name) else { continue };
            if !is_known(&plain(&name)) {
                return Err(format!(
                    "a check has no setting '{}'; it has one of {}, and {}",
                    shown(&name),
                    KINDS.join(", "),
                    SETTINGS.join(", ")
                ));
            }
            if self.table.insert(plain(&name), value).is_some() {
                return Err(format!("{} is given twice: give it once", plain(&name)));
            }
        }
        let given: Vec<&str> =
            KINDS.into_iter().filter(|kind| self.table.contains_key(*kind)).collect();
        let kind = match given[..] {
            [kind] => kind,
            [] => return Err(format!("it looks at nothing: give one of {}", KINDS.join(", "))),
            [one, other, ..] => {
                return Err(format!("it has {one} and {other}: give each a check of its own"));
            }
        };
        let kind = self.kind(kind)?;
        if self.table.contains_key("status") {
            return Err("status is for http alone: leave it out".to_owned());
        }
        let interval = self.time("interval", Duration::from_secs(1))?;
        Ok(Check {
            name: self.name(&kind)?,
            timeout: self.time("timeout", interval)?,
            interval,
            rise: self.number("rise", [1, RUNS_MAX], 1)?,
            fall: self.number("fall", [1, RUNS_MAX], 1)?,
            weight: self.number("weight", [-WEIGHT_MAX, WEIGHT_MAX], 0)?,
            init_fail: self.switch("init-fail")?,
            kind,
        })
    }

    fn kind(&mut self, kind: &str) -> Result<Kind, String> {
        let value = self.table.remove(kind);
        if let (Some(toml::Value::Array(words)), "exec") = (&value, kind) {
            let words: Option<Vec<String>> =
                words.iter().map(|word| word.as_str().map(str::to_owned)).collect();
            return match words {
                Some(words) if !words.is_empty() => Ok(Kind::Exec(words)),
                _ => Err("exec is a command and its arguments, each a text".to_owned()),
            };
        }
        let text = match value {
            Some(toml::Value::String(text)) if !text.trim().is_empty() => text.trim().to_owned(),
            _ => return Err(format!("{kind} is a text: write {kind} = \"...\"")),
        };
        match kind {
            "exec" if text.contains(['"', '\'', '\\']) => Err(format!(
                "exec = {}: no shell reads it, and quotes mean nothing; write a list, as in \
                 exec = [\"/usr/bin/check\", \"an argument\"]",
                shown(&text)
            )),
            "exec" => Ok(Kind::Exec(text.split_whitespace().map(str::to_owned).collect())),
            "process" if text.len() > PROCESS_MAX || text.contains('/') => Err(format!(
                "process = {}: write the name of a program without its path, as in sshd",
                shown(&text)
            )),
            "process" => Ok(Kind::Process(text)),
            "file" => match std::path::absolute(&text) {
                Ok(path) => Ok(Kind::File(path)),
                Err(error) => Err(format!("file = {}: {error}", shown(&text))),
            },
            "interface" if text.len() > INTERFACE_MAX || text.contains(['/', ' ']) => Err(format!(
                "interface = {}: write the name of an interface, as in eth0",
                shown(&text)
            )),
            "interface" => Ok(Kind::Interface(text)),
            _ => {
                let status: u32 = self.number("status", [100, 599], 0)?;
                let status = u16::try_from(status).ok().filter(|status| *status > 0);
                Ok(Kind::Http(url(&text)?, status))
            }
        }
    }

    fn name(&mut self, kind: &Kind) -> Result<String, String> {
        let usual = match kind {
            Kind::Exec(words) => {
                let program = std::path::Path::new(&words[0]);
                program
                    .file_name()
                    .map_or_else(|| words[0].clone(), |it| it.to_string_lossy().into())
            }
            Kind::Process(name) | Kind::Interface(name) => name.clone(),
            Kind::File(path) => path.display().to_string(),
            Kind::Http(url, _) => url.place.clone(),
        };
        let name = match self.table.remove("name") {
            None => usual.chars().take(NAME_MAX).collect(),
            Some(toml::Value::String(name)) => name.trim().to_owned(),
            Some(other) => return Err(format!("name = {other}: it is a text")),
        };
        let fits = (1..=NAME_MAX).contains(&name.chars().count());
        if !fits || name.chars().any(char::is_control) {
            return Err(format!(
                "name = {}: a check's name has 1 to {NAME_MAX} characters that can be printed",
                shown(&name)
            ));
        }
        Ok(name)
    }

    /// What is written for a setting that is one value.
    fn text(&mut self, name: &str) -> Result<Option<String>, String> {
        match self.table.remove(name) {
            None => Ok(None),
            Some(toml::Value::String(text)) => Ok(Some(text.trim().to_owned())),
            Some(toml::Value::Integer(number)) => Ok(Some(number.to_string())),
            Some(toml::Value::Float(number)) => Ok(Some(number.to_string())),
            Some(toml::Value::Boolean(truth)) => Ok(Some(truth.to_string())),
            Some(_) => Err(format!("{name} is one value: write {name} = ...")),
        }
    }

    fn time(&mut self, name: &str, usual: Duration) -> Result<Duration, String> {
        let Some(text) = self.text(name)? else { return Ok(usual) };
        let [least, most] = TIMES;
        match text.parse::<Duration>() {
            Ok(time) if (least..=most).contains(&time) => Ok(time),
            Ok(_) => Err(format!("{name} = {}: it is from {least} to {most}", shown(&text))),
            Err(bad) => Err(format!("{name}: {bad}")),
        }
    }

    fn number<T: TryFrom<i64>>(
        &mut self,
        name: &str,
        [least, most]: [i64; 2],
        usual: T,
    ) -> Result<T, String> {
        let Some(text) = self.text(name)? else { return Ok(usual) };
        let number = text.parse::<i64>().ok().filter(|number| (least..=most).contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| {
            format!("{name} = {}: it is a whole number from {least} to {most}", shown(&text))
        })
    }

    fn switch(&mut self, name: &str) -> Result<bool, String> {
        match self.text(name)?.as_deref() {
            None | Some("false" | "no" | "off" | "0") => Ok(false),
            Some("true" | "yes" | "on" | "1") => Ok(true),
            Some(other) => Err(format!("{name} = {}: it is either true or false", shown(other))),
        }
    }
}

/// The parts of `http://HOST[:PORT][/PATH]`.
fn url(text: &str) -> Result<Url, String> {
    let bad = |why: &str| {
        format!("http = {}: {why}; write it as in http://127.0.0.1:8080/health", shown(text))
    };
    let rest = match text.split_once("://") {
        Some(("http", rest)) => rest,
        Some(_) => return Err(bad("only plain HTTP is asked")),
        None => text,
    };
    if !rest.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(bad("it has characters that no URL has"));
    }
    let (place, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
    let (host, port) = match place.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (place, None),
    };
    if host.is_empty() || host.contains('@') {
        return Err(bad("it names no host"));
    }
    let port =
        port.map_or(Ok(80), |port| port.parse::<u16>().map_err(|_| bad("it has no port")))?;
    Ok(Url { place: format!("{host}:{port}"), path: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_and_a_table_say_the_same() {
        let flag: Check = "exec=/usr/bin/check -a 1,2,interval=2s,fall=3,init_fail=yes,weight=-20"
            .parse()
            .unwrap();
        let words = ["/usr/bin/check", "-a", "1,2"].map(str::to_owned).to_vec();
        assert_eq!((flag.name.as_str(), &flag.kind), ("check", &Kind::Exec(words)));
        assert_eq!((flag.rise, flag.fall, flag.weight, flag.init_fail), (1, 3, -20, true));
        assert_eq!(flag.timeout, Duration::from_secs(2), "the interval, unless it is given");
        let table: toml::Table = toml::from_str(
            "exec = [\"/usr/bin/check\", \"-a\", \"1,2\"]\ninterval = 2\nfall = 3\nweight = -20\n\
             init-fail = true",
        )
        .unwrap();
        assert_eq!(of_table(table).unwrap().parse::<Check>().unwrap(), flag);
        let http: Check = "http=http://localhost/health?x=1,status=204".parse().unwrap();
        let url = Url { place: "localhost:80".to_owned(), path: "/health?x=1".to_owned() };
        assert_eq!(http.kind, Kind::Http(url, Some(204)));
        let six: Check = "http=http://[::1]:8080".parse().unwrap();
        assert_eq!(six.kind.to_string(), "http http://[::1]:8080/");
    }

    #[test]
    fn arguments_and_what_follows_a_path_are_not_told() {
        for (text, told) in [
            ("exec=/usr/bin/curl -u admin:secret http://h", "exec /usr/bin/curl"),
            ("http=http://h:1/health?token=secret,status=204", "http http://h:1/health"),
            ("file=/run/well", "file /run/well"),
        ] {
            assert_eq!(text.parse::<Check>().unwrap().kind.told(), told);
        }
    }

    #[test]
    fn what_is_wrong_is_told_in_a_line() {
        for (text, why) in [
            ("", "begins with no setting of a check"),
            ("/usr/bin/check", "begins with no setting of a check"),
            ("interval=1s", "it looks at nothing: give one of exec, process"),
            ("exec=a,process=b", "it has exec and process: give each a check of its own"),
            ("exec=a 'b c'", "quotes mean nothing; write a list"),
            ("exec=a,interval=0s", "interval = 0s: it is from 0.01s to 86400s"),
            ("exec=a,timeout=soon", "timeout: "),
            ("exec=a,rise=0", "rise = 0: it is a whole number from 1 to 1000"),
            ("exec=a,weight=heavy", "weight = heavy: it is a whole number from -1000000"),
            ("exec=a,init_fail=perhaps", "init-fail = perhaps: it is either true or false"),
            ("exec=a,status=200", "status is for http alone"),
            ("exec=a,fall=1,fall=2", "fall is given twice"),
            ("process=/usr/bin/a", "without its path"),
            ("interface=a b", "write the name of an interface"),
            ("http=https://a", "only plain HTTP is asked"),
            ("http=http://a:b/", "it has no port"),
            ("http=http://:80/", "it names no host"),
            ("http=http://a,status=7", "status = 7: it is a whole number from 100 to 599"),
            ("{ exec = [] }", "exec is a command and its arguments"),
            ("{ exec = \"a\", often = 3 }", "a check has no setting 'often'"),
            ("{ exec", "is no table of TOML"),
        ] {
            let error = text.parse::<Check>().unwrap_err();
            assert!(error.contains(why) && !error.contains('\n'), "{text}: {error}");
        }
    }
}

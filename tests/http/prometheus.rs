//! The metrics, the alerts and the dashboard, with the real `promtool` and a real Prometheus.

use super::client::{Answer, Door, Group};
use super::member::{Folder, eventually};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write;
use std::net::UdpSocket;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

fn contrib(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("contrib").join(name)
}

/// Runs `promtool` with this on its standard input; it must find nothing wrong.
fn promtool(arguments: &[&str], input: &str) {
    let mut command = Command::new("promtool");
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("promtool is installed: Debian's package prometheus");
    let mut stdin = child.stdin.take().expect("it is piped");
    stdin.write_all(input.as_bytes()).expect("it reads all");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let said = [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
    assert!(output.status.success(), "promtool {arguments:?}: {said:?}\n{input}");
}

/// A page of a leader that has a command, hooks and a check, and has refused a datagram.
fn full_page() -> String {
    let folder = Folder::new("http-page-hook");
    let hook = folder.script("hook", "exit 0").display().to_string();
    // Of a network that no host has; on the loopback nobody can be asked for it.
    let address = format!("192.0.2.{}/32@lo", 1 + std::process::id() % 254);
    let watch = ["--check", "name=root,file=/", "--on-change", &hook, "--address", &address];
    let flags = [&watch[..], &["--", "sleep", "1000"]].concat();
    let group = Group::start("page", 3, &flags);
    let (_, leads, _) = group.roles();
    let Door::Tcp(address) = leads else { unreachable!("it is an address") };
    let socket = UdpSocket::bind("127.0.0.1:0").expect("there is a port");
    socket.send_to(b"nonsense", address.replace(":7480", ":7400")).expect("it is sent");
    let all = |answer: &Answer| {
        let words = [
            "reason=\"short\"",
            "result=\"succeeded\"",
            "action=\"started\"",
            "interface=\"lo\",state=\"set\"} 1",
            "bellwether_round_trip_seconds_count",
            "bellwether_delay_bound_seconds_count",
            "check=\"root\"} 1",
        ];
        words.iter().all(|word| answer.body.contains(word))
    };
    eventually("all metrics", || Some(leads.get("/metrics")).filter(all)).body
}

#[test]
fn a_page_keeps_the_rules_of_prometheus_and_has_what_alerts_and_dashboard_show() {
    let page = full_page();
    promtool(&["check", "metrics"], &page);
    for line in [
        "bellwether_leader{group=\"web\",member=",
        "leader_election_master_status{name=\"web\"} 1",
        "# TYPE bellwether_datagrams_sent_total counter",
        ",role=\"leader\"} 1",
        ",reason=\"lapsed\"} 0",
        "# TYPE bellwether_round_trip_seconds histogram",
        "# TYPE bellwether_delay_bound_seconds histogram",
        "le=\"+Inf\"} ",
    ] {
        assert!(page.contains(line), "no {line}\n{page}");
    }
    // On the loopback most messages take less than a quarter of a second.
    let value = |start: &str, label: &str| {
        let line = page.lines().find(|line| line.starts_with(start) && line.contains(label));
        let value = line.and_then(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
        value.unwrap_or_else(|| panic!("no {start} {label}\n{page}"))
    };
    for name in ["bellwether_round_trip_seconds", "bellwether_delay_bound_seconds"] {
        let count = value(&format!("{name}_count"), "");
        let [quick, all] =
            ["le=\"0.25\"", "le=\"+Inf\""].map(|class| value(&format!("{name}_bucket"), class));
        assert!(count > 0.0 && all == count && quick > count / 2.0, "{name}: {page}");
        assert!(value(&format!("{name}_sum"), "") > 0.0, "{page}");
    }
    let described: BTreeSet<&str> =
        page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    let shown = ["alerts.yml", "grafana.json"].map(|name| {
        let text = std::fs::read_to_string(contrib(name)).expect("it is there");
        let word = |it: char| !it.is_ascii_lowercase() && it != '_';
        let names: BTreeSet<String> = text
            .split(word)
            .filter(|name| name.starts_with("bellwether_"))
            .map(|name| name.strip_suffix("_bucket").unwrap_or(name).to_owned())
            .collect();
        assert!(names.len() > 5, "{name}: {names:?}");
        names
    });
    for name in shown.iter().flatten() {
        assert!(described.contains(name.as_str()), "no metric is called {name}");
    }
    let dashboard = std::fs::read_to_string(contrib("grafana.json")).expect("it is there");
    let dashboard: Value = serde_json::from_str(&dashboard).expect("it is JSON");
    assert!(dashboard["panels"].as_array().is_some_and(|panels| panels.len() > 10));
    let operating = include_str!("../../docs/operating.md");
    for name in described {
        assert!(operating.contains(&format!("`{name}")), "docs/operating.md has no {name}");
    }
}

#[test]
fn the_alerts_are_well_formed_and_fire_when_they_should() {
    let path = |name| contrib(name).display().to_string();
    promtool(&["check", "rules", &path("alerts.yml")], "");
    promtool(&["test", "rules", &path("alerts.test.yml")], "");
    let operating = include_str!("../../docs/operating.md");
    let rules = std::fs::read_to_string(contrib("alerts.yml")).expect("it is there");
    for name in rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")) {
        assert!(operating.contains(&format!("`{name}`")), "docs/operating.md has no {name}");
    }
}

/// All expressions of the dashboard.
fn expressions(of: &Value) -> Vec<&str> {
    match of {
        Value::Array(all) => all.iter().flat_map(expressions).collect(),
        Value::Object(all) => {
            let own = all.get("expr").and_then(Value::as_str);
            own.into_iter().chain(all.values().flat_map(expressions)).collect()
        }
        _ => Vec::new(),
    }
}

/// `promtool` reads rules only, so each expression is recorded.
#[test]
fn what_the_dashboard_asks_is_understood_by_prometheus() {
    let folder = Folder::new("http-dashboard");
    let dashboard = std::fs::read_to_string(contrib("grafana.json")).expect("it is there");
    let dashboard: Value = serde_json::from_str(&dashboard).expect("it is JSON");
    let all = expressions(&dashboard);
    assert!(all.len() > 30, "{all:?}");
    let rule = |(at, expr): (usize, &&str)| json!({"record": format!("panel:{at}"), "expr": expr});
    let rules: Vec<Value> = all.iter().enumerate().map(rule).collect();
    let rules = json!({"groups": [{"name": "dashboard", "rules": rules}]});
    let file = folder.file("rules.yml");
    std::fs::write(&file, rules.to_string()).expect("there is room"); // JSON is YAML
    promtool(&["check", "rules", &file.display().to_string()], "");
}

/// A Prometheus that ends with the test.
struct Prometheus {
    child: Child,
    door: Door,
}

impl Prometheus {
    /// Scrapes these members every 500 ms; alerts wait for three seconds.
    fn start(folder: &Folder, doors: &[Door]) -> Self {
        let address = |door: &Door| match door {
            Door::Tcp(address) => address.clone(),
            Door::Unix(path) => unreachable!("{path} is no address"),
        };
        let rules = std::fs::read_to_string(contrib("alerts.yml")).expect("it is there");
        let hasty = |line: &str| match line.split_once("for: ") {
            Some((indent, _)) => format!("{indent}for: 3s\n"),
            None => format!("{line}\n"),
        };
        let rules: String = rules.lines().map(hasty).collect();
        std::fs::write(folder.file("alerts.yml"), rules).expect("there is room");
        let targets: Vec<String> = doors.iter().map(address).collect();
        let config = format!(
            "global:\n  scrape_interval: 500ms\n  scrape_timeout: 500ms\n  \
             evaluation_interval: 500ms\nrule_files: [alerts.yml]\nscrape_configs:\n  \
             - job_name: bellwether\n    static_configs:\n      - targets: {targets:?}\n"
        );
        std::fs::write(folder.file("prometheus.yml"), config).expect("there is room");
        let web = address(&doors[0]).replace(":7480", ":9090");
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", folder.file("prometheus.yml").display()))
            .arg(format!("--storage.tsdb.path={}", folder.file("data").display()))
            .arg(format!("--web.listen-address={web}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(folder.file("prometheus.log")).expect("there is room"))
            .spawn()
            .expect("prometheus is installed: Debian's package of that name");
        Self { child, door: Door::Tcp(web) }
    }

    /// What it answers, once it does.
    fn ask(&self, path: &str) -> Option<Value> {
        self.door.connect().ok()?;
        let answer = self.door.send(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes());
        let (_, body) = answer.split_once("\r\n\r\n")?;
        Some(serde_json::from_str::<Value>(body).ok()?["data"].clone())
    }

    /// The alerts that fire.
    fn fires(&self) -> Option<Vec<String>> {
        let alerts = self.ask("/api/v1/alerts")?["alerts"].as_array()?.clone();
        let fires = alerts.iter().filter(|alert| alert["state"] == "firing");
        fires.map(|alert| Some(alert["labels"]["alertname"].as_str()?.to_owned())).collect()
    }

    /// Waits until this alert fires.
    fn waits_for(&self, name: &str) {
        eventually(name, || self.fires()?.iter().any(|one| one == name).then_some(()));
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
    }
}

#[test]
fn a_real_prometheus_scrapes_a_group_and_alerts_when_members_are_killed() {
    let mut group = Group::start("alerts", 3, &[]);
    let (leader, ..) = group.roles();
    let prometheus = Prometheus::start(&group.folder, &group.doors);
    eventually("three healthy targets", || {
        let targets = prometheus.ask("/api/v1/targets")?["activeTargets"].as_array()?.clone();
        let healthy = targets.iter().filter(|target| target["health"] == "up");
        (healthy.count() == 3).then_some(())
    });
    let leads = "/api/v1/query?query=sum(bellwether_leader)";
    eventually("one leader", || {
        (prometheus.ask(leads)?["result"][0]["value"][1] == "1").then_some(())
    });
    eventually("two evaluations", || {
        let rules = prometheus.ask("/api/v1/rules")?["groups"][0]["rules"].as_array()?.clone();
        let done = |rule: &Value| rule["health"] == "ok";
        (!rules.is_empty() && rules.iter().all(done)).then_some(())
    });
    let fires = prometheus.fires().expect("it answers");
    // The machine may be busy; that is the one alert that says so.
    assert!(fires.iter().all(|name| name == "BellwetherStallsNearLimit"), "{fires:?}");
    group.members[leader as usize - 1].signal(Signal::KILL);
    prometheus.waits_for("BellwetherMemberMissing");
    group.members.remove(leader as usize - 1);
    group.members[0].signal(Signal::KILL);
    prometheus.waits_for("BellwetherNoLeader");
}

//! What `status`, HTTP and metrics tell of checks.

use super::client::Door;
use super::member::{Folder, Member, eventually, peers};
use super::{set_well, while_well};

/// The value of a metric of this check, with this result.
fn value(page: &str, name: &str, check: &str, result: &str) -> Option<f64> {
    let (check, result) = (format!("check=\"{check}\""), format!("result=\"{result}\""));
    let is_it = |line: &&str| {
        let named = line.starts_with(&format!("{name}{{")) && line.contains(&check);
        named && (line.contains(&result) || !line.contains("result="))
    };
    page.lines().find(is_it)?.rsplit(' ').next()?.parse().ok()
}

#[test]
fn status_readyz_and_metrics_show_the_checks() {
    let folder = Folder::new("face");
    let socket = folder.file("http").display().to_string();
    let (probe, http) = (while_well(&folder), format!("unix:{socket}"));
    set_well(&folder, 1, true);
    let first = format!("exec={probe},name=web,interval=100ms");
    let second = "interface=lo,weight=3,interval=100ms";
    let flags = ["--check", &first, "--check", second, "--http", &http];
    let member = Member::start(&folder, &peers(1), 1, &flags);
    member.becomes("leader");
    let door = Door::Unix(socket);
    eventually("a ready member", || (door.get("/readyz").code == 200).then_some(()));
    let page = eventually("a run of each", || {
        let page = door.get("/metrics").body;
        let ran = |check: &str| {
            let count = value(&page, "bellwether_check_runs_total", check, "succeeded");
            count.filter(|count| *count > 0.0)
        };
        (ran("web").is_some() && ran("lo").is_some()).then_some(page.clone())
    });
    assert!(page.contains("# TYPE bellwether_check_up gauge"), "{page}");
    set_well(&folder, 1, false);
    let refused = eventually("a member that is not ready", || {
        let answer = door.get("/readyz");
        let why = answer.json()["why"].as_str()?.to_owned();
        (answer.code == 503).then_some(why)
    });
    assert_eq!(refused, "does not lead while check web fails: exit status: 1");
    let status = door.get("/v1/status").json();
    let [web, lo] = [&status["checks"][0], &status["checks"][1]];
    assert_eq!(
        (&web["name"], &web["up"], &web["weight"]),
        (&"web".into(), &false.into(), &0.into())
    );
    assert_eq!(
        (&lo["what"], &lo["up"], &lo["weight"]),
        (&"interface lo".into(), &true.into(), &3.into())
    );
    let page = door.get("/metrics").body;
    let up = |check: &str| value(&page, "bellwether_check_up", check, "");
    assert_eq!((up("web"), up("lo")), (Some(0.0), Some(1.0)), "{page}");
    let text = member.ask("status");
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("warning: check web fails (exec "), "{text}");
    assert!(text.contains("lo is well (interface lo); "), "{text}");
    let line = text.lines().find(|line| line.contains("web fails (exec ")).unwrap_or_default();
    assert!(
        text.lines().any(|line| line.contains(" runs, ") && line.ends_with(" failed")),
        "{line}"
    );
    assert!(text.contains("\n priority        3\n"), "what lo adds: {text}");
}

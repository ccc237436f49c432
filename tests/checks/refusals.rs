//! What is wrong with checks is told in one line, before the member joins.

use super::member::{Folder, bellwether, peers, refusal};

/// The one line with which a file with these checks is refused.
fn refused(folder: &Folder, checks: &str, rest: &str) -> String {
    let file = folder.file("web.toml");
    let text = format!("peers = \"{}\"\nid = 1\ninsecure = true\n{checks}", peers(1));
    std::fs::write(&file, text).expect("there is room");
    let dir = folder.dir();
    let run = |command| {
        bellwether(&format!("{command} web --config {} --dir {dir} {rest}", file.display()))
    };
    let (one, other) = (run("run"), run("check-config"));
    let line = refusal(&one, 78);
    assert_eq!(line, refusal(&other, 78), "check-config says the same");
    line
}

#[test]
fn a_check_that_is_not_right_is_refused_with_the_way_out() {
    let folder = Folder::new("refused");
    for (checks, why) in [
        ("[[check]]\nexec = \"/nothing/there\"", "command /nothing/there: No such file"),
        ("[[check]]\nexec = \"no-program-is-called-so\"", "no program in the PATH has that name"),
        ("[[check]]\ninterval = \"1s\"", "[[check]] number 1: it looks at nothing"),
        ("[[check]]\nfile = \"/x\"\noften = 2", "a check has no setting 'often'"),
        ("[[check]]\nfile = \"/x\"\n[[check]]\nfile = 7", "[[check]] number 2: file is a text"),
        (
            "[[check]]\nfile = \"/x\"\ninterval = \"1 parsec\"",
            "interval: '1 parsec' breaks the rule",
        ),
        ("[[check]]\nfile = \"/x\"\ntimeout = \"0s\"", "timeout = 0s: it is from 0.01s to 86400s"),
        ("[[check]]\nfile = \"/x\"\nrise = 0", "rise = 0: it is a whole number from 1 to 1000"),
        ("[[check]]\nfile = \"/x\"\nfall = 1.5", "fall = 1.5: it is a whole number from 1 to 1000"),
        ("[[check]]\nfile = \"/x\"\nweight = 1e9", "weight = "),
        ("[[check]]\nfile = \"/x\"\ninit_fail = 2", "init-fail = 2: it is either true or false"),
        ("[[check]]\nhttp = \"https://x\"", "only plain HTTP is asked"),
        ("[[check]]\nhttp = \"http://x\"\nstatus = 7", "it is a whole number from 100 to 599"),
        ("[[check]]\nfile = \"/x\"\n[[check]]\nfile = \"/x\"", "two checks are called '/x'"),
        ("check = 7", "'7' begins with no setting of a check"),
        ("witness = true\n[[check]]\nfile = \"/x\"", "a witness never leads"),
        (
            "protocol = \"le-s\"\n[[check]]\nfile = \"/x\"",
            "--check has no effect with le-s and these parameters; only leases from a majority ask",
        ),
    ] {
        let line = refused(&folder, checks, "");
        assert!(line.contains(why), "{checks}: {line}");
    }
}

#[test]
fn too_many_checks_are_refused() {
    let folder = Folder::new("many");
    let many: String = (0..33).map(|at| format!("[[check]]\nfile = \"/x{at}\"\n")).collect();
    let line = refused(&folder, &many, "");
    assert!(line.contains("33 checks are too many; a member has at most 32"), "{line}");
}

#[test]
fn check_config_shows_each_check() {
    let folder = Folder::new("shown");
    let dir = folder.dir();
    let list = peers(1);
    let flags = "--check exec=true,interval=2s,weight=-5 --check file=/x,name=flag";
    let shown = bellwether(&format!(
        "check-config web --peers {list} --id 1 --insecure --dir {dir} {flags}"
    ));
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.status.success(), "{text}");
    for line in [
        "true: exec true, every 2s, at most 2s, rise 1, fall 1; weight -5",
        "flag: file /x, every 1s, at most 1s, rise 1, fall 1; the member does not lead while it",
    ] {
        assert!(text.contains(line), "{text}");
    }
}

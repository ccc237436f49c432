//! What a shell offers with `bellwether completions`: fixed names, and groups that run here.

use crate::command::{folder, refusal, stdout};
use std::path::Path;

#[test]
fn shells_are_offered_the_names_of_protocols_and_figures() {
    let script = stdout("completions bash");
    assert!(script.contains("hirschberg-sinclair") && script.contains("le-a le-s le-m"));
    assert!(script.contains("all published"));
}

/// What a shell that has read this script offers for a word; nothing if there is no such shell.
fn offered(shell: &str, script: &str, sockets: &Path) -> Option<String> {
    let file = sockets.join(format!("script.{shell}"));
    std::fs::write(&file, script).expect("there is room");
    let file = file.display();
    let words = match shell {
        "bash" => format!(
            "source {file}; COMP_WORDS=(bellwether status ''); COMP_CWORD=2; \
             _bellwether_with_groups bellwether '' status; printf '%s\\n' \"${{COMPREPLY[@]}}\"; \
             COMP_WORDS=(bellwether sim ''); COMPREPLY=(); \
             _bellwether_with_groups bellwether '' sim; echo sim ${{COMPREPLY[@]}}"
        ),
        "fish" => format!(
            "source {file}; complete -C 'bellwether status '; \
             echo sim (complete -C 'bellwether sim w')"
        ),
        _ => format!(
            // The functions of zsh's own, which a script does not have.
            "compdef() {{ }}; compadd() {{ print -l $groups }}; source {file}; \
             _bellwether_groups; echo sim"
        ),
    };
    let mut command = std::process::Command::new(shell);
    let output = command.args(["-c", &words]).env("BELLWETHER_DIR", sockets).output().ok()?;
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{shell}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The groups of this machine, by the sockets in its directory.
#[test]
fn shells_are_offered_the_groups_that_run_here() {
    let folder = folder("sockets");
    let bind = |name| std::os::unix::net::UnixListener::bind(folder.join(name)).unwrap();
    let _sockets = ["web.1.sock", "web.2.sock", "a.b.7.sock"].map(bind);
    for name in ["web.1.sock.lock", "left.1.state", "file.1.sock"] {
        std::fs::write(folder.join(name), "").unwrap();
    }
    for shell in ["bash", "zsh", "fish"] {
        let script = stdout(&format!("completions {shell}"));
        assert!(script.contains("XDG_RUNTIME_DIR") && script.contains("/run/bellwether"));
        let Some(offered) = offered(shell, &script, &folder) else { continue };
        for group in ["web", "a.b"] {
            assert_eq!(offered.lines().filter(|it| *it == group).count(), 1, "{shell}: {offered}");
        }
        for other in ["file", "left", "web.1"] {
            assert!(!offered.lines().any(|line| line == other), "{shell}: {offered}");
        }
        let elsewhere = offered.lines().last().unwrap_or_default();
        assert!(!elsewhere.split(' ').any(|word| word == "web"), "{shell}: {offered}");
    }
    let (zsh, count) = (stdout("completions zsh"), |text: &str, it: &str| text.matches(it).count());
    assert_eq!(count(&zsh, ":_bellwether_groups' "), 9, "status, members, watch, resign, …");
}

#[test]
fn every_subcommand_has_a_manual_page() {
    let folder = folder("pages");
    stdout(&format!("man --out {}", folder.display()));
    let page = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    for name in
        ["bellwether", "bellwether-run", "bellwether-keygen", "bellwether-plan-local-leader"]
    {
        assert!(page(&format!("{name}.1")).contains(".TH"), "{name}");
    }
    assert!(page("bellwether-run.1").contains("peers"), "its flags are there");
    assert_eq!(page("bellwether-guard.1"), "", "it is for this program alone");
    let refused = refusal("man --out /nowhere/at/all", 1);
    assert!(refused.contains("cannot write pages into /nowhere/at/all"), "{refused}");
}

//! Corosync: the least id of a quorate membership counts as the leader.

use crate::cluster::{Place, System};
use crate::lab::Folder;
use ::bellwether::core::Duration;
use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command};

/// Its token time-out. What has to be agreed on afterwards, the consensus, takes 1.2 of it.
pub(crate) struct Corosync {
    pub(crate) token: Duration,
}

impl Corosync {
    fn consensus(&self) -> Duration {
        Duration::from_nanos(self.token.as_nanos() * 6 / 5)
    }
}

impl System for Corosync {
    fn name(&self) -> String {
        format!("corosync, token {}", self.token)
    }

    fn gives_up_after(&self) -> Duration {
        self.token
    }

    fn program(&self) -> &'static str {
        "corosync"
    }

    fn package(&self) -> &'static str {
        "corosync"
    }

    fn command(&self, id: u64, folder: &Folder) -> Command {
        let [state, run] = ["state", "run"].map(|name| {
            let directory = folder.file(&format!("corosync-{id}-{name}"));
            std::fs::create_dir_all(&directory).expect("the folder can be written");
            directory
        });
        let millis = |time: Duration| time.as_nanos() / 1_000_000;
        let mut text = format!(
            "system {{\n state_dir: {state}\n run_dir: {run}\n}}\ntotem {{\n version: 2\n \
             cluster_name: lab\n transport: knet\n crypto_cipher: none\n crypto_hash: none\n \
             token: {}\n token_coefficient: 0\n consensus: {}\n interface {{\n  linknumber: 0\n  \
             knet_ping_interval: 50\n  knet_ping_timeout: 100\n }}\n}}\nquorum {{\n provider: \
             corosync_votequorum\n}}\nlogging {{\n to_stderr: yes\n to_syslog: no\n}}\n\
             nodelist {{\n",
            millis(self.token),
            millis(self.consensus()),
        );
        for id in 1..=3 {
            let node =
                format!(" node {{\n  name: m{id}\n  nodeid: {id}\n  ring0_addr: 10.77.0.{id}\n }}");
            let _ = writeln!(text, "{node}");
        }
        text.push_str("}\n");
        let file = folder.file(&format!("corosync-{id}.conf"));
        std::fs::write(&file, text).expect("the folder can be written");
        // Its lock is in /run: each has a /run of its own, in the mounts that its namespace has.
        let script = "mount -t tmpfs none /run && exec corosync -f -c \"$0\"";
        let mut command = Command::new("sh");
        command.args(["-c", script, &file]);
        command
    }

    /// Its log names the members after each change: `Members[2]: 2 3`.
    fn watch(&self, id: u64, child: &mut Child, place: &Place<'_>) {
        let errors = child.stderr.take().expect("its errors are a pipe");
        let output = child.stdout.take();
        let claims = place.claims.clone();
        std::thread::spawn(move || {
            drop(output);
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                let Some((_, members)) = line.split_once("Members[") else { continue };
                let Some((_, members)) = members.split_once("]: ") else { continue };
                let members: Vec<u64> =
                    members.split_whitespace().filter_map(|id| id.parse().ok()).collect();
                claims.note(id, members.len() >= 2 && members.iter().min() == Some(&id));
            }
        });
    }
}

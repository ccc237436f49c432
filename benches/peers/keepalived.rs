//! Keepalived: VRRP version 3, three routers that do not preempt, and one virtual address.

use crate::cluster::{Place, System, within};
use crate::lab::Folder;
use crate::lab::network::Network;
use crate::lab::shell::attempt;
use ::bellwether::core::Duration;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// The address that moves.
const ADDRESS: &str = "10.77.0.100/32";

/// Its one timer.
pub(crate) struct Keepalived {
    pub(crate) advert: Duration,
}

/// Priorities of the three are 101 to 103.
fn priority(id: u64) -> u64 {
    100 + id
}

impl System for Keepalived {
    fn name(&self) -> String {
        format!("keepalived, advert {}", self.advert)
    }

    /// RFC 5798: three adverts and the skew, here of the router that takes over.
    fn gives_up_after(&self) -> Duration {
        let skew = self.advert.as_nanos() * (256 - priority(2)) / 256;
        self.advert * 3 + Duration::from_nanos(skew)
    }

    fn program(&self) -> &'static str {
        "keepalived"
    }

    fn package(&self) -> &'static str {
        "keepalived"
    }

    fn command(&self, id: u64, folder: &Folder) -> Command {
        let file = folder.file(&format!("keepalived-{id}.conf"));
        let text = format!(
            "global_defs {{\n router_id m{id}\n vrrp_version 3\n}}\n\
             vrrp_instance lab {{\n state BACKUP\n \
             nopreempt\n interface eth0\n virtual_router_id 77\n priority {}\n advert_int {}\n \
             virtual_ipaddress {{\n  {ADDRESS}\n }}\n}}\n",
            priority(id),
            self.advert.as_secs_f64(),
        );
        std::fs::write(&file, text).expect("the folder can be written");
        let mut command = Command::new("keepalived");
        command.args(["--dont-fork", "--vrrp", "--log-console", "--use-file", &file]);
        for (flag, name) in [("--pid", "parent"), ("--vrrp_pid", "vrrp")] {
            let file = folder.file(&format!("keepalived-{id}-{name}.pid"));
            // One that was killed leaves it behind: the next one would take itself for a second.
            let _ = std::fs::remove_file(&file);
            command.arg(flag).arg(file);
        }
        command
    }

    /// The kernel tells who gets the address and who loses it, whatever becomes of the process.
    fn watch(&self, id: u64, child: &mut Child, place: &Place<'_>) {
        drain(child);
        let mut monitor = within(&place.network.namespace(id));
        monitor.args(["ip", "monitor", "address"]).stdout(Stdio::piped());
        let mut monitor = monitor.spawn().expect("ip can be started");
        let output = monitor.stdout.take().expect("its output is a pipe");
        let claims = place.claims.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if line.contains(ADDRESS.trim_end_matches("/32")) {
                    claims.note(id, !line.starts_with("Deleted"));
                }
            }
            let _ = monitor.wait();
        });
    }

    fn rejoins_after(&self) -> Duration {
        Duration::from_secs(1).max(self.gives_up_after() * 2)
    }

    fn ends_with_process(&self) -> bool {
        false
    }

    fn clean(&self, id: u64, network: &Network) {
        let namespace = network.namespace(id);
        // It may have removed the address itself.
        let _ = attempt(&["ip", "-n", &namespace, "address", "del", ADDRESS, "dev", "eth0"], "");
    }
}

/// Reads and forgets what a process says: one whose pipes are full would stop.
pub(crate) fn drain(child: &mut Child) {
    let (output, errors) = (child.stdout.take(), child.stderr.take());
    std::thread::spawn(move || {
        let _ = errors.map(|mut errors| std::io::copy(&mut errors, &mut std::io::sink()));
    });
    std::thread::spawn(move || {
        let _ = output.map(|mut output| std::io::copy(&mut output, &mut std::io::sink()));
    });
}

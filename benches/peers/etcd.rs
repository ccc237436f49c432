//! Etcd: the leader of its Raft group, by the status that each member gives.

use crate::cluster::{Place, System};
use crate::keepalived::drain;
use crate::lab::Folder;
use crate::lab::clock::sleep;
use ::bellwether::core::Duration;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command};

/// Its timers. An election begins after 1 to 2 times the second.
pub(crate) struct Etcd {
    pub(crate) heartbeat: Duration,
    pub(crate) election: Duration,
}

/// How often each member is asked.
const EVERY: Duration = Duration::from_millis(2);

/// The question, to the JSON gateway of the maintenance service.
const QUESTION: &[u8] = b"POST /v3/maintenance/status HTTP/1.1\r\nHost: lab\r\n\
                          Connection: close\r\nContent-Length: 2\r\n\r\n{}";

impl System for Etcd {
    fn name(&self) -> String {
        format!("etcd, election {}", self.election)
    }

    fn gives_up_after(&self) -> Duration {
        self.election
    }

    fn program(&self) -> &'static str {
        "etcd"
    }

    fn package(&self) -> &'static str {
        "etcd-server"
    }

    fn command(&self, id: u64, folder: &Folder) -> Command {
        let millis = |time: Duration| (time.as_nanos() / 1_000_000).to_string();
        let cluster: Vec<String> =
            (1..=3).map(|id| format!("m{id}=http://10.77.0.{id}:2380")).collect();
        let peers = format!("http://10.77.0.{id}:2380");
        // The name of a socket has no slash: the socket is made where the program runs.
        // One that was killed leaves it behind, and the next one could not have it.
        let _ = std::fs::remove_file(folder.file(&format!("{}:0", socket(id))));
        let socket = format!("unix://{}:0", socket(id));
        let mut command = Command::new("sh");
        command.args(["-c", "cd \"$0\" && exec etcd \"$@\"", &folder.file("")]);
        command.args(["--name", &format!("m{id}")]);
        command.args(["--data-dir", &folder.file(&format!("etcd-{id}"))]);
        command.args(["--listen-peer-urls", &peers, "--initial-advertise-peer-urls", &peers]);
        command.args(["--listen-client-urls", &socket]);
        command.args(["--advertise-client-urls", &format!("http://10.77.0.{id}:2379")]);
        command.args(["--initial-cluster", &cluster.join(",")]);
        command.args(["--heartbeat-interval", &millis(self.heartbeat)]);
        command.args(["--election-timeout", &millis(self.election)]);
        command.args(["--logger", "zap", "--log-level", "error"]);
        command
    }

    fn watch(&self, id: u64, child: &mut Child, place: &Place<'_>) {
        drain(child);
        let path = place.folder.file(&format!("{}:0", socket(id)));
        let claims = place.claims.clone();
        let process = format!("/proc/{}", child.id());
        std::thread::spawn(move || {
            while Path::new(&process).exists() {
                // Whoever does not answer is not seen to lead.
                claims.note(id, leads(&path).unwrap_or(false));
                sleep(EVERY);
            }
        });
    }
}

fn socket(id: u64) -> String {
    format!("etcd-{id}.socket")
}

/// Whether the member says that it leads itself.
fn leads(path: &str) -> io::Result<bool> {
    let mut stream = UnixStream::connect(path)?;
    let patience = Some(std::time::Duration::from_millis(20));
    stream.set_read_timeout(patience)?;
    stream.set_write_timeout(patience)?;
    stream.write_all(QUESTION)?;
    let mut answer = String::new();
    stream.take(1 << 16).read_to_string(&mut answer)?;
    let number = |key: &str| {
        let (_, rest) = answer.split_once(&format!("\"{key}\":\""))?;
        rest.split('"').next().map(str::to_owned)
    };
    Ok(number("leader").is_some() && number("leader") == number("member_id"))
}

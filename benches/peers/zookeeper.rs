//! ZooKeeper: the leader of its ensemble, by its log.

use crate::cluster::{Place, System};
use crate::lab::Folder;
use ::bellwether::core::Duration;
use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command};

/// Its unit of time. A leader is given up after [`SYNC`] of them, and one that hears from no quorum
/// gives itself up after as long.
pub(crate) struct ZooKeeper {
    pub(crate) tick: Duration,
}

const SYNC: u64 = 5;

/// The server; and a logger that writes to the standard error, which Debian has too.
const JAR: &str = "/usr/share/java/zookeeper.jar";
const LOGGER: &str = "/usr/share/java/slf4j-simple.jar";

impl System for ZooKeeper {
    fn name(&self) -> String {
        format!("zookeeper, tick {}", self.tick)
    }

    fn gives_up_after(&self) -> Duration {
        self.tick * SYNC
    }

    fn program(&self) -> &'static str {
        JAR
    }

    fn package(&self) -> &'static str {
        "zookeeper default-jre-headless"
    }

    fn command(&self, id: u64, folder: &Folder) -> Command {
        let data = folder.file(&format!("zookeeper-{id}"));
        std::fs::create_dir_all(&data).expect("the folder can be written");
        std::fs::write(format!("{data}/myid"), id.to_string()).expect("the folder can be written");
        let mut text = format!(
            "tickTime={}\ninitLimit=100\nsyncLimit={SYNC}\ndataDir={data}\nclientPort=2181\n\
             admin.enableServer=false\n",
            self.tick.as_nanos() / 1_000_000
        );
        for id in 1..=3 {
            let _ = writeln!(text, "server.{id}=10.77.0.{id}:2888:3888");
        }
        let file = folder.file(&format!("zookeeper-{id}.cfg"));
        std::fs::write(&file, text).expect("the folder can be written");
        let mut command = Command::new("java");
        command.args(["-Xmx64m", "-cp", &format!("{LOGGER}:{JAR}")]);
        command.args(["org.apache.zookeeper.server.quorum.QuorumPeerMain", &file]);
        command
    }

    fn watch(&self, id: u64, child: &mut Child, place: &Place<'_>) {
        let errors = child.stderr.take().expect("its errors are a pipe");
        let output = child.stdout.take();
        let claims = place.claims.clone();
        std::thread::spawn(move || {
            drop(output);
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                if line.contains("Have quorum of supporters") {
                    claims.note(id, true);
                } else if line.contains("Shutdown called") || line.ends_with("Peer - LOOKING") {
                    claims.note(id, false);
                }
            }
            claims.note(id, false); // its process has ended
        });
    }

    /// A Java machine takes seconds to start.
    fn rejoins_after(&self) -> Duration {
        Duration::from_secs(5)
    }
}

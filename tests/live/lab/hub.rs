//! An `ip` that waits in the namespace of the bridge: to start one for a cut takes milliseconds.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running `ip -batch`. It ends when its input does, so with its owner.
pub(crate) struct Hub {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Hub {
    /// Starts it in this namespace, and waits until it answers.
    pub(crate) fn new(namespace: &str) -> Self {
        // Its answers come line by line, and not when its buffer is full.
        let mut command = Command::new("stdbuf");
        command.args(["-oL", "ip", "-n", namespace, "-batch", "-"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("stdbuf of coreutils and ip can be started");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut hub = Self { child, input, output };
        hub.ask("link show lo\n");
        hub
    }

    /// Changes a port of the bridge; that is done when this returns.
    pub(crate) fn set(&mut self, port: &str, what: &str) {
        // It shows the port after it has changed it.
        self.ask(&format!("link set {port} {what}\nlink show {port}\n"));
    }

    /// Writes lines of which the last shows a link, which takes two lines.
    fn ask(&mut self, lines: &str) {
        let input = self.input.as_mut().expect("it is open while this lives");
        input.write_all(lines.as_bytes()).expect("ip reads its input");
        for _ in 0..2 {
            let read = self.output.read_line(&mut String::new()).expect("ip writes text");
            assert!(read > 0, "ip has ended at: {lines}");
        }
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

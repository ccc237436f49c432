"""What several tests need: addresses, and processes that print lines."""

import os
import select
import subprocess
import sys
import time

#: No event of a test takes longer, even on a busy machine.
PATIENCE = 60.0


def peers(test, count=3):
    """The members of a group on the loopback, at an address of this test's own."""
    host = f"127.78.{os.getpid() % 250 + 1}.{test}"
    return {id: f"{host}:{7400 + id}" for id in range(1, count + 1)}


class Script:
    """A Python program beside the test, whose lines are waited for. Always use it in `with`."""

    def __init__(self, code, *arguments, program=None):
        command = [*(program or [sys.executable, "-u", "-c", code]), *map(str, arguments)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            bufsize=0)
        self.text = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()

    def line(self):
        """The next line; fails if there is none in time."""
        end = time.monotonic() + PATIENCE
        while b"\n" not in self.text:
            ready, _, _ = select.select([self.process.stdout], [], [], end - time.monotonic())
            more = os.read(self.process.stdout.fileno(), 4096) if ready else b""
            if not more:
                said = self.process.stderr.read() if self.process.poll() is not None else b""
                raise AssertionError(f"no further line: {said.decode()}")
            self.text += more
        line, self.text = self.text.split(b"\n", 1)
        return line.decode()

    def say(self, line):
        """Writes a line to its standard input."""
        self.process.stdin.write(line.encode() + b"\n")

    def end(self):
        """Waits until it ends by itself: its exit code, and what it said on the standard error."""
        code = self.process.wait(PATIENCE)
        return code, self.process.stderr.read().decode()

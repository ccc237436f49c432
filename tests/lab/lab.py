"""A laboratory that a test starts: `bellwether lab` at a free port, without a browser of its own.

BELLWETHER names the command, if it is not target/debug/bellwether.
"""

import contextlib
import http.client
import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile

from webdriver import PATIENCE

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Lab:
    """The server, with its address and its token. It ends with the block that it is used in."""

    def __init__(self, *more):
        """With these arguments beside those that every test needs."""
        self.more = more

    def __enter__(self):
        program = os.environ.get("BELLWETHER", str(ROOT / "target/debug/bellwether"))
        self.program = os.path.abspath(program)
        self.folder = tempfile.TemporaryDirectory(prefix="bellwether-lab-")
        self.process = subprocess.Popen(
            [self.program, "lab", "--no-open", "--port", "0", "--dir", self.folder.name, *self.more],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        for line in self.process.stdout:
            found = re.search(r"(http://(127\.0\.0\.1):(\d+)/)#token=(\S+)", line)
            if found:
                self.base, self.host, port, self.token = found.groups()
                self.port = int(port)
                return self
        raise RuntimeError(f"`{program} lab` ended without an address: {self.process.wait()}")

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.process.stdout.close()
            self.folder.cleanup()

    @contextlib.contextmanager
    def member(self):
        """A member of a group of one, where this laboratory looks for members; its address."""
        pid = os.getpid()  # an address that nobody else has
        place = f"127.{1 + pid % 250}.{pid // 250 % 250}.251:7400"
        # With a lease that outlasts the stalls of a busy machine.
        member = subprocess.Popen(
            [self.program, "run", "web", "--peers", f"1={place}", "--id", "1", "--insecure",
             "--lease", "1s", "--dir", self.folder.name],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,  # it warns that it has no key
        )
        try:
            yield place
        finally:
            member.terminate()
            member.wait(PATIENCE)

    def address(self, fragment=""):
        """An address of the page that brings the token along."""
        mark = "&" if "?" in fragment else "?" if fragment else ""
        return f"{self.base}#{fragment}{mark}token={self.token}"

    def ask(self, method, path, body=None, **headers):
        """A request as no page makes it: its status and what was answered."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        own = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        own.update({name.replace("_", "-"): value for name, value in headers.items()})
        try:
            try:
                connection.request(method, path, body, own)
            except (BrokenPipeError, ConnectionResetError):
                pass  # the server answers before it has read all of what is too large
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def json(self, path):
        """What the server answers to a plain question."""
        status, text = self.ask("GET", path)
        assert status == 200, text
        return json.loads(text)

    def lines(self, path, **body):
        """The lines of a stream."""
        status, text = self.ask("POST", path, json.dumps(body))
        assert status == 200, text
        return [json.loads(line) for line in text.splitlines()]

    def one_run(self, protocol, nodes, most):
        """How long one run takes, in seconds; None if that is more than so many."""
        words = [self.program, "sim", protocol, "--nodes", str(nodes), "--runs", "1", "--format", "json"]
        try:
            done = subprocess.run(words, check=True, stdout=subprocess.PIPE, timeout=most)
        except subprocess.TimeoutExpired:
            return None
        return json.loads(done.stdout)["wall_seconds"]

    def traced(self, words, folder):
        """The records that a copied command prints, asked for as JSON in this directory."""
        name, *rest = shlex.split(words)
        assert name == "bellwether", words
        done = subprocess.run([self.program, *rest, "--format", "json"], cwd=folder, check=True,
                              stdout=subprocess.PIPE, text=True)
        return done.stdout

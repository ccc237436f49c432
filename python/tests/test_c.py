"""The C interface: an example in C, and one through ctypes."""

import ctypes
import os
import pathlib
import select
import subprocess
import tempfile
import unittest

from support import PATIENCE, Script, peers

ROOT = pathlib.Path(__file__).parents[2]
#: Where libbellwether_c.so and libbellwether_c.a are.
LIBRARIES = os.environ.get("BELLWETHER_C")


@unittest.skipUnless(LIBRARIES, "needs BELLWETHER_C, the directory of libbellwether_c")
class FromC(unittest.TestCase):
    def compiled(self, folder, *link):
        program = str(pathlib.Path(folder) / "leader")
        source = ROOT / "crates" / "c"
        command = ["cc", "-std=c99", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Werror",
                   "-pedantic", f"-I{source / 'include'}", str(source / "examples" / "leader.c"),
                   *link, "-o", program]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return program

    def lead_one_after_the_other(self, test, program):
        """Three members; the third cannot lead alone."""
        group = ",".join(f"{id}={at}" for id, at in peers(test).items())
        scripts = [Script(None, group, id, program=[program]) for id in (1, 2, 3)]
        try:
            terms, waiting = [], {script.process.stdout: script for script in scripts}
            while len(waiting) > 1:
                ready, _, _ = select.select(list(waiting), [], [], PATIENCE)
                self.assertTrue(ready, "nobody leads")
                script = waiting.pop(ready[0])
                words = script.line().split()
                self.assertEqual((words[2], words[3]), ("leads,", "term"))
                terms.append(int(words[4]))
                self.assertIn("pieces", script.line())
                self.assertEqual(script.end(), (0, ""))
            self.assertEqual(len(set(terms)), 2, "every leader has a term of its own")
        finally:
            for script in scripts:
                script.__exit__()

    def test_members_in_c_lead_one_after_the_other(self):
        with tempfile.TemporaryDirectory() as folder:
            link = [f"-L{LIBRARIES}", "-lbellwether_c", f"-Wl,-rpath,{LIBRARIES}"]
            self.lead_one_after_the_other(41, self.compiled(folder, *link))

    def test_the_static_library_links(self):
        with tempfile.TemporaryDirectory() as folder:
            archive = str(pathlib.Path(LIBRARIES) / "libbellwether_c.a")
            program = self.compiled(folder, archive, "-lpthread", "-ldl", "-lm")
            done = subprocess.run([program, "1=nowhere", "1"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn("cannot join: peers: ", done.stderr)

    def test_ctypes_can_join_and_lead(self):
        class Settings(ctypes.Structure):
            _fields_ = [("group", ctypes.c_char_p), ("peers", ctypes.c_char_p),
                        ("key_file", ctypes.c_char_p), ("id", ctypes.POINTER(ctypes.c_uint64)),
                        ("listen", ctypes.c_char_p), ("dir", ctypes.c_char_p),
                        ("insecure", ctypes.c_int)]

        c = ctypes.CDLL(str(pathlib.Path(LIBRARIES) / "libbellwether_c.so"))
        c.bellwether_error.restype = ctypes.c_char_p
        c.bellwether_join.restype = ctypes.c_void_p
        c.bellwether_join.argtypes = [ctypes.POINTER(Settings)]
        c.bellwether_wait.argtypes = [
            ctypes.c_void_p, ctypes.c_int64, ctypes.POINTER(ctypes.c_void_p)]
        c.bellwether_still_leading.argtypes = [ctypes.c_void_p]
        c.bellwether_remaining_ns.argtypes = [ctypes.c_void_p]
        c.bellwether_remaining_ns.restype = ctypes.c_int64
        c.bellwether_term.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint64)]
        c.bellwether_resign.argtypes = [ctypes.c_void_p]
        c.bellwether_release.argtypes = [ctypes.c_void_p]
        c.bellwether_leave.argtypes = [ctypes.c_void_p]

        at = peers(42, 1)[1]
        settings = Settings(group=b"ctypes", peers=f"1={at}".encode())
        self.assertIsNone(c.bellwether_join(settings))
        self.assertIn(b"key_file", c.bellwether_error())
        settings.insecure = 1
        election = c.bellwether_join(settings)
        self.assertTrue(election, c.bellwether_error())
        guard = self.led(c, election)
        self.in_a_child(c, guard)
        c.bellwether_release(guard)
        guard = self.led(c, election)
        c.bellwether_resign(guard)  # fails if the reign is over already
        self.assertEqual(c.bellwether_leave(election), 0)

    def led(self, c, election):
        """A guard that leads. On a busy machine a reign may be over before it is asked."""
        guard, term = ctypes.c_void_p(), ctypes.c_uint64()
        for _ in range(100):
            self.assertEqual(c.bellwether_wait(election, int(PATIENCE * 1000), guard), 1)
            if (c.bellwether_still_leading(guard) == 1 and c.bellwether_remaining_ns(guard) > 0
                    and c.bellwether_term(guard, term) == 1):
                self.assertGreater(term.value, 0)
                return guard
            c.bellwether_release(guard)
        self.fail("no reign lasts")

    def in_a_child(self, c, guard):
        """A child that was forked does not lead, and leaves its parent alone."""
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                answers = [c.bellwether_still_leading(guard), c.bellwether_remaining_ns(guard),
                           c.bellwether_resign(guard)]
                os.write(writer, f"{answers} {c.bellwether_error().decode()}".encode())
            finally:
                os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as lines:
            said = lines.read()
        os.waitpid(pid, 0)
        self.assertTrue(said.startswith("[0, 0, -1] process "), said)


if __name__ == "__main__":
    unittest.main()

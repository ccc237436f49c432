"""Live members: three on the loopback, signals, event loops and forks."""

import asyncio
import gc
import json
import math
import multiprocessing
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from contextlib import suppress

import bellwether
from bellwether import Election

from support import PATIENCE, Script, peers

#: Leads until its standard input says "go", then hands over; ends at the end of that.
MEMBER = """
import json, sys
import bellwether
peers, id = json.loads(sys.argv[1]), int(sys.argv[2])
with bellwether.Election("trio", peers=peers, id=id, insecure=True, lease="1s") as election:
    print("joined")
    with election.campaign() as guard:
        print("leads", guard.term(), guard.still_leading(), guard.remaining() > 0)
        sys.stdin.readline()
        print("led")
print("left")
"""


def alone(test, **more):
    """A group of one, with a lease that outlasts the stalls of a busy machine."""
    return Election("alone", peers=peers(test, 1), insecure=True, lease="1s", **more)


class ThreeMembers(unittest.TestCase):
    def test_one_leads_at_a_time_and_terms_grow(self):
        told = json.dumps(peers(1))
        scripts = {id: Script(MEMBER, told, id) for id in (1, 2, 3)}
        try:
            for script in scripts.values():
                self.assertEqual(script.line(), "joined")
            terms, waiting = [], dict(scripts)
            while waiting:
                first = self.next_leader(waiting)
                words = first.line().split()
                self.assertEqual((words[0], words[2:]), ("leads", ["True", "True"]))
                terms.append(int(words[1]))
                first.say("go")
                self.assertEqual(first.line(), "led")
                self.assertEqual(first.line(), "left")
                self.assertEqual(first.end(), (0, ""))
                for id in [id for id, script in waiting.items() if script is first]:
                    del waiting[id]
                if len(waiting) == 1:
                    break  # one of three is no majority
            self.assertEqual(terms, sorted(set(terms)))
            self.assertEqual(len(terms), 2)
        finally:
            for script in scripts.values():
                script.__exit__()

    def next_leader(self, scripts):
        """Who of these says something first."""
        for script in scripts.values():
            if b"\n" in script.text:
                return script
        streams = {script.process.stdout: script for script in scripts.values()}
        ready, _, _ = select.select(list(streams), [], [], PATIENCE)
        self.assertEqual(len(ready), 1, "at most one leads")
        return streams[ready[0]]

    def test_members_in_one_process_hand_over(self):
        group = peers(2)
        elections = [Election("trio", peers=group, id=id, insecure=True, lease="1s").join()
                     for id in group]
        try:
            leader, guard = self.wait_for_one(elections)
            others = [it for it in elections if it is not leader]
            self.assertEqual(leader.leadership().role, "leader")
            with self.assertRaises(bellwether.NotElectedError) as raised:
                with others[0].campaign(timeout=0.05):
                    pass
            self.assertIsInstance(raised.exception, TimeoutError)
            guard.release()
            self.assertFalse(guard.still_leading())
            self.assertEqual((guard.remaining(), guard.term()), (0.0, None))
            with self.assertRaises(bellwether.LeadershipLostError):
                guard.check()
            second, later = self.wait_for_one(others)
            self.assertEqual(second.status()["role"], "leader")
            self.assertGreater(later.term(), 0)
            self.hand_over(second, leader.id)
            self.assertTrue(later.wait_lost(PATIENCE))
            with leader.campaign(timeout=PATIENCE) as again:
                self.assertTrue(again.still_leading())
        finally:
            for election in elections:
                election.leave()

    def hand_over(self, election, to):
        """Hands leadership over as soon as the other one has been heard again."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return election.transfer(to)
            except bellwether.NotNowError as error:
                if "not heard lately" not in str(error) or time.monotonic() > end:
                    raise
                time.sleep(0.01)

    def wait_for_one(self, elections):
        """The one of these that leads first, and a guard."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for election in elections:
                if election.leadership().role == "leader":
                    try:
                        return election, election.campaign(timeout=1).wait()
                    except bellwether.NotElectedError:
                        pass  # it led no longer
            time.sleep(0.002)
        raise AssertionError("nobody leads")

    def test_a_failover_is_recorded_and_can_be_looked_at(self):
        group = peers(3)
        with tempfile.TemporaryDirectory() as folder:
            files = [pathlib.Path(folder) / f"{id}.jsonl" for id in group]
            elections = [
                Election("trio", peers=group, id=id, insecure=True, lease="1s", record=file).join()
                for id, file in zip(group, files)]
            try:
                leader, guard = self.wait_for_one(elections)
                self.assertTrue(guard.still_leading())
                leader.leave()
                others = [it for it in elections if it is not leader]
                _, next_guard = self.wait_for_one(others)
                self.assertTrue(next_guard.still_leading())
            finally:
                for election in elections:
                    election.leave()
            run = bellwether.trace(recorded=files)
            kinds = run.to_pandas()["kind"]
            self.assertTrue({"begin", "leadership"} <= set(kinds), set(kinds))
            self.assertTrue(run._repr_svg_().startswith("<svg"))
            with self.assertRaises(bellwether.ParameterError):
                run.svg("ring")


class OneMember(unittest.TestCase):
    def test_a_guard_answers_by_the_clock_and_resigns_at_the_end_of_its_block(self):
        with alone(11) as election:
            with election.campaign(timeout=PATIENCE) as guard:
                self.assertTrue(guard.still_leading())
                self.assertTrue(0 < guard.check() < 60)
                term = guard.term()
                self.assertEqual(election.leadership()[:3], (1, "leader", [1]))
                self.assertIn("member 1, leader", repr(election))
            self.assertFalse(guard.still_leading())
            with election.campaign(timeout=PATIENCE) as guard:
                self.assertGreater(guard.term(), term)
                guard.resign()
                self.assertFalse(guard.still_leading())
                with self.assertRaises(bellwether.NotNowError):
                    guard.resign()
        self.assertTrue(guard.wait_lost())
        with self.assertRaises(bellwether.GoneError):
            election.leadership()
        with self.assertRaises(bellwether.GoneError):
            election.campaign().wait()

    def test_resigning_ends_a_wait_for_the_end_of_a_reign(self):
        with alone(12) as election, election.campaign(timeout=PATIENCE) as guard:
            self.assertFalse(guard.wait_lost(0.01))
            threading.Timer(0.05, election.resign).start()
            self.assertTrue(guard.wait_lost(PATIENCE))

    def test_settings_are_refused_with_their_names(self):
        for settings, parameter, text in [
            (dict(peers=peers(13)), None, "say which one this is with id"),
            (dict(peers=peers(13), id=1), None, "key"),
            (dict(peers="1=nowhere", insecure=True), "peers", "nowhere"),
            (dict(peers=peers(13), id=9, insecure=True), None, "9"),
            (dict(peers=peers(13), insecure=True, lck="1s"), "lck", "unexpected argument 'lck'"),
            (dict(peers=peers(13), insecure=True, lease="1s", lock="1s"), None, "lease 1s"),
            (dict(peers=peers(13), insecure=True, on_change="/bin/true"), "on_change",
             "on_change is not for a program"),
        ]:
            with self.subTest(settings), self.assertRaises(ValueError) as raised:
                Election("refused", **settings).join()
            self.assertIn(text, str(raised.exception))
            self.assertNotIn("--", str(raised.exception))
            if parameter:
                self.assertEqual(raised.exception.parameter, parameter)

    def test_a_key_is_read_and_a_missing_one_is_named(self):
        command = os.environ.get("BELLWETHER")
        with tempfile.TemporaryDirectory() as folder:
            key = pathlib.Path(folder) / "group.key"
            with self.assertRaisesRegex(bellwether.BellwetherError, "group.key"):
                Election("alone", peers=peers(14, 1), key=key).join()
            if command:
                subprocess.run([command, "keygen", str(key)], check=True, capture_output=True)
                with Election("alone", peers=peers(14, 1), key=key, lease="2s") as election:
                    with election.campaign(timeout=PATIENCE) as guard:
                        self.assertTrue(guard.still_leading())

    def test_a_directory_makes_it_visible(self):
        with tempfile.TemporaryDirectory() as folder:
            with alone(15, dir=folder) as election:
                self.assertEqual(election.status()["group"], "alone")
                self.assertTrue(any(name.endswith(".sock") for name in os.listdir(folder)),
                                os.listdir(folder))


    def test_a_member_that_nobody_holds_any_more_leaves(self):
        at = peers(16, 1)
        for _ in range(2):  # so that the second one finds the address free
            election = Election("alone", peers=at, insecure=True, lease="1s").join()
            self.assertTrue(election.campaign(timeout=PATIENCE).wait().still_leading())
            del election
            gc.collect()


class Loops(unittest.TestCase):
    def test_an_event_loop_runs_while_a_member_waits_and_leads(self):
        async def run():
            ticks = 0
            async with alone(21) as election:
                async with election.campaign(timeout=PATIENCE) as guard:
                    lost = asyncio.ensure_future(guard.lost())
                    while ticks < 5:
                        await asyncio.sleep(0.001)
                        ticks += 1
                    self.assertTrue(guard.still_leading() and not lost.done())
                    loop = asyncio.get_running_loop()
                    await loop.run_in_executor(None, election.resign)
                    await asyncio.wait_for(lost, PATIENCE)
                self.assertFalse(guard.still_leading())
                again = await election.campaign(timeout=PATIENCE)
                self.assertTrue(again.still_leading())
                again.release()

        asyncio.run(run())

    def test_a_member_whose_joining_is_cancelled_leaves_again(self):
        async def run(rest):
            election = alone(23)
            joining = asyncio.ensure_future(election.__aenter__())
            await asyncio.sleep(rest)
            joining.cancel()
            with suppress(asyncio.CancelledError):
                await joining
                await election.__aexit__()  # it was faster
            return election

        for rest in (0, 0.001, 0.01):
            election = asyncio.run(run(rest))  # which waits for its threads
            self.assertIsNone(election._native, f"cancelled after {rest} s")
            with alone(23):
                pass  # the address is free

    def test_a_long_time_is_waited_for_and_what_is_no_time_is_refused(self):
        month = 30 * 86400
        with alone(24) as election:
            with election.campaign(timeout=month) as guard:
                guard.still_leading()
            for wait in (lambda: election.campaign(timeout=math.nan).__enter__(),
                         lambda: asyncio.run(election.campaign(timeout=math.nan)._wait())):
                with self.assertRaisesRegex(bellwether.ParameterError, "timeout: it is not a number"):
                    wait()
        with Election("few", peers=peers(25), id=1, insecure=True) as election:
            # In vain, and interrupted: a month is longer than the system counts.
            signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(InterruptedError()))
            with self.assertRaises(InterruptedError):
                signal.setitimer(signal.ITIMER_REAL, 0.2)
                election.campaign(timeout=month).__enter__()

    def test_a_wait_can_be_cancelled_and_times_out(self):
        async def run():
            # One of three, so that it never leads.
            async with Election("few", peers=peers(22), id=1, insecure=True) as election:
                with self.assertRaises(bellwether.NotElectedError):
                    async with election.campaign(timeout=0.05):
                        pass
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(election.campaign()._wait(), 0.05)

        asyncio.run(run())


WAITS = """
import json, sys, bellwether
with bellwether.Election("few", peers=json.loads(sys.argv[1]), id=1, insecure=True) as election:
    try:
        print("waits")
        election.campaign().wait()
    except KeyboardInterrupt:
        print("interrupted", election.leadership().role)
print("left")
"""

ENDS = """
import json, sys, bellwether
election = bellwether.Election("alone", peers=json.loads(sys.argv[1]), insecure=True).join()
guard = election.campaign().wait()
print("leads")
sys.exit(0)
"""

FORKS = """
import ctypes, json, os, sys, bellwether
peers = json.loads(sys.argv[1])
# With a lease that outlasts the fork and the end of the child on a busy machine.
with bellwether.Election("alone", peers=peers, insecure=True, lease="1s") as election:
    guard = election.campaign().wait()
    pid = ctypes.PyDLL(None).fork()
    if pid == 0:
        sys.exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), guard.still_leading())
"""


class Processes(unittest.TestCase):
    def test_ctrl_c_ends_a_wait_and_the_member_leaves(self):
        with Script(WAITS, json.dumps(peers(31))) as script:
            self.assertEqual(script.line(), "waits")
            time.sleep(0.1)  # any moment of the wait will do
            script.process.send_signal(signal.SIGINT)
            self.assertEqual(script.line(), "interrupted looking")
            self.assertEqual(script.line(), "left")
            self.assertEqual(script.end(), (0, ""))

    def test_a_program_that_forgets_to_leave_ends(self):
        with Script(ENDS, json.dumps(peers(32, 1))) as script:
            self.assertEqual(script.line(), "leads")
            self.assertEqual(script.end(), (0, ""))

    def test_a_process_that_has_joined_is_not_forked(self):
        with alone(33):
            with self.assertRaisesRegex(bellwether.ForkError, "a member of alone and must not"):
                os.fork()
            with self.assertRaises(bellwether.ForkError):
                os.forkpty()
            child = multiprocessing.get_context("fork").Process(target=print)
            with self.assertRaises(RuntimeError):
                child.start()
            done = subprocess.run([sys.executable, "-c", "print(7)"], capture_output=True)
            self.assertEqual(done.stdout, b"7\n", "other programs can be started")
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        self.assertEqual(os.waitpid(pid, 0)[1], 0, "after it has left, it may fork")

    def test_a_child_that_was_forked_all_the_same_is_refused(self):
        # By C, which no hook of Python sees.
        import ctypes
        with alone(34) as election, election.campaign(timeout=PATIENCE) as guard:
            reader, writer = os.pipe()
            pid = ctypes.PyDLL(None).fork()
            if pid == 0:
                try:
                    said = []
                    for ask in (guard.still_leading, election.leadership, election.leave):
                        try:
                            ask()
                        except bellwether.ForkError as error:
                            said.append(str(error))
                    os.write(writer, "\n".join(said).encode())
                finally:
                    os._exit(0)
            os.close(writer)
            with os.fdopen(reader) as lines:
                said = lines.read().splitlines()
            os.waitpid(pid, 0)
            self.assertEqual(len(said), 3)
            self.assertIn(f"process {os.getpid()} joined the group", said[0])
            self.assertTrue(guard.still_leading(), "the parent leads on")

    def test_a_child_that_was_forked_all_the_same_ends_as_it_likes(self):
        with Script(FORKS, json.dumps(peers(35, 1))) as script:
            self.assertEqual(script.line(), "7 True")
            self.assertEqual(script.end(), (0, ""))


if __name__ == "__main__":
    unittest.main()

"""The laboratory: the answers are those of the command, as arrays and tables."""

import datetime
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

import numpy as np

import bellwether

from support import PATIENCE

ROOT = pathlib.Path(__file__).parents[2]
#: The command, if it was built: what it prints is compared.
COMMAND = os.environ.get("BELLWETHER")


def printed(*words):
    """What the command prints as JSON."""
    done = subprocess.run([COMMAND, *words, "--format", "json"], capture_output=True, check=True)
    return json.loads(done.stdout)


class Simulating(unittest.TestCase):
    def test_every_run_is_a_row_and_the_summaries_are_those_of_the_rows(self):
        runs = bellwether.simulate("le-s", nodes=20, loss=0.4, runs=200, seed=7)
        self.assertEqual((runs.protocol, runs.nodes, runs.seed), ("le-s", 20, 7))
        self.assertEqual((len(runs), len(runs.numbers), runs.params["loss"]), (200, 200, 0.4))
        delay = runs["leadership_delay"]
        self.assertEqual((delay.shape, delay.dtype), ((200,), np.float64))
        self.assertTrue(runs.settled.all())
        summary = runs.summaries["leadership_delay"]
        self.assertAlmostEqual(summary.mean, float(delay.mean()), places=12)
        self.assertEqual((summary.max, summary.count), (float(delay.max()), 200))
        self.assertIn("leadership_delay", repr(runs))
        with self.assertRaisesRegex(KeyError, "no run has the measure 'dealy'; there are "):
            runs["dealy"]

    def test_the_same_seed_gives_the_same_runs_whatever_the_threads(self):
        few = dict(nodes=10, loss=0.2, runs=50)
        one = bellwether.simulate("le-m", threads=1, **few)
        two = bellwether.simulate("le-m", threads=2, **few)
        other = bellwether.simulate("le-m", seed=2, **few)
        for name in one:
            np.testing.assert_array_equal(one[name], two[name])
        self.assertFalse(np.array_equal(one["leadership_delay"], other["leadership_delay"]))

    def test_a_run_without_a_value_is_not_a_number(self):
        runs = bellwether.simulate(
            "le-s", nodes=10, listen="3s", scenario="departure", loss=0.6, window=4, runs=200)
        some = [name for name in runs if np.isnan(runs[name]).any()]
        self.assertTrue(some and runs.unsettled)
        for name in some:
            there = int((~np.isnan(runs[name])).sum())
            self.assertEqual(there, runs.summaries[name].count, name)
            self.assertEqual(200 - there, runs.summaries[name].cut, name)
            self.assertTrue(np.isnan(runs.summaries[name].ci95).all(), name)

    def test_values_may_be_numbers_texts_lengths_and_those_of_numpy(self):
        expected = bellwether.simulate("le-s", nodes=5, delay="0.25s", runs=3).raw
        for delay in (0.25, "250ms", datetime.timedelta(milliseconds=250), np.float64(0.25),
                      np.longdouble(0.25), np.timedelta64(250_000_000, "ns"),
                      np.timedelta64(250, "ms"), np.array(np.timedelta64(250_000, "us"))):
            found = bellwether.simulate("le-s", nodes=np.int64(5), delay=delay, runs=3).raw
            self.assertEqual(found["metrics"], expected["metrics"], delay)
        small = bellwether.simulate("le-s", nodes=5, loss=1e-7, runs=3)
        self.assertEqual(small.params["loss"], 1e-7)
        patient = bellwether.simulate("le-s", nodes=5, listen=math.inf, runs=3)
        self.assertIsNone(patient.params["listen"])
        lines = bellwether.simulate("ad-hoc", nodes=3, link=["0-1", "1-2"], runs=2)
        self.assertEqual(lines.params["link"], [[0, 1], [1, 2]])
        few = dict(nodes=5, runs=3, scenario="departure", listen="3s")
        plain = bellwether.simulate("le-s", **few).raw["metrics"]
        for off in (None, False, np.False_):
            found = bellwether.simulate("le-s", bye=off, **few).raw
            self.assertEqual((found["metrics"], found["params"]["bye"]), (plain, False))
        for on in (True, np.True_):
            self.assertTrue(bellwether.simulate("le-s", bye=on, **few).params["bye"])

    def test_pandas_gets_a_row_for_each_run_and_for_each_measure(self):
        runs = bellwether.simulate("le-s", nodes=10, runs=20)
        frame = runs.to_pandas()
        self.assertEqual((len(frame), frame.index.name, list(frame.columns)[0]), (20, "run", "settled"))
        np.testing.assert_array_equal(frame["leadership_delay"], runs["leadership_delay"])
        summary = runs.summary_to_pandas()
        self.assertEqual(summary.loc["leadership_delay", "count"], 20)

    def test_a_scenario_file_is_repeated(self):
        runs = bellwether.simulate(ROOT / "scenarios" / "failover.toml", runs=4)
        self.assertEqual(len(runs), 4)
        with self.assertRaisesRegex(bellwether.ParameterError, "nodes is set by the file"):
            bellwether.simulate(ROOT / "scenarios" / "failover.toml", nodes=3)
        with tempfile.NamedTemporaryFile(suffix=".toml") as file:
            file.write(b"protocol = 7")
            file.flush()
            with self.assertRaisesRegex(bellwether.FileError, "protocol"):
                bellwether.simulate(file.name)

    def test_a_rare_event_has_an_estimate(self):
        told = []
        few = dict(nodes=2, loss=0.1, listen="6.5s", window="20s", effort=40, replications=5)
        found = bellwether.simulate("le-s", rare="false-departure",
                                    progress=lambda *it: told.append(it), **few)
        self.assertIsInstance(found, bellwether.Estimate)
        low, high = found.ci95
        self.assertTrue(0 < low < found.probability < high < 1e-3, found)
        self.assertEqual(told[-1], (6, 6), "the pilot runs, and five replications")
        np.testing.assert_allclose(found.replications.mean(), found.probability, rtol=1e-12)
        self.assertIn("false-departure", repr(found))
        self.assertEqual("large error" in repr(found), found.large_error)
        if COMMAND:
            words = [word for name, value in few.items() for word in (f"--{name}", str(value))]
            same = printed("sim", "le-s", "--rare", "false-departure", *words)
            self.assertEqual(same["replications"], found["replications"])
        with self.assertRaisesRegex(bellwether.ParameterError, "choose a finite listen"):
            bellwether.simulate("le-s", rare="false-departure", nodes=2, loss=0.1)
        with self.assertRaises(bellwether.ParameterError):
            bellwether.simulate("le-s", effort=50)

    def test_progress_is_told_and_other_threads_run_meanwhile(self):
        told, ticks, done = [], [0], threading.Event()

        def count():
            while not done.is_set():
                ticks[0] += 1
                time.sleep(0.001)

        beside = threading.Thread(target=count)
        beside.start()
        # It ends after a few reports, however fast the machine is; on a busy one it goes on until
        # the work has begun, so that its whole is known, and the other thread has had its turn.
        end = time.monotonic() + PATIENCE

        def progress(so_far, total):
            if total:
                told.append((so_far, total, ticks[0]))
            late = time.monotonic() > end
            if late or len(told) >= 3 and told[-1][2] > told[0][2]:
                raise ArithmeticError("enough")

        try:
            with self.assertRaisesRegex(ArithmeticError, "enough"):
                bellwether.simulate("local-leader", nodes=30, runs=10**6, progress=progress)
        finally:
            done.set()
            beside.join()
        self.assertEqual({total for _, total, _ in told}, {10**6})
        self.assertTrue(told[0][0] <= told[1][0] <= told[2][0])
        self.assertGreater(told[-1][2], told[0][2], "the interpreter was not free")

    def test_progress_is_told_for_the_last_time_when_all_is_done(self):
        told = []
        bellwether.simulate("le-s", nodes=5, runs=7, progress=lambda *it: told.append(it))
        self.assertEqual(told[-1], (7, 7))

    def test_a_bar_of_tqdm_follows_if_there_is_tqdm(self):
        bars = []

        class Bar:
            def __init__(self, **wishes):
                self.wishes, self.n, self.total, self.closed = wishes, 0, None, False
                bars.append(self)

            def update(self, more):
                self.n += more

            def close(self):
                self.closed = True

        with mock.patch("tqdm.auto.tqdm", Bar):
            bellwether.simulate("le-s", nodes=5, runs=7)
            bellwether.simulate("le-s", nodes=5, runs=7, progress=True)
            bellwether.simulate("le-s", nodes=5, runs=7, progress=False)
            with self.assertRaises(bellwether.ParameterError):
                bellwether.simulate("le-s", nodes=0)
        self.assertEqual([(it.n, it.total, it.closed) for it in bars[:2]], [(7, 7, True)] * 2)
        self.assertEqual((len(bars), bars[2].closed), (3, True), "one for each that has a bar")
        # None: only where somebody looks.
        self.assertEqual([it.wishes["disable"] for it in bars], [None, False, None])
        with mock.patch.dict(sys.modules, {"tqdm.auto": None}):
            self.assertEqual(len(bellwether.simulate("le-s", nodes=5, runs=7)), 7)
            with self.assertRaisesRegex(ImportError, "pip install tqdm"):
                bellwether.simulate("le-s", nodes=5, runs=7, progress=True)

    def test_an_interrupt_ends_a_simulation(self):
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        with self.assertRaises(KeyboardInterrupt):
            timer.start()
            bellwether.simulate("local-leader", nodes=30, runs=10**6, progress=False)
        timer.join()

    @unittest.skipUnless(COMMAND, "needs BELLWETHER, the path of the command")
    def test_the_command_prints_the_same(self):
        words = ["sim", "local-leader", "--loss", ".1", "--scenario", "departure", "--runs", "20"]
        found = bellwether.simulate("local-leader", loss=0.1, scenario="departure", runs=20).raw
        expected = printed(*words)
        for answer in (found, expected):
            del answer["wall_seconds"]
        self.assertEqual(found, expected)


class Sweeping(unittest.TestCase):
    KEYS = {"sim": "le-s", "runs": 40, "measures": ["messages", "rounds"],
            "fixed": {"loss_model": "correlated", "nodes": np.int64(10)},
            "axis": [{"loss": np.array([0.1, 0.3])},
                     {"suppress": [datetime.timedelta(seconds=1), "2s"]}]}
    FILE = """
        sim = "le-s"
        runs = 40
        measures = ["messages", "rounds"]
        [fixed]
        loss-model = "correlated"
        nodes = 10
        [[axis]]
        loss = [0.1, 0.3]
        [[axis]]
        suppress = ["1s", "2s"]
    """

    def test_a_dictionary_has_the_rows_of_a_file_and_of_the_command(self):
        swept = bellwether.sweep(self.KEYS)
        self.assertEqual((len(swept), swept[7]["loss"], swept[7]["suppress"]), (8, 0.3, "2s"))
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "sweep.toml"
            file.write_text(self.FILE)
            self.assertEqual(bellwether.sweep(file).rows, swept.rows)
            if COMMAND:
                words = [COMMAND, "sweep", str(file), "--format", "json"]
                done = subprocess.run(words, capture_output=True, check=True, text=True)
                self.assertEqual([json.loads(line) for line in done.stdout.splitlines()],
                                 swept.rows)
        one = swept[0]
        same = bellwether.simulate("le-s", nodes=10, loss=0.1, loss_model="correlated", runs=40,
                                   suppress=1, seed=one["seed"])
        self.assertEqual(same.summaries["messages"].mean, one["mean"])

    def test_pandas_gets_a_column_for_every_axis(self):
        frame = bellwether.sweep(self.KEYS).to_pandas()
        self.assertEqual(frame.groupby(["loss", "metric"]).size().tolist(), [2, 2, 2, 2])
        self.assertTrue((frame["low"] <= frame["mean"]).all())
        self.assertIn("suppress", repr(bellwether.sweep(self.KEYS)))

    def test_pieces_are_kept_in_a_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            first = bellwether.sweep(self.KEYS, out=folder, plot="x=loss,y=messages")
            self.assertEqual(bellwether.sweep(self.KEYS, out=folder).rows, first.rows)
            there = {path.name for path in pathlib.Path(folder).iterdir()}
            self.assertLessEqual({"pieces", "plot.svg", "rows.csv", "sweep.toml"}, there)
            again = bellwether.sweep(pathlib.Path(folder) / "sweep.toml")
            self.assertEqual(again.rows, first.rows)

    def test_what_is_refused_names_the_rule(self):
        for keys, rule in [
                ({"sim": "le-x"}, "le-x"),
                ({"sim": "le-s", "axis": [{"nodse": [1]}]}, "nodse"),
                ({"sim": "le-s", "axis": [{"nodes": [object()]}]}, "not object")]:
            with self.assertRaisesRegex(bellwether.ParameterError, rule):
                bellwether.sweep(keys)
        with self.assertRaisesRegex(bellwether.ParameterError, "shard"):
            bellwether.sweep(self.KEYS, shard="1/2")
        with self.assertRaisesRegex(bellwether.BellwetherError, "no-such-file"):
            bellwether.sweep("no-such-file.toml")

    def test_progress_is_told(self):
        told = []
        bellwether.sweep(self.KEYS, progress=lambda done, total: told.append((done, total)))
        self.assertEqual(told[-1], (160, 160))


class Documentation(unittest.TestCase):
    def test_the_lines_of_the_readme_draw_a_plot(self):
        for page in ("README.md", "docs/python.md"):
            _, rest = (ROOT / page).read_text().split("\npip install ./python", 1)
            lines = rest.split("```python\n", 1)[1].split("```", 1)[0]
            self.assertEqual(len(lines.splitlines()), 4, "with pip install they are five")
            with self.subTest(page), tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([sys.executable, "-c", lines], cwd=folder, capture_output=True)
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                picture = (pathlib.Path(folder) / "delay.png").read_bytes()
                self.assertTrue(picture.startswith(b"\x89PNG"))


class Refusing(unittest.TestCase):
    def test_what_is_refused_names_the_parameter_and_the_rule(self):
        for params, parameter, text in [
            (dict(loss=2), "loss", "invalid value '2' for 'loss': "),
            (dict(nodes=0), "nodes", "a group has from 1 to "),
            (dict(los=0.1), "los", "unexpected argument 'los' found"),
            (dict(jitter="5ms"), "jitter", "jitter has no effect with mapping random"),
            (dict(graph="tree"), "graph", "graph is no flag of le-s"),
            (dict(loss_model="bursts"), "loss_model", "add loss, or leave loss_model out"),
            (dict(nodes=object()), "nodes", "a value is a text, a number"),
            (dict(samples="/tmp/x"), "samples", "samples is not for a program; leave it out"),
        ]:
            with self.subTest(params), self.assertRaises(bellwether.ParameterError) as raised:
                bellwether.simulate("le-s", runs=2, **params)
            line = str(raised.exception)
            self.assertIn(text, line)
            self.assertNotIn("--", line)
            self.assertEqual((len(line.splitlines()), raised.exception.parameter), (1, parameter))
        with self.assertRaises(ValueError):
            bellwether.simulate("le-x")

    @unittest.skipUnless(COMMAND, "needs BELLWETHER, the path of the command")
    def test_the_command_refuses_with_the_same_words(self):
        for flag, value in [("--burst", "0"), ("--loss", "1.5"), ("--straggle", "1s")]:
            name = flag[2:].replace("-", "_")
            done = subprocess.run([COMMAND, "sim", "le-s", flag, value], capture_output=True)
            with self.assertRaises(bellwether.ParameterError) as raised:
                bellwether.simulate("le-s", **{name: value})
            said = done.stderr.decode().replace("bellwether: ", "").replace("; try --help", "")
            said = said.replace(" <P>", "").replace("--loss-model", "loss_model")
            self.assertEqual(str(raised.exception), said.replace("--", "").strip())


class Tracing(unittest.TestCase):
    def test_a_run_is_a_table_and_a_picture(self):
        run = bellwether.trace("le-s", nodes=4, seed=3)
        self.assertEqual(run.about, "le-s with 4 processes")
        self.assertEqual(len(run.records), len(run))
        kinds = [it["kind"] for it in run]
        self.assertEqual((kinds[0], kinds.count("start")), ("start", 4))
        frame = run.to_pandas()
        self.assertEqual(list(frame.columns)[:3], ["time", "node", "kind"])
        self.assertEqual(len(frame), len(run))
        self.assertTrue(frame["time"].is_monotonic_increasing)
        self.assertTrue(run._repr_svg_().startswith("<svg"))
        self.assertIn("mine", run.svg(title="mine"))
        self.assertIn("  0.000", run.transcript())

    def test_views_are_those_that_the_run_has(self):
        ring = bellwether.trace("chang-roberts", nodes=5)
        self.assertNotEqual(ring.svg("ring"), ring.svg("time"))
        for view in ("graph", "sideways"):
            with self.assertRaises(bellwether.ParameterError) as raised:
                ring.svg(view)
            self.assertEqual(raised.exception.parameter, "view")

    def test_a_scenario_file_is_shown(self):
        run = bellwether.trace(ROOT / "scenarios" / "deadlock.toml")
        self.assertTrue(len(run) > 3 and run.about)
        with self.assertRaisesRegex(bellwether.ParameterError, "name a protocol"):
            bellwether.trace()
        with self.assertRaises(bellwether.BellwetherError):
            bellwether.trace(recorded=["/no/such/file"])


class Checking(unittest.TestCase):
    def test_a_promise_that_is_kept_holds(self):
        verdict = bellwether.check("local-leader", nodes=3, schedules=50)
        self.assertTrue(verdict.holds, verdict)
        self.assertEqual((verdict.promise, verdict.schedules), ("never-two", 50))
        self.assertIsNone(verdict.violation)
        table = verdict.to_pandas()
        self.assertTrue((table["breaches"] == 0).all() and (table["checks"] > 0).any())

    def test_a_violation_is_shrunk_and_can_be_traced(self):
        with tempfile.TemporaryDirectory() as folder:
            before = os.getcwd()
            os.chdir(folder)
            try:
                verdict = bellwether.check("le-s", promise="never-two", schedules=64)
                self.assertEqual(os.listdir(folder), [], "no file is written")
            finally:
                os.chdir(before)
            found = verdict.violation
            self.assertFalse(verdict.holds)
            self.assertTrue(found._repr_svg_().startswith("<svg"))
            file = pathlib.Path(folder) / "violation.toml"
            file.write_text(found.scenario)
            self.assertGreater(len(bellwether.trace(file)), 0)

    def test_what_every_schedule_draws_cannot_be_given(self):
        with self.assertRaisesRegex(bellwether.ParameterError, "every schedule draws its own"):
            bellwether.check("le-s", loss=0.1)


class Analyzing(unittest.TestCase):
    def test_a_quantity_has_a_printed_and_a_corrected_form_and_a_simulation(self):
        found = bellwether.analyze(
            "le-s.leadership-delay", nodes=10, loss=0.4, simulate=500)
        self.assertEqual(found.params["nodes"], 10)
        low, high = found.simulated.ci95
        self.assertTrue(low < found.simulated.mean < high)
        self.assertLess(abs(found.corrected / found.simulated.mean - 1), 0.2)
        self.assertEqual(found["unit"], found.unit)
        self.assertIn("corrected", repr(found))
        self.assertIn(found.quantity, [it["quantity"] for it in bellwether.quantities()])

    def test_what_does_not_matter_is_refused(self):
        with self.assertRaisesRegex(bellwether.ParameterError, "has no effect on le-s"):
            bellwether.analyze("le-s.leadership-delay", departures=0.5)
        with self.assertRaisesRegex(bellwether.ParameterError, "did you mean"):
            bellwether.analyze("le-s.leadership-dealy")


class Planning(unittest.TestCase):
    def test_a_plan_can_be_simulated(self):
        plan = bellwether.plan("local-leader", detect="1s", loss=0.01, delay="2ms", simulate=20)
        self.assertEqual(plan.goals["detect"], 1.0)
        self.assertIs(plan.confirmed, True)
        runs = bellwether.simulate(**{**plan.trial, "runs": 3})
        self.assertEqual(runs.params["lock"], bellwether.simulate(
            "local-leader", runs=1, **{k: v for k, v in plan.params.items()}).params["lock"])

    def test_goals_that_cannot_be_reached_are_refused(self):
        with self.assertRaises(bellwether.ParameterError):
            bellwether.plan("local-leader", detect="1us", simulate=0)
        self.assertIsNone(bellwether.plan("announce-listen", simulate=0).confirmed)


class Built(unittest.TestCase):
    def test_the_native_module_is_for_all_later_versions_of_python(self):
        name = pathlib.Path(bellwether._native.__file__).name
        self.assertEqual(name, "_native.abi3.so")
        # What it needs of the interpreter must be in the stable interface: no private name.
        needs = pathlib.Path(bellwether._native.__file__).read_bytes()
        self.assertIn(b"PyModuleDef_Init", needs)
        self.assertNotIn(b"_PyObject_GC_New", needs)


class Describing(unittest.TestCase):
    def test_parameters_have_the_words_of_the_commands_help(self):
        told = {it.name: it for it in bellwether.parameters("simulate", "le-s")}
        self.assertEqual((told["announce"].kind, told["bye"].kind), ("length", "switch"))
        self.assertIn("departure", told["scenario"].choices)
        self.assertNotIn("graph", told)
        for function in (bellwether.simulate, bellwether.trace, bellwether.check):
            self.assertIn("    nodes: count\n", function.__doc__)
        self.assertIn(told["nodes"].help.split(" [")[0], bellwether.simulate.__doc__)
        with self.assertRaisesRegex(bellwether.ParameterError, "knows no protocol 'le-x'"):
            bellwether.parameters("simulate", "le-x")
        with self.assertRaisesRegex(bellwether.ParameterError, "no question is called"):
            bellwether.parameters("ask")

    def test_the_stubs_are_up_to_date(self):
        script = ROOT / "python" / "stubs.py"
        done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_every_protocol_is_listed_and_can_be_simulated(self):
        for row in bellwether.protocols():
            with self.subTest(row["protocol"]):
                runs = bellwether.simulate(row["protocol"], nodes=4, runs=2)
                self.assertEqual(len(runs), 2)


if __name__ == "__main__":
    unittest.main()

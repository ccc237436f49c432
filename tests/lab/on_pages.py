"""Measure, figures and judge."""

import csv
import json
import math
import pathlib
import re
import subprocess
import tempfile
import time
import urllib.parse

from helpers import BROKEN, DROP, LEFT, RIGHT, SLIDE, quiet, settled, share, stage
from webdriver import PATIENCE


def drawn_after(browser, place):
    """How long it takes from a move of a slider until another curve is seen, in seconds."""
    curve = browser.script("return document.querySelector('.plot .line').getAttribute('d')")
    asked = time.monotonic()
    browser.script(SLIDE, "#slider-loss", place)
    browser.wait(
        "another curve",
        # Before the first run there may be a formula alone, and no curve.
        "const now = document.querySelector('.plot .line')?.getAttribute('d');"
        "return now && now !== arguments[0]",
        curve,
    )
    return time.monotonic() - asked


def a_slider_changes_the_curve(lab, browser):
    browser.open(lab.address("measure?protocol=le-s&nodes=1000"))
    done = "return !document.body.dataset.busy && document.querySelector('.state')?.dataset.mean"
    before = browser.wait("the first result", done)
    best, end = math.inf, time.monotonic() + PATIENCE
    while best >= 1 and time.monotonic() < end:  # another program may have taken the processor
        for place in (500, 550, 600):
            best = min(best, drawn_after(browser, place))
            browser.wait("the result", done)
    print(f"  (another picture of 1000 processes {1000 * best:.0f} ms after the move, at best)")
    assert best < 1, best
    after = browser.wait("the result", done)
    assert after != before, (before, after)
    assert "loss=0.57" in browser.script("return location.hash"), browser.script("return location.hash")
    browser.choose("#beside-0", "le-a")
    browser.wait("two curves", "return document.querySelectorAll('.table-box tbody tr').length === 2")
    browser.wait("the result", done)  # until then the page grows, and what is below moves
    browser.choose("#sweep-over", "loss")
    browser.write("#sweep-count", "4")
    browser.click("#sweep")
    browser.wait("four points", "return document.querySelectorAll('.plot .point').length === 4")
    quiet(browser)


def a_figure_is_computed_and_one_of_its_runs_played(lab, browser):
    browser.open(lab.address("figures"))
    browser.wait("the list", "return document.querySelectorAll('.figure-list a').length > 5")
    browser.open(lab.address("figures?id=5.6"))
    browser.wait("the figure", "return document.querySelector('img.figure')?.naturalWidth > 100")
    assert browser.script("return document.querySelectorAll('.claims .verdict').length") > 0
    browser.choose("#figure-point", "1")
    browser.click("#figure-play")
    settled(browser)
    quiet(browser)


def a_violation_opens_on_the_stage(lab, browser):
    browser.open(lab.address("judge"))
    browser.wait("the form", "return document.querySelector('#judge-protocol')")
    browser.choose("#judge-protocol", "le-s")
    browser.choose("#judge-promise", "never-two")
    browser.click("#judge-start")
    browser.wait("a violation", "return document.querySelector('#judge-open')")
    words = browser.script("return document.querySelector('.judge .state').textContent")
    assert words.endswith(" a second"), f"nothing is shrunk any more: {words}"
    browser.click("#judge-open")
    settled(browser)
    words = browser.wait("its name", BROKEN)
    assert "never-two is broken" in words, words
    # The server has judged it by the promise of the file; without it, nothing is broken.
    fragment = browser.script("return location.hash.slice(1)")
    share(browser, "scenario")
    seed = re.search(r"seed = (\d+)", urllib.parse.unquote_plus(fragment)).group(1)
    saved = browser.file(f"le-s-{seed}.toml")
    browser.open(lab.address(fragment.replace("promise+%3D+%22never-two%22%0A", "") + "&broken=never-two"))
    settled(browser)
    words = browser.script("return document.querySelector('.stage .notice').className")
    assert "bad" not in words, "an address cannot say that something is broken"
    # The file that was saved says by which promise it is judged.
    browser.script(DROP, saved, "saved.toml")
    words = browser.wait("its name", BROKEN)
    assert "never-two is broken" in words, words
    quiet(browser)


def every_timer_has_a_slider_and_moves_the_curve(lab, browser):
    told = lab.json("/api/protocols")
    for protocol in told["protocols"]:
        flags = [told["flags"][number] for number in protocol["measure"]]
        timers = {flag["name"] for flag in flags
                  if flag["kind"] == "length" and flag.get("parameter") and not flag.get("only_with")}
        browser.open(lab.address(f"measure?protocol={protocol['name']}&nodes=5&runs=16"))
        browser.wait("its sliders", "return document.querySelector('#slider-nodes')"
                     " && document.querySelector('#measure-protocol').value === arguments[0]",
                     protocol["name"])
        shown = set(browser.script("return [...document.querySelectorAll('.slide input')]"
                                   ".map((e) => e.id.replace('slider-', ''))"))
        swept = set(browser.script("return [...document.querySelector('#sweep-over').options]"
                                   ".map((e) => e.value)"))
        assert timers <= shown and timers <= swept, (protocol["name"], timers - shown, timers - swept)
    done = "return !document.body.dataset.busy && document.querySelector('.state')?.dataset.mean"
    browser.open(lab.address("measure?protocol=local-leader&scenario=departure&window=2s&runs=50&unchecked=true"))
    before = browser.wait("the result", done)
    assert browser.script("return document.querySelector('#slider-lock').previousSibling.textContent") == "150ms"
    browser.script(SLIDE, "#slider-lock", 700)
    after = browser.wait("another result", f"const now = (() => {{ {done} }})();"
                         "return now && now !== arguments[0] && now", before)
    assert float(after) > 2 * float(before), "a longer lock keeps a group longer without a leader"
    # What follows from the delay moves with it.
    browser.open(lab.address("measure?protocol=bully&runs=16"))
    reply = "return document.querySelector('#slider-reply')?.previousSibling.textContent"
    browser.wait("the result", done)
    assert browser.script(reply) == "1s", browser.script(reply)
    browser.script(SLIDE, "#slider-delay", 700)
    browser.wait("another time-out", f"const now = (() => {{ {reply} }})(); return now !== '1s'")
    quiet(browser)


def a_mean_of_which_runs_were_cut_says_so(lab, browser):
    browser.open(lab.address("measure?protocol=le-s&nodes=50&loss=.4&listen=2.5s&scenario=departure"
                             "&window=7s&runs=300&measure=reestablishment_delay"))
    browser.wait("the result", "return !document.body.dataset.busy && document.querySelector('.state')?.dataset.mean")
    words = browser.wait("that runs were cut", "return document.querySelector('.table-box .cut')?.textContent")
    assert words.endswith(" of 300 runs cut; no interval"), words
    assert not browser.script("return document.querySelector('.plot .mark.mean rect')"), "an interval is drawn"
    quiet(browser)


def a_formula_is_shown_before_there_are_runs_and_says_so(lab, browser):
    browser.open(lab.address("measure?protocol=local-leader&nodes=1000"))
    words = "const words = document.querySelector('.state')?.textContent;"
    browser.wait("the formula", f"{words} return words?.startsWith('What the formula gives; the first run takes"
                 " longer')")
    # The group that stands in for it comes beside it, and the formula stays.
    browser.wait("the group beside", f"{words} return / in place of 1000: \\d+ runs?$/.test(words)")
    seen = browser.script("return [...document.querySelectorAll('.plots .plot')].map((plot) => ({"
                          "marks: plot.querySelectorAll('.mark.corrected').length,"
                          " runs: plot.querySelectorAll('.steps, .line').length,"
                          " labels: [...plot.querySelectorAll('text')].map((e) => e.textContent)}))")
    assert [(plot["marks"], plot["runs"]) for plot in seen] == [(1, 1), (1, 1)], seen
    quiet(browser)


# Shows a formula alone, as the server says it before there is a run.
FORM_ALONE = """
const real = window.fetch;
window.fetch = async (path, how) => {
    if (path !== '/api/measure') return real(path, how);
    const lines = [
        {lab: 'asked', command: '', protocol: 'local-leader', nodes: 1000, runs: 20000, params: {}},
        {lab: 'result', runs: 0, of: 20000, measure: 'election_time',
            forms: {printed: 0.1, corrected: 0.2, note: null}},
        {lab: 'end', runs: 0, seconds: 1},
    ];
    return new Response(lines.map((line) => JSON.stringify(line)).join('\\n') + '\\n');
};
"""


def a_formula_alone_has_axes_and_marks_in_both_plots(lab, browser):
    browser.open(lab.address("measure?protocol=local-leader&nodes=5&runs=16"))
    browser.wait("the result", "return !document.body.dataset.busy && document.querySelector('.state')?.dataset.mean")
    browser.script(FORM_ALONE + SLIDE, "#slider-nodes", 400)
    browser.wait("the formula", "return document.querySelector('.state').dataset.runs === '0'")
    seen = browser.script("return [...document.querySelectorAll('.plots .plot')].map((plot) => ({"
                          "marks: [...plot.querySelectorAll('.mark')].map((e) => e.classList[1]),"
                          " labels: [...plot.querySelectorAll('text[text-anchor=end]')].map((e) => e.textContent)}))")
    for plot in seen:
        assert plot["marks"] == ["printed", "corrected"], seen
        shares = [float(label) for label in plot["labels"][:-1]]
        assert min(shares) == 0 and max(shares) == 1, seen
    quiet(browser)


def the_measures_of_another_protocol_replace_those_of_the_first(lab, browser):
    done = "return !document.body.dataset.busy && document.querySelector('.state')?.dataset.mean"
    listed = "return [...document.querySelector('#measure-what').options].map((e) => e.value)"
    browser.open(lab.address("measure?protocol=bully&runs=16"))
    browser.wait("the result", done)
    first = browser.script(listed)
    browser.choose("#measure-protocol", "ad-hoc")
    second = browser.wait("other measures", f"const now = (() => {{ {listed} }})();"
                          "return now.join() !== arguments[0].join() && now", first)
    assert len(first) == len(second), "as many, so that only their names differ"
    quiet(browser)


def a_switch_that_is_on_by_default_is_switched_off(lab, browser):
    box = "#flags-last-round-all"
    shown = f"return document.querySelector('{box}')?.checked"
    stage(lab, browser, "protocol=probabilistic")
    assert browser.script(shown) is True
    before = settled(browser)
    browser.script(f"document.querySelector('{box}').click()")
    browser.wait("its address", "return location.hash.includes('last-round-all=false')")
    settled(browser)
    stage(lab, browser, "protocol=probabilistic&last-round-all=false")
    assert browser.script(shown) is False
    share(browser, "command")
    assert "--last-round-all=false" in browser.copied(), browser.copied()
    stage(lab, browser, "protocol=probabilistic")
    assert settled(browser) == before and browser.script(shown) is True
    quiet(browser)


def the_help_of_a_field_is_seen_by_whoever_has_no_mouse(lab, browser):
    stage(lab, browser, "protocol=local-leader")
    browser.script("for (const one of document.querySelectorAll('details')) one.open = true")
    browser.script("document.querySelector('#flags-lock').focus()")
    words = browser.script("const e = document.querySelector('.form-help'); return e.offsetHeight && e.textContent")
    assert words and "0 < lock <= 86400s" in words, words
    quiet(browser)


def the_tabs_of_the_stage_are_turned_with_the_arrows(lab, browser):
    stage(lab, browser, "protocol=le-s")
    chosen = "return [document.activeElement.dataset.side, document.querySelector('#side-lessons').hidden]"
    browser.script("document.querySelector('#tab-run').focus()")
    browser.keys(RIGHT)
    assert browser.script(chosen) == ["lessons", False], browser.script(chosen)
    browser.keys(LEFT)
    assert browser.script(chosen) == ["run", True], browser.script(chosen)
    quiet(browser)


def what_is_measured_is_saved_as_a_table(lab, browser):
    browser.open(lab.address("measure?protocol=le-s&nodes=20&loss=.2&runs=200&with=le-a"))
    browser.wait("the result", "return !document.body.dataset.busy && document.querySelector('.state')?.dataset.mean")
    browser.choose("#sweep-over", "loss")
    browser.write("#sweep-count", "3")
    browser.click("#sweep")
    browser.wait("three points", "return document.querySelectorAll('.plot .point').length === 3")
    browser.script("[...document.querySelectorAll('.measure button')].find((e) =>"
                   " e.textContent === 'Save CSV').click()")
    measure = browser.script("return document.querySelector('#measure-what').value")
    rows = list(csv.DictReader(browser.file(f"le-s-{measure}.csv").splitlines()))
    assert [(row["protocol"], row["flag"]) for row in rows] == [
        ("le-s", ""), ("le-a", ""), ("le-s", "loss"), ("le-s", "loss"), ("le-s", "loss")], rows
    result = lab.lines("/api/measure", protocol="le-s", flags={"nodes": "20", "loss": ".2"}, runs=200,
                       measure=measure)[-2]
    assert float(rows[0]["mean"]) == result["summary"]["mean"] and rows[0]["runs"] == "200", rows[0]
    low, high = result["summary"]["ci95"]
    assert (float(rows[0]["low"]), float(rows[0]["high"])) == (low, high), rows[0]
    forms = result["forms"]
    assert [float(rows[0][key]) for key in ("printed", "corrected")] == [forms["printed"], forms["corrected"]]
    assert rows[2]["corrected"] and rows[0]["cut"] == "0", rows
    # The command makes the same points of the file that is saved.
    browser.click("#sweep-save")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "le-s-over-loss.toml")
        path.write_text(browser.file(path.name))
        done = subprocess.run([lab.program, "sweep", str(path), "--format", "json"], check=True,
                              stdout=subprocess.PIPE, text=True)
    made = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["mean"] for one in made] == [float(row["mean"]) for row in rows[2:]], made
    assert [one["loss"] for one in made] == [float(row["value"]) for row in rows[2:]], made
    quiet(browser)


def figures_are_sifted_by_verdict_and_by_paper(lab, browser):
    listed = ("return [...document.querySelectorAll('.figure-list a')].map((e) => e.dataset.figure)")
    browser.open(lab.address("figures?id=bully-3-12"))
    browser.wait("the figure", "return document.querySelector('img.figure')?.naturalWidth > 100")
    figures = lab.json("/api/figures")["figures"]
    every = [figure["id"] for figure in figures]
    assert browser.script(listed) == every
    known = {figure["id"]: [one["verdict"] for one in figure["verdicts"] or []] for figure in figures}
    fits = {
        "all": lambda found: True,
        "confirmed": lambda found: "confirmed" in found,
        "refuted": lambda found: "refuted" in found,
        "open": lambda found: any(one not in ("confirmed", "refuted") for one in found),
        "not computed": lambda found: not found,
    }
    for name, fit in fits.items():
        browser.click(f'[data-filter="{name}"]')
        expected = [id for id in every if fit(known[id])]
        assert browser.script(listed) == expected, (name, browser.script(listed), expected)
    browser.click('[data-filter="all"]')
    for paper in {figure["paper"] for figure in figures}:
        browser.choose(".figures .side select", paper)
        assert browser.script(listed) == [it["id"] for it in figures if it["paper"] == paper], paper
    browser.click('[data-filter="confirmed"]')
    chosen = browser.script("return document.querySelector('.figures .side select').value")
    both = [it["id"] for it in figures if it["paper"] == chosen and "confirmed" in known[it["id"]]]
    assert browser.script(listed) == both, "both filters at once"
    assert "confirmed" in known["bully-3-12"], known["bully-3-12"]
    quiet(browser)


# Asks for figures of two runs, so that each takes a moment.
FEW_RUNS = """
const real = window.fetch;
window.fetch = (path, how) => real(path,
    String(path).startsWith('/api/figures/') ? {...how, body: '{"runs": 2}'} : how);
"""


def all_figures_are_computed_until_somebody_stops_it(lab, browser):
    browser.open(lab.address("figures"))
    browser.wait("the list", "return document.querySelectorAll('.figure-list a').length > 5")
    browser.script(FEW_RUNS)
    with_verdicts = "return document.querySelectorAll('.figure-list a:has(.dot)').length"
    before = browser.script(with_verdicts)
    browser.click("#figures-all")
    browser.wait("two more", f"return (() => {{ {with_verdicts} }})() >= arguments[0]", before + 2)
    words = browser.script("return document.querySelector('#figures-state').textContent")
    assert " of " in words and ": " in words, words
    # One that is chosen meanwhile waits for its turn, and is no longer busy when another one is.
    browser.click("#figures-stop")
    browser.wait("its end", "return document.querySelector('#figures-all').checkVisibility()")
    words = browser.script("return document.querySelector('#figures-state').textContent")
    assert words.endswith("have no verdict"), words
    # The second figure that is chosen is computed, while the first is given up.
    browser.script("""
        window.marks = [];
        new MutationObserver(() => window.marks.push(document.body.dataset.busy ?? ''))
            .observe(document.body, {attributes: true, attributeFilter: ['data-busy']});
    """)
    browser.click('[data-filter="not computed"]')
    ids = browser.script("return [...document.querySelectorAll('.figure-list a')].map((e) => e.dataset.figure)")
    # Both in one script: the first may be there before a second script begins.
    browser.script("""
        const [first, second] = arguments[0].map((id) => `figures?id=${encodeURIComponent(id)}`);
        addEventListener('hashchange', () => { location.hash = second; }, {once: true});
        location.hash = first;
    """, ids[-2:])
    browser.wait("the figure", "return document.querySelector('img.figure')?.naturalWidth > 100 &&"
                 " !document.body.dataset.busy")
    marks = browser.script("return window.marks")
    assert "" not in marks[:-1], f"it is busy until the last one is there: {marks}"
    quiet(browser)


def each_promise_that_is_offered_is_judged(lab, browser):
    browser.open(lab.address("judge"))
    browser.wait("the form", "return document.querySelector('#judge-protocol')")
    browser.choose("#judge-protocol", "le-s")
    browser.write("#judge-schedules", "1")
    names = browser.script("return [...document.querySelector('#judge-promise').options].map((e) => e.value)")
    assert "one-per-partition" in names and "" in names, names
    for name in names:
        browser.choose("#judge-promise", name)
        browser.click("#judge-start")
        browser.wait(f"the end of {name}", "return !document.body.dataset.busy &&"
                     " document.querySelector('#judge-found.notice')")
    quiet(browser)


def the_judge_shows_how_fast_it_is_and_which_faults_it_makes(lab, browser):
    browser.open(lab.address("judge"))
    browser.wait("the form", "return document.querySelector('#judge-protocol')")
    browser.choose("#judge-protocol", "local-leader")
    browser.write("#judge-schedules", "300")
    browser.click("#judge-start")
    browser.wait("its end", "return document.querySelector('#judge-found.good')")
    words = browser.script("return document.querySelector('.judge .state').textContent")
    assert words.startswith("300 schedules of 300, ") and words.endswith(" a second"), words
    rate = float(words.split(", ")[1].split()[0].replace(",", ""))
    assert rate > 0, words
    assert browser.script("return document.querySelector('.judge progress').value") == 1
    faults = browser.script("return Object.fromEntries([...document.querySelectorAll('.bar-row')].map((e) =>"
                            " [e.firstChild.textContent, Number(e.lastChild.textContent.replaceAll(',', ''))]))")
    held = lab.lines("/api/check", protocol="local-leader", flags={}, schedules=300)
    told = next(line for line in held if line["lab"] == "held")["faults"]
    assert faults == told and len(faults) > 3, (faults, told)
    quiet(browser)

"""The stage: a run is played, broken, undone, shared, saved and opened again."""

import json
import re

from helpers import BROKEN, DIGEST, DROP, END, HOME, LABELS, LEFT, RIGHT, SCRUB, TIME
from helpers import changed, link, quiet, settled, share, sides, stage
from lab import Lab
from webdriver import Browser


def a_run_is_played_and_stepped_back(lab, browser):
    stage(lab, browser, "protocol=le-s&nodes=6&loss=.2&seed=4")
    browser.script("document.activeElement.blur()")
    browser.keys(" ")
    browser.wait("the cursor to move", f"{TIME} > .2")
    browser.keys(" ")
    assert browser.script("return document.querySelector('[data-do=play]').ariaLabel") == "Play (Space)"
    browser.keys(HOME)
    seen = [browser.script(LABELS)]
    for _ in range(12):
        browser.keys(RIGHT)
        seen.append(browser.script(LABELS))
    assert len({json.dumps(one) for one in seen}) > 1, "twelve events change something"
    for expected in reversed(seen[:-1]):
        browser.keys(LEFT)
        assert browser.script(LABELS) == expected, "a step back is exact"
    told = "return document.querySelector('.stage .headline').textContent"
    browser.keys(HOME)
    assert browser.script(told) == "Nobody leads"
    places = [(0, "Nobody leads")]
    for _ in range(2):
        browser.keys(RIGHT, shift=True)
        places.append((browser.script(TIME), browser.script(told)))
    (_, _), (first, leader), (second, later) = places
    assert 0 < first < second and leader.startswith("Process") and later != leader, places
    browser.keys(LEFT, shift=True)
    assert (browser.script(TIME), browser.script(told)) == (first, leader), "and back to the one before"
    browser.keys(END)
    browser.keys(HOME)
    assert browser.script(TIME) == 0
    quiet(browser)


def a_run_is_broken_undone_shared_and_opened_again(lab, browser):
    whole = stage(lab, browser, "protocol=le-s&nodes=6&listen=3s&until=12s&seed=5")
    before = {}
    for place in (500, 1500, 2900):
        browser.script(SCRUB, place)
        before[place] = browser.script(LABELS)
    browser.script(SCRUB, 3000)
    leader = browser.script(LABELS)
    at = next(i for i, words in enumerate(leader) if words.endswith("leads"))
    browser.click(f'.person[data-node="{at}"]')
    browser.click('[data-deed="Crash"]')
    broken = changed(browser, whole)
    assert "is down" in browser.script(LABELS)[at]
    for place, words in before.items():
        browser.script(SCRUB, place)
        assert browser.script(LABELS) == words, "what was before the fault is unchanged"
    browser.script("document.activeElement.blur()")
    browser.keys(END)
    followers = browser.script(LABELS)
    assert any(words.endswith("leads") for words in followers), followers
    browser.keys("z", ctrl=True)
    assert changed(browser, broken) == whole, "undone, it is the run that it was"
    browser.keys("z", ctrl=True, shift=True)
    assert changed(browser, whole) == broken, "and again"
    address = browser.script("return location.href")
    assert "crash" in address and "token" not in address, address
    browser.open(address)
    assert settled(browser) == broken, "the shared address gives the same run"
    assert browser.script("return document.querySelectorAll('.fault-list li').length") == 1
    browser.click(".fault-list button")
    assert changed(browser, broken) == whole, "a fault can be removed from the list"
    quiet(browser)


def each_kind_of_message_looks_as_in_the_still_diagrams(lab, browser):
    stage(lab, browser, "protocol=bully&nodes=5&seed=1")
    seen = browser.script("""
        const samples = [...document.querySelectorAll('.legend-list li')];
        return Object.fromEntries(samples.map((line) => {
            const pixel = line.querySelector('canvas').getContext('2d').getImageData(16, 16, 1, 1).data;
            const hex = [...pixel].slice(0, 3).map((byte) => byte.toString(16).padStart(2, '0')).join('');
            return [line.textContent, `#${hex}`];
        }));
    """)
    # The colours k0, k1 and k2 of a diagram, light.
    drawn = lab.ask("POST", "/api/diagram", json.dumps({"protocol": "bully", "flags": {"nodes": "5"}}))[1]
    kinds = {"election": 0, "ok": 1, "coordinator": 2}
    expected = {kind: re.search(rf"\.k{number}{{stroke:(#\w+)}}", drawn).group(1) for kind, number in kinds.items()}
    assert {kind: seen.get(kind) for kind in expected} == expected, seen


def a_line_through_the_group_splits_it(lab, browser):
    # In al all announce again and again, so that each link matters.
    whole = stage(lab, browser, "protocol=al&nodes=6&until=8s")
    browser.script(SCRUB, 2000)
    box = browser.script(
        "const b = document.querySelector('.people').getBoundingClientRect();"
        "return [b.left, b.top, b.width, b.height]"
    )
    # Between the processes at the top and the rest: nobody stands there.
    y = box[1] + box[3] * 0.62
    browser.drag((box[0] + 6, y), (box[0] + box[2] - 6, y - 4))
    split = changed(browser, whole)
    faults = browser.script(
        "return [...document.querySelectorAll('.fault-list li')].map((e) => e.textContent)"
    )
    assert len(faults) == 2 and all(words.startswith("1.6scut: ") for words in faults), faults
    # One link is healed, both ways; the others stay cut until all are healed.
    browser.script(SCRUB, 4000)
    ends = sides(faults[0])
    browser.click(f'.person[data-node="{ends[0][0]}"]')
    browser.script("document.querySelector(arguments[0]).dispatchEvent(new MouseEvent('click',"
                   " {shiftKey: true, bubbles: true}))", f'.person[data-node="{ends[1][0]}"]')
    a, b = sorted((ends[0][0], ends[1][0]))
    browser.click(f'[data-deed="Heal {a} – {b}"]')
    healed = changed(browser, split)
    assert browser.script("return document.querySelector(arguments[0]) !== null",
                          f'[data-deed="Cut {a} – {b}"]'), "it can be cut again"
    browser.script(SCRUB, 6000)
    browser.click('[data-deed="Heal all cuts"]')
    changed(browser, healed)
    assert not browser.script("return document.querySelector('[data-deed^=\"Heal\"]')"), "nothing is cut"
    quiet(browser)


def a_bad_value_is_explained_next_to_its_field(lab, browser):
    good = stage(lab, browser, "protocol=le-s")
    browser.write("#flags-loss", "7")
    browser.wait("the message", "return !document.querySelector('#flags-loss-error').hidden")
    words = browser.script("return document.querySelector('#flags-loss-error').textContent")
    assert "loss" in words and "7" in words, words
    browser.write("#flags-loss", ".3")
    changed(browser, good)
    assert browser.script("return document.querySelector('#flags-loss-error').hidden")
    # The server refused the first value, as it must.
    assert all("422" in line for line in browser.complaints())


def each_lesson_plays_to_its_end_with_its_captions(lab, browser):
    for lesson in lab.json("/api/lessons")["lessons"]:
        name = lesson["name"]
        stage(lab, browser, f"lesson={name}")
        # No frame comes between two keys: so nothing has been played when the second is pressed,
        # however long the machine takes for that.
        browser.script("document.activeElement.blur(); window.requestAnimationFrame = () => 0")
        seen = []
        for _ in range(lesson["captions"] + 2):
            words = browser.script("return document.querySelector('.caption').textContent")
            if words not in seen:
                seen.append(words)
            if browser.script("return document.querySelector('.caption.outcome') !== null"):
                break
            # The first plays towards the next caption, the second goes there at once.
            browser.keys(".", ".")
        assert len(seen) == lesson["captions"] + 1, (name, seen)
        assert seen[-1].startswith("✓"), (name, seen[-1])
        quiet(browser)


def each_broken_invariant_is_named_and_shown_at_its_instant(lab, browser):
    stage(lab, browser, "lesson=hall-bug")
    found = browser.script("return [...document.querySelectorAll('.broken')].map((e) => e.dataset.invariant)")
    assert found[0] == "locked-supporters" and "never-two" in found, found
    browser.click('.broken[data-invariant="never-two"] button')
    words = browser.script("return document.querySelector('.stage .headline').textContent")
    assert words == "Processes 0 and 1 lead", words
    quiet(browser)


def a_shared_address_opens_in_another_browser_and_at_another_server(lab, browser):
    stage(lab, browser, "protocol=le-s&nodes=4&until=4s&fault=2s_crash_node_leader")
    whole = settled(browser)
    fragment = browser.script("return location.hash")
    quiet(browser)
    with Lab() as second:
        other = Browser()
        try:
            other.open(f"{second.base}{fragment}")
            other.wait("the question", "return document.querySelector('dialog[open] #asked')")
            other.write("#asked", second.address())
            other.click("dialog[open] button.main")
            assert settled(other) == whole, "the same run"
            assert other.script("return location.hash") == fragment, "the address stays"
            assert all("401" in line for line in other.complaints())
        finally:
            other.close()


def an_address_that_is_not_whole_is_explained(lab, browser):
    browser.open(lab.address("stage?scenario=%7B%22protocol%22"))
    words = browser.wait("the reason", "return document.querySelector('#problem').textContent ||"
                         " document.querySelector('.wrong:not([hidden])')?.textContent")
    assert "the scenario of this address is not whole" in words, words
    seed = "9007199254740993"  # 2^53 + 1, which no number of a page is
    browser.open(lab.address("stage?lesson=bully-3-12&seed=" + seed))
    settled(browser)
    written = browser.script(
        "return fetch('/api/command', {method: 'POST', headers: {Authorization: 'Bearer ' +"
        " arguments[0]}, body: JSON.stringify(arguments[1])}).then((it) => it.json())",
        lab.token, {"toml": lab.json("/api/lessons/bully-3-12")["toml"], "seed": seed},
    )
    assert f"seed = {seed}" in written["toml"], written
    quiet(browser)


def the_address_has_the_seed(lab, browser):
    whole = stage(lab, browser, "protocol=le-s")
    for _ in range(2):
        fragment = browser.script("return location.hash.slice(1)")
        assert "seed=1" in fragment and "nodes=" in fragment, fragment
        browser.open(lab.address(fragment))
        assert settled(browser) == whole, "what is shared says it all"
    browser.click("#dice")
    other = changed(browser, whole)
    fragment = browser.script("return location.hash.slice(1)")
    assert "seed=2" in fragment, fragment
    browser.open(lab.address(fragment))
    assert settled(browser) == other
    browser.open(lab.address())
    settled(browser)
    assert "seed=1" in browser.script("return location.hash"), "also of the page that opens first"
    quiet(browser)


# Remembers that the button for the command has said that it was copied: it says so for a moment.
COPIED = """
const button = document.querySelector('[data-share="command"]');
const look = () => { window.copied ||= button.textContent === 'Copied'; };
new MutationObserver(look).observe(button, {childList: true, characterData: true, subtree: true});
"""


def the_copied_command_makes_the_records_that_are_saved(lab, browser):
    for query, name in (("protocol=le-s&nodes=6&loss=.2&seed=5", "le-s-5"),
                        ("protocol=al&nodes=4&seed=7&until=6s&fault=2s_crash_node_1", "al-7")):
        stage(lab, browser, query)
        browser.script(COPIED)
        for what in ("scenario", "records", "picture", "command"):
            share(browser, what)
        records = browser.file(f"{name}.jsonl")
        browser.file(f"{name}.toml")
        assert browser.file(f"{name}.svg").startswith("<svg")
        browser.wait("the copy", "return window.copied")
        command = browser.copied()
        if "fault" in query:
            assert command == f"bellwether trace {name}.toml", "it names the file that is saved"
        assert lab.traced(command, browser.saved) == records, command
        assert lab.traced(f"bellwether trace {name}.toml", browser.saved) == records
    quiet(browser)


def an_address_tells_that_its_run_is_another_one_elsewhere(lab, browser):
    stage(lab, browser, "protocol=le-s&nodes=4&until=4s&seed=3&fault=2s_crash_node_0")
    browser.script(COPIED.replace("command", "address"))
    share(browser, "address")
    browser.wait("the copy", "return window.copied")
    fragment = browser.copied().split("#")[1]
    assert "digest=" in fragment and "token" not in fragment, fragment
    # What the command reads is another file of the menu.
    words = browser.script("return document.querySelector('#needs-file').textContent")
    assert words == "The command reads le-s-3.toml: save the scenario, too.", words
    shown = "return document.querySelector('#differs').checkVisibility()"
    browser.open(lab.address(fragment))
    settled(browser)
    assert not browser.script(shown), "here it is the same"
    browser.open(lab.address(fragment.replace("seed=3", "seed=4")))
    other = settled(browser)
    assert browser.script(shown), "as with another default elsewhere"
    browser.click("#dice")
    changed(browser, other)
    assert not browser.script(shown) and "digest" not in browser.script("return location.hash")
    quiet(browser)


def written(browser, button, text):
    """Writes a caption, or the outcome, and waits until it is listed."""
    browser.click(button)
    browser.wait("the question", "return document.querySelector('dialog[open] #asked')")
    browser.write("#asked", text)
    browser.click("dialog[open] button.main")
    browser.wait("its line", "return document.querySelector('.word-list')?.textContent.includes(arguments[0])",
                 text)


CAPTION = "return document.querySelector('.caption')?.textContent"


def a_lesson_is_written_on_the_page(lab, browser):
    whole = stage(lab, browser, "protocol=le-s&nodes=4&seed=3&until=6s&fault=2s_crash_node_0")
    written(browser, "#caption-here", "All begin.")
    browser.script(SCRUB, 5000)
    written(browser, "#caption-here", "One is gone: 1_2, & more?")
    written(browser, "#conclude", "They agree.")
    fragment = browser.script("return location.hash.slice(1)")
    share(browser, "scenario")
    text = browser.file("le-s-3.toml")
    assert text.count("[[caption]]") == 2 and "[outcome]" in text, text
    browser.open(lab.address("stage?protocol=bully"))
    settled(browser)

    def steps():
        assert settled(browser) == whole, "words change nothing"
        browser.script("document.activeElement.blur(); window.requestAnimationFrame = () => 0")
        seen = [browser.script(CAPTION)]
        for _ in range(2):
            browser.keys(".", ".")
            seen.append(browser.script(CAPTION))
        assert seen == ["All begin.", "One is gone: 1_2, & more?", "✓ They agree."], seen

    browser.open(lab.address(fragment))  # the address has them
    steps()
    browser.open(lab.address("stage?protocol=bully"))
    bully = settled(browser)
    browser.give("#stage-file", browser.saved / "le-s-3.toml")  # and so has the file
    changed(browser, bully)
    steps()
    # Those of a file can be removed, too.
    rows = "return document.querySelectorAll('.word-list li').length"
    for left in (2, 1, 0):
        browser.click(".word-list button")
        browser.wait(f"{left} lines", f"return (() => {{ {rows} }})() === arguments[0]", left)
    settled(browser)
    assert not browser.script("return document.querySelector('.captions').checkVisibility()")
    quiet(browser)


LESSON = """
[[caption]]
at = "0s"
text = "All begin."

[[caption]]
at = "2s"
text = "One is gone."

[outcome]
text = "They agree."
leaders = [%d]
"""


def a_scenario_file_is_opened_with_its_captions(lab, browser):
    whole = stage(lab, browser, "protocol=le-s&nodes=4&seed=3&until=6s&fault=2s_crash_node_0")
    share(browser, "scenario")
    text = browser.file("le-s-3.toml")
    browser.open(lab.address("stage?protocol=bully"))
    bully = settled(browser)
    browser.give("#stage-file", browser.saved / "le-s-3.toml")
    assert changed(browser, bully) == whole, "a file that is chosen gives the run it was saved from"
    fragment = browser.script("return location.hash.slice(1)")
    # A file of a teacher: with captions and an outcome, dropped on another page.
    leaders = lab.lines("/api/run", toml=text)[-1]["leaders"]
    browser.open(lab.address("judge"))
    browser.open(lab.address("stage?protocol=bully"))
    settled(browser)
    browser.script("location.hash = 'judge'")
    browser.wait("the page", "return document.querySelector('#judge-start')?.checkVisibility()")
    browser.script(DROP, text + LESSON % leaders[0], "own.toml")
    assert changed(browser, bully) == whole, "captions change nothing"
    caption = "return document.querySelector('.caption')?.textContent"
    assert browser.script(caption) == "All begin."
    browser.script(SCRUB, 5000)
    assert browser.script(caption) == "One is gone."
    browser.script(SCRUB, 10000)
    assert browser.script(caption) == "✓ They agree."
    # The address has the file, so it can be shared.
    browser.open(lab.address(fragment))
    assert settled(browser) == whole
    quiet(browser)
    browser.script(DROP, text.replace('"le-s"', '"nonsense"'), "bad.toml")
    words = browser.wait("the reason", BROKEN)
    assert "nonsense" in words, words


def undone(browser, now, before):
    """Takes back the last fault, and sees the run as it was."""
    browser.click("#undo")
    assert changed(browser, now) == before, "undone, it is the run that it was"


def struck(browser, deed, before):
    """Presses a button for the selection, answers its question if there is one, and sees another run."""
    browser.click(f'[data-deed="{deed}"]')
    if deed.endswith("…"):
        browser.wait("the question", "return document.querySelector('dialog[open] #asked')")
        browser.click("dialog[open] button.main")
    return changed(browser, before)


def each_action_on_a_process_changes_the_run_and_is_undone(lab, browser):
    whole = stage(lab, browser, "protocol=local-leader&nodes=5&seed=3&until=3s")
    browser.script(SCRUB, 4000)
    words = browser.script(LABELS)
    leader = next(i for i, one in enumerate(words) if "leads" in one)
    browser.click(f'.person[data-node="{leader}"]')
    for deed in ("Resign", "Slow…", "Drift…"):
        undone(browser, struck(browser, deed, whole), whole)
    # What ends it is offered once it has happened.
    for deed, ends, seen in (("Crash", ["Restart", "Restart without memory"], "is down"),
                             ("Pause", ["Go on"], "is paused")):
        browser.script(SCRUB, 4000)
        broken = struck(browser, deed, whole)
        assert seen in browser.script(LABELS)[leader]
        runs = {whole, broken}
        for end in ends:
            browser.script(SCRUB, 6000)
            ended = struck(browser, end, broken)
            runs.add(ended)
            browser.script(SCRUB, 6100)
            assert seen not in browser.script(LABELS)[leader], (end, browser.script(LABELS))
            undone(browser, ended, broken)
        assert len(runs) == 2 + len(ends), "each makes a run of its own"
        undone(browser, broken, whole)
    called = stage(lab, browser, "protocol=bully&nodes=5&seed=1")
    browser.click('.person[data-node="2"]')
    browser.script(SCRUB, 5000)
    undone(browser, struck(browser, "Call an election", called), called)
    quiet(browser)


def a_link_is_cut_one_way_and_healed(lab, browser):
    whole = stage(lab, browser, "protocol=al&nodes=4&until=8s&seed=2")
    browser.script(SCRUB, 2500)
    link(browser, 0, 1)
    cut = struck(browser, "Cut 0 → 1", whole)
    words = browser.script("return document.querySelector('.fault-list li').textContent")
    assert "cut: 0 → 1" in words, words
    lines = lab.lines("/api/run", protocol="al", flags={"nodes": "4", "until": "8s", "seed": "2"},
                      faults=[{"at": "2s", "what": "cut", "from": [0], "to": [1]}])
    heard = {(it["from"], it["node"]) for it in lines if it.get("kind") == "recv" and it["t"] > 3e9}
    assert (1, 0) in heard and (0, 1) not in heard, "the other way stays open"
    assert browser.script("return document.querySelector('[data-deed=\"Cut 1 → 0\"]') !== null")
    browser.script(SCRUB, 5000)
    undone(browser, struck(browser, "Heal 0 → 1", cut), cut)
    undone(browser, cut, whole)
    quiet(browser)

"""Measure: how soon a picture follows a move, and that the server has places left afterwards."""

import http.client
import json
import re
import statistics
import time

from helpers import RELEASE, SLIDE, quiet
from webdriver import PATIENCE

# Drags a slider from one place to another in so many frames, with several steps in each, and keeps
# what is asked of the server: when, for what, and how many questions were open then.
DRAG = """
const [css, from, to, frames, done] = arguments;
const slider = document.querySelector(css);
const real = window.fetch;
const asked = [];
window.fetch = (path, how) => {
    if (path !== '/api/measure') return real(path, how);
    const open = asked.filter(({signal}) => !signal.aborted).length;
    asked.push({signal: how.signal, open, flags: JSON.parse(how.body).flags});
    return real(path, how);
};
let frame = 0;
const pictures = [];
const state = document.querySelector('.state');
new MutationObserver(() => {
    const {first} = state.dataset;
    if (first !== undefined) pictures.push({of: asked.length, took: Number(first)});
    delete state.dataset.first;
}).observe(state, {attributes: true, attributeFilter: ['data-first']});
const step = () => {
    for (let part = 0; part < 4; part += 1) {
        const share = (frame + part / 4) / frames;
        slider.value = from + (to - from) * Math.min(1, share);
        slider.dispatchEvent(new Event('input', {bubbles: true}));
    }
    frame += 1;
    if (frame <= frames) requestAnimationFrame(step);
    else done();
};
window.dragged = () => ({pictures, asked: asked.map(({open, flags}) => ({open, flags}))});
step();
"""


def a_drag_asks_once_a_frame_and_each_question_ends_the_one_before(lab, browser):
    browser.open(lab.address("measure?protocol=le-s&nodes=1000"))
    browser.wait("the first picture", "return document.querySelector('.state')?.dataset.first")
    frames = 60
    browser.later(DRAG, "#slider-loss", 100, 700, frames)
    browser.wait("the result", "return !document.body.dataset.busy")
    seen = browser.script("return window.dragged()")
    asked = seen["asked"]
    print(f"  ({4 * frames + 4} steps, {len(asked)} questions, {len(seen['pictures'])} pictures)")
    assert 1 < len(asked) <= frames + 2, f"{len(asked)} questions in {frames} frames"
    assert all(one["open"] == 0 for one in asked), "the one before was given up"
    shown = browser.script("return document.querySelector('#slider-loss').previousSibling.textContent")
    assert asked[-1]["flags"]["loss"] == shown, (asked[-1], shown)
    assert f"loss={shown}" in browser.script("return location.hash"), "the address follows"
    # The server has places left.
    assert lab.lines("/api/run", protocol="le-s", flags={})[-1]["lab"] == "end"
    quiet(browser)


def free(lab, most):
    """Fails unless the server has places for so many requests that take minutes, all at once: one that
    has none is refused after three seconds, and is not answered before."""
    body = json.dumps({"protocol": "local-leader", "flags": {"nodes": 1000, "loss": ".1"}})
    headers = {"Authorization": f"Bearer {lab.token}", "Content-Type": "application/json"}
    open_now = []
    try:
        for _ in range(most):
            open_now.append(http.client.HTTPConnection(lab.host, lab.port, timeout=PATIENCE))
            open_now[-1].request("POST", "/api/measure", body, headers)
            answer = open_now[-1].getresponse()
            assert answer.status == 200, f"{len(open_now)} of {most}: {answer.status}"
    finally:
        for connection in open_now:
            connection.close()


def a_drag_over_runs_of_minutes_shows_its_last_picture_soon_and_leaves_the_server_free(lab, browser):
    lasts = []
    for _ in range(3):
        browser.open(lab.address("measure?protocol=local-leader&nodes=1000&loss=.1"))
        browser.wait("the first picture", "return document.querySelector('.state')?.dataset.first")
        browser.later(DRAG, "#slider-nodes", 729, 690, 60)
        seen = browser.wait("the last picture", "const seen = window.dragged();"
                            "return seen.pictures.at(-1)?.of === seen.asked.length && seen")
        lasts.append(seen["pictures"][-1]["took"])
        print(f"  ({len(seen['asked'])} questions, {len(seen['pictures'])} pictures, the last after {lasts[-1]:.0f} ms)")
    assert statistics.median(lasts) <= SOON, lasts
    assert not any("503" in line for line in browser.complaints()), "there is always a place"
    browser.open("about:blank")
    time.sleep(1)
    free(lab, 6)
    time.sleep(1)
    free(lab, 6)


# How long the first picture may take after a move, in milliseconds: as promised, or, of a build that is
# not optimised on a machine that does other things, so that nobody waits for a run of minutes.
SOON = 100 if RELEASE else 1000


def first_pictures(browser, address, slider, places):
    """How long the first picture takes after each move of a slider; nothing if what is asked for is
    refused, or no run gives a number. A server that has no place left fails."""
    browser.open(address)
    first = "return document.querySelector('.state')?.dataset.first"
    none = "!document.body.dataset.busy && document.querySelector('.measure .wrong')?.textContent"
    words = browser.wait(f"the first picture of {address}", f"{first} || {none}")
    took = []
    for place in places:
        assert "worked on already" not in words, f"{address}: {words}"
        if not words.replace(".", "", 1).isdigit():
            print(f"  ({words})")
            return []
        took.append(float(words))
        browser.script("delete document.querySelector('.state').dataset.first")
        browser.script(SLIDE, slider, place)
        words = browser.wait(f"a picture of {address}", f"{first} || {none}")
    return [*took[1:], float(words)]


def told(name, slider, took):
    """Prints how long pictures took, if there are some, and returns the middle of it."""
    if not took:
        return 0
    middle = statistics.median(took)
    print(f"  ({name}, {slider[8:]}: {middle:.0f} ms; {', '.join(f'{it:.0f}' for it in took)})", flush=True)
    return middle


def off_their_defaults_large_groups_have_a_picture_soon(lab, browser):
    slow = {}
    for protocol in lab.json("/api/protocols")["protocols"]:
        name = protocol["name"]
        moves = [("", "#slider-loss", (100, 200, 300, 250, 150))]
        if protocol["leases"]:
            moves += [(f"&scenario={it}", "#slider-loss", (0, 100, 200, 150, 50)) for it in ("departure", "split")]
            moves.append(("&measure=messages_per_second", "#slider-nodes", (729, 728, 727, 726, 725)))
        elif not protocol["on_demand"]:
            moves += [(f"&listen=3s&scenario={it}", "#slider-nodes", (729, 728, 727, 726, 725))
                      for it in ("departure", "join-greater")]  # some know nobody who is greater
        for more, slider, places in moves:
            took = first_pictures(browser, lab.address(f"measure?protocol={name}&nodes=1000{more}"),
                                  slider, places)
            assert took or not protocol["leases"], "leases refuse nothing of this"
            if told(name + more, slider, took) > SOON:
                slow[name + more] = took
    assert not slow, slow
    # What stands in for a run of minutes says so.
    browser.open(lab.address("measure?protocol=local-leader&nodes=1000&loss=.1"))
    words = browser.wait("a smaller group", "return document.querySelector('.state')?.dataset.first &&"
                         " document.querySelector('.state').textContent")
    assert re.search(r"processes(, watched for \S+)? in place of 1000", words), words
    table = browser.script("return document.querySelector('.table-box tbody th').textContent")
    assert " processes" in table, table
    # A protocol that promises no other leader refuses some scenarios.
    found = browser.complaints()
    assert all("status of 422" in line or line.startswith("request: 422 ") for line in found), found


# Moves of other sliders, and in other circumstances: what is asked for, and which slider moves where.
MOVES = [
    ("protocol=local-leader&nodes=1000&loss=.1&window=1200s", "loss", (110, 120, 130, 125, 115)),
    ("protocol=local-leader&nodes=1000&loss=.1", "window", (700, 710, 720, 715, 705)),
    ("protocol=local-leader&nodes=1000&loss=.1", "delay", (500, 510, 520, 515, 505)),
    ("protocol=local-leader&nodes=1000&loss=.1&unchecked=true", "lock", (500, 510, 520, 515, 505)),
    ("protocol=local-leader&nodes=1000&scenario=merge", "loss", (50, 100, 150, 120, 80)),
    ("protocol=le-s&nodes=1000&listen=3s&scenario=churn&departures=1&arrivals=1", "loss", (50, 100, 150, 120, 80)),
    ("protocol=le-s&nodes=1000&with=le-a&with=al&with=query", "loss", (50, 100, 150, 120, 80)),
    ("protocol=ad-hoc&nodes=1000&graph=tree", "delay", (500, 510, 520, 515, 505)),
    ("protocol=ad-hoc&nodes=1000&graph=moving", "nodes", (729, 728, 727, 726, 725)),
]


def other_sliders_and_circumstances_have_a_picture_soon(lab, browser):
    slow = {}
    for query, slider, places in MOVES:
        took = first_pictures(browser, lab.address(f"measure?{query}"), f"#slider-{slider}", places)
        assert took, f"{query} is measured"
        if told(query, f"#slider-{slider}", took) > SOON:
            slow[query, slider] = took
    assert not slow, slow
    quiet(browser)


def the_first_picture_comes_soon_after_a_move(lab, browser):
    slow = {}
    for protocol in lab.json("/api/protocols")["protocols"]:
        name = protocol["name"]
        one = lab.one_run(name, 1000, 5)
        one = "more than 5 s" if one is None else f"{1000 * one:.1f} ms"
        # 995, 986, 978 processes and so on.
        took = first_pictures(browser, lab.address(f"measure?protocol={name}&nodes=1000"),
                              "#slider-nodes", (729, 728, 727, 726, 725))
        if not took:
            print(f"  ({name}: no run of so many processes gives a number)")
            continue
        if told(f"{name}, of which one run takes {one}", "#slider-nodes", took) > SOON:
            slow[name] = took
    assert not slow, slow
    quiet(browser)

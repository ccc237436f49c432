"""What is drawn: the space-time diagram, places, colours, curves; and how fast a run is played."""

from helpers import BROKEN, LABELS, PLACES, SCRUB, TIME, changed, link, quiet, stage
from seen import DRAWN

# The picture of the space-time diagram, as numbers: how many points have this colour, in its whole or
# in its first lines; and the whole as a text, to compare it.
LANES = """
const canvas = document.querySelector('.lanes-canvas');
const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {willReadFrequently: true});
copy.drawImage(canvas, 0, 0);
const count = (colour, height) => {
    const {data} = copy.getImageData(0, 0, canvas.width, height);
    let found = 0;
    for (let at = 0; at < data.length; at += 4) {
        if (data[at + 3] > 200 && [0, 1, 2].every((part) => Math.abs(data[at + part] - colour[part]) < 24)) found += 1;
    }
    return found;
};
const value = (name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name);
const light = (name) => /#[0-9a-f]{6}/.exec(value(name))[0].match(/[0-9a-f]{2}/g).map((it) => parseInt(it, 16));
return {
    ...Object.fromEntries(['l0', 'f0', 'accent', 'bad'].map((name) => [name, count(light(name), canvas.height)])),
    named: count(light('bad'), 14), picture: canvas.toDataURL(),
};
"""
# Where the diagram stands on the page; its room for numbers on the left, and on the right.
LANES_BOX = """
const box = document.querySelector('.lanes-canvas').getBoundingClientRect();
return [box.left + 34, box.top + box.height / 2, box.width - 42];
"""


def the_space_time_diagram_has_lanes_a_cursor_and_can_be_clicked_and_zoomed(lab, browser):
    stage(lab, browser, "protocol=le-s&nodes=4&until=8s&seed=2")
    browser.script(SCRUB, 0)
    before = browser.script(LANES)
    assert before["l0"] > 200 and before["f0"] > 200, "a leader and who follows it have its colours"
    left, top, width = browser.script(LANES_BOX)
    for share_of in (.75, .25):
        browser.move(left + share_of * width, top, click=True)
        assert abs(browser.script(TIME) - 8 * share_of) < .05, browser.script(TIME)
    after = browser.script(LANES)
    assert after["accent"] > 20 and after["picture"] != before["picture"], "the cursor is drawn elsewhere"
    browser.click('.zooms button:last-child')
    assert browser.script(LANES)["picture"] != after["picture"]
    browser.move(left + width, top, click=True)
    assert abs(browser.script(TIME) - 4) < .05, "the window is half as long, around the cursor"
    browser.click('.zooms button:first-child')
    browser.move(left + width, top, click=True)
    assert abs(browser.script(TIME) - 8) < .05
    assert browser.script(LANES)["named"] == 0, "nothing is broken"
    stage(lab, browser, "lesson=hall-bug")
    assert browser.script(LANES)["named"] > 100, "what is broken is named above the lanes"
    quiet(browser)


# Plays for a while from the beginning, and says how far that came.
PLAYED = """
const done = arguments[0];
document.querySelector('.scrub').value = 0;
document.querySelector('.scrub').dispatchEvent(new Event('input'));
const began = performance.now();
document.querySelector('[data-do=play]').click();
setTimeout(() => {
    document.querySelector('[data-do=play]').click();
    done(Number(document.querySelector('.scrub').value) / (performance.now() - began));
}, 600);
"""


def a_run_is_played_at_the_speed_that_is_chosen(lab, browser):
    stage(lab, browser, "protocol=le-s&nodes=4&until=60s&seed=2")
    browser.script("document.activeElement.blur()")
    shown = "return document.querySelector('.speed').textContent"
    seen = []
    for keys, speed in (("", "1×"), ("+++", "8×"), ("-----", "1/4×")):
        browser.keys(*keys)
        assert browser.script(shown) == speed
        seen.append(browser.later(PLAYED))
        browser.script("document.activeElement.blur()")
    print(f"  ({', '.join(f'{one:.3f}' for one in seen)} of 10000 in a millisecond)")
    usual, fast, slow = seen
    assert fast > 4 * usual > 8 * slow > 0, seen
    browser.click(".speed")
    assert browser.script(shown) == "1/2×"
    quiet(browser)


def the_stage_has_room_for_2_to_64_processes_and_says_so(lab, browser):
    for nodes in (2, 64):
        stage(lab, browser, f"protocol=le-s&nodes={nodes}&until=2s")
        assert len(browser.script(LABELS)) == nodes
    for nodes in (1, 65):
        browser.open(lab.address(f"stage?protocol=le-s&nodes={nodes}&until=2s"))
        words = browser.wait("the refusal", BROKEN)
        assert f"nodes = {nodes}" in words and "2 to 64" in words, words
    assert all("422" in line for line in browser.complaints())


def a_link_of_a_network_is_removed_and_added_and_radios_move(lab, browser):
    whole = stage(lab, browser, "protocol=ad-hoc&nodes=4&graph=line&seed=1")
    browser.script(SCRUB, 1000)
    still = browser.script(PLACES)
    link(browser, 0, 1)
    browser.click('[data-deed="Remove the link"]')
    removed = changed(browser, whole)
    browser.click('[data-deed="Add a link"]')
    changed(browser, removed)
    faults = browser.script("return [...document.querySelectorAll('.fault-list li')].length")
    assert faults == 2 and "link_ends_0.1_up_false" in browser.script("return location.hash")
    browser.script(SCRUB, 9000)
    assert browser.script(PLACES) == still, "a network that is listed stays where it is"
    stage(lab, browser, "protocol=ad-hoc&nodes=6&graph=moving&seed=1&until=60s")
    browser.script(SCRUB, 0)
    before = browser.script(PLACES)
    browser.script(SCRUB, 9000)
    after = browser.script(PLACES)
    assert all(before[id][:2] != after[id][:2] for id in before), (before, after)
    quiet(browser)


# The colours of a set, as canvases give them.
COLOURS = """
const style = getComputedStyle(document.documentElement);
return Array.from({length: 7}, (_, index) => {
    const colour = /#[0-9a-f]{6}/.exec(style.getPropertyValue(`--${arguments[0]}${index}`))[0];
    return colour.match(/[0-9a-f]{2}/g).map((it) => parseInt(it, 16));
});
"""
# The colour of the picture at a point of the page.
PIXEL = """
const canvas = document.querySelector('.group-canvas');
const box = canvas.getBoundingClientRect();
const scale = canvas.width / box.width;
const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {willReadFrequently: true});
copy.drawImage(canvas, 0, 0);
const at = [(arguments[0] - box.left) * scale, (arguments[1] - box.top) * scale].map(Math.round);
return [...copy.getImageData(...at, 1, 1).data].slice(0, 3);
"""


def followers_have_the_colour_of_their_leader_and_messages_that_of_their_kind(lab, browser):
    stage(lab, browser, "protocol=le-s&nodes=5&until=8s&seed=2")
    browser.script(SCRUB, 10000)
    words = browser.script(LABELS)
    leader = next(id for id, one in enumerate(words) if one.endswith("leads"))
    strong, soft = browser.script(COLOURS, "l"), browser.script(COLOURS, "f")
    of = {id: [int(part) for part in browser.script(DRAWN, id)["colour"].split(",")[:3]] for id in range(5)}
    number = strong.index(of[leader])
    assert all(colour == soft[number] for id, colour in of.items() if id != leader), of
    # A message that is alone on its way.
    flags = {"nodes": "2", "seed": "2", "until": "8s"}
    stage(lab, browser, "protocol=le-s&" + "&".join(f"{name}={value}" for name, value in flags.items()))
    lines = lab.lines("/api/run", protocol="le-s", flags=flags)
    came = next(it for it in lines if it.get("kind") == "recv" and it["t"] > it["sent"])
    browser.script(SCRUB, round(10000 * (came["t"] + came["sent"]) / 2 / lines[0]["until"]))
    places = browser.script(PLACES)
    (ax, ay, _), (bx, by, _) = places[str(came["from"])], places[str(came["node"])]
    found = browser.script(PIXEL, (ax + bx) / 2, (ay + by) / 2)
    kinds = browser.script(COLOURS, "k")
    assert any(max(abs(a - b) for a, b in zip(found, kind)) < 12 for kind in kinds), (found, kinds)
    quiet(browser)


def a_measurement_sharpens_beside_others_with_outlines_intervals_and_forms(lab, browser):
    browser.open(lab.address("measure?protocol=le-s&nodes=20&runs=16"))
    done = "return !document.body.dataset.busy && document.querySelector('.state')?.dataset.mean"
    browser.wait("the result", done)
    browser.script("""
        window.runs = [];
        const state = document.querySelector('.state');
        new MutationObserver((seen) => window.runs.push(...seen.map(({oldValue}) => Number(oldValue))))
            .observe(state, {attributes: true, attributeFilter: ['data-runs'], attributeOldValue: true});
        location.hash = 'measure?protocol=le-s&nodes=20&runs=4000&with=le-a&with=al&with=query';
    """)
    browser.wait("four protocols", "return document.querySelector('.state').dataset.runs === '4000' &&"
                 " !document.body.dataset.busy && document.querySelectorAll('.table-box tbody tr').length === 4")
    runs = browser.script("return window.runs")
    assert len(set(runs)) > 3 and runs[1:] == sorted(runs[1:]), f"it sharpens: {runs}"
    seen = browser.script("""
        const plot = document.querySelector('.plots .plot');
        const names = (css) => [...plot.querySelectorAll(css)].map((e) => e.classList[1]);
        return {steps: names('.steps'), forms: names('.mark.printed, .mark.corrected'),
            means: [...plot.querySelectorAll('.mark.mean rect')].map((e) => e.getAttribute('width') >= 1)};
    """)
    assert seen["steps"] == ["s0", "s1", "s2", "s3"] and seen["means"] == [True] * 4, seen
    assert seen["forms"] == ["printed", "corrected"], seen
    # A page copies only what somebody has clicked.
    browser.move(*browser.script("""
        const button = [...document.querySelectorAll('.measure button')].find((e) =>
            e.textContent === 'Copy the command');
        const look = () => { window.copied ||= button.textContent === 'Copied'; };
        new MutationObserver(look).observe(button, {childList: true});
        const box = button.getBoundingClientRect();
        return [box.left + box.width / 2, box.top + box.height / 2];
    """), click=True)
    browser.wait("the copy", "return window.copied")
    assert browser.copied() == "bellwether sim le-s --nodes 20 --runs 4000", browser.copied()
    browser.choose("#sweep-over", "nodes")
    browser.write("#sweep-count", "50")
    browser.click("#sweep")
    words = browser.wait("its end", "const words = document.querySelector('#sweep-state').textContent;"
                         "return /^(\\d+) of \\1 points/.test(words) && words")
    assert words.endswith("; at most 40 points are drawn here; 1,000 runs each"), words
    high = browser.script("return [...document.querySelectorAll('.sweep .point line')].map((e) =>"
                          " e.getAttribute('y1') - e.getAttribute('y2'))")
    assert len(high) > 20 and max(high) > 0 and min(high) >= 0, high
    quiet(browser)

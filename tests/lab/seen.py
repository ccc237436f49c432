"""What is seen on the stage: links, messages, facts, leases, locks and leaders."""

import math

from helpers import ESCAPE, LABELS, PLACES, SCRUB, quiet, settled, stage

# Of a process in the picture: its colour, the colour where a leader has its mark, and which share of
# a turn is drawn where a lease and where a lock stand, from the picture itself.
DRAWN = """
const [id] = arguments;
const canvas = document.querySelector('.group-canvas');
const box = canvas.getBoundingClientRect();
const person = document.querySelector(`.person[data-node="${id}"]`).getBoundingClientRect();
const [x, y] = [person.left + person.width / 2 - box.left, person.top + person.height / 2 - box.top];
const radius = (person.width - 6) / 2;
const context = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {willReadFrequently: true});
context.drawImage(canvas, 0, 0);
const scale = canvas.width / box.width;
const pixel = (a, b) => [...context.getImageData(Math.round(a * scale), Math.round(b * scale), 1, 1).data];
const turn = (at) => {
    let seen = 0;
    for (let step = 0; step < 180; step += 1) {
        const angle = 2 * Math.PI * (step + 0.5) / 180 - Math.PI / 2;
        seen += pixel(x + at * Math.cos(angle) - 0.5, y + at * Math.sin(angle) - 0.5)[3] > 90 ? 1 : 0;
    }
    return seen / 180;
};
return {
    colour: String(pixel(x - radius * 0.7, y)),
    mark: String(pixel(x, y - radius - Math.min(9, radius * 0.6) - 4)),
    lease: turn(radius + Math.min(4.5, radius * 0.3)),
    lock: turn(radius + Math.min(8.5, radius * 0.55)),
};
"""


def a_link_of_a_ring_is_selected_by_a_click(lab, browser):
    stage(lab, browser, "protocol=ring&nodes=6&seed=1")
    browser.script(SCRUB, 10000)  # no message is on its way
    places = browser.script(PLACES)
    middle = [sum(place[axis] for place in places.values()) / len(places) for axis in (0, 1)]
    order = sorted(places, key=lambda id: math.atan2(places[id][1] - middle[1], places[id][0] - middle[0]))
    for a, b in ((order[0], order[1]), (order[3], order[4])):
        browser.move((places[a][0] + places[b][0]) / 2, (places[a][1] + places[b][1]) / 2, click=True)
        words = browser.script("return document.querySelector('.who h3').textContent")
        assert sorted(words.removeprefix("Processes ").split(", ")) == sorted((a, b)), (words, a, b)
        assert browser.script("return document.querySelectorAll('[data-deed^=\"Cut\"]').length") == 3
    quiet(browser)


def what_is_pointed_at_is_told(lab, browser):
    flags = {"nodes": "3", "seed": "2", "until": "8s"}
    stage(lab, browser, "protocol=le-s&" + "&".join(f"{name}={value}" for name, value in flags.items()))
    lines = lab.lines("/api/run", protocol="le-s", flags=flags)
    came = next(it for it in lines if it.get("kind") == "recv" and it["t"] > it["sent"])
    text = next(it["text"] for it in lines if it.get("lab") == "carries"
                and (it["node"], it["number"], it["t"]) == (came["from"], came["number"], came["sent"]))
    browser.script(SCRUB, round(10000 * (came["t"] + came["sent"]) / 2 / lines[0]["until"]))
    places = browser.script(PLACES)
    a, b = places[str(came["from"])], places[str(came["node"])]
    browser.move((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)
    tip = browser.wait("the tip", "const tip = document.querySelector('.tip');"
                       "return tip.checkVisibility() &&"
                       " [...tip.children].map((e) => e.textContent)")
    assert tip[:2] == [f"{came['message']} from {came['from']} to {came['node']}", text], tip
    # A process tells what it believes, to a pointer and to the keyboard.
    stage(lab, browser, "protocol=local-leader&nodes=3&seed=2&until=2s")
    browser.script(SCRUB, 6000)
    places = browser.script(PLACES)
    told = "return document.querySelector('.who').innerText"
    browser.move(*places["1"][:2])
    words = browser.wait("its facts", f"const now = (() => {{ {told} }})(); return now.includes('Process 1') && now")
    assert "supported by" in words or "locked to" in words, words
    browser.move(4, 4)
    # Otherwise the pointer might leave it after the other one has the focus.
    browser.wait("its leaving", f"return !(() => {{ {told} }})().includes('Process 1')")
    browser.script("document.querySelector('.person[data-node=\"2\"]').focus()")
    browser.wait("its facts", f"return (() => {{ {told} }})().includes('Process 2')")
    quiet(browser)


def leaders_are_marked_and_leases_and_locks_shrink(lab, browser):
    stage(lab, browser, "protocol=local-leader&nodes=5&seed=3&until=900ms&fault=0.4s_crash_node_leader")
    browser.script(SCRUB, 4430)
    words = browser.script(LABELS)
    leader = next(i for i, one in enumerate(words) if "leads" in one)
    leads = browser.script(DRAWN, leader)
    assert leads["mark"] == leads["colour"], f"its mark has its colour: {leads}"
    assert leads["lease"] > .3, f"its lease is an arc: {leads}"
    # From one renewal to the next less and less of its lease is left.
    flags = {"nodes": "5", "seed": "3", "until": "900ms"}
    lines = lab.lines("/api/run", protocol="local-leader", flags=flags,
                      faults=[{"at": "0.4s", "what": "crash", "node": "leader"}])
    told = [it["t"] for it in lines if it.get("node") == leader and it.get("fact") == "held"]
    gaps = [(a, b) for a, b in zip(told, told[1:]) if b < 4e8 and b - a > 2e7]
    assert gaps, told
    begins, ends = gaps[-1]
    left = []
    for share in (.2, .5, .8):
        browser.script(SCRUB, round(10000 * (begins + share * (ends - begins)) / lines[0]["until"]))
        left.append(browser.script(DRAWN, leader)["lease"])
    print(f"  (the lease of {leader}: {', '.join(f'{one:.2f}' for one in left)})")
    assert left[0] > left[1] > left[2] > 0 and left[0] - left[2] > .05, left
    browser.script(SCRUB, 4430)
    others = {id: browser.script(DRAWN, id) for id in range(5) if id != leader}
    for id, drawn in others.items():
        assert drawn["mark"] != drawn["colour"] and drawn["colour"] != leads["colour"], (id, drawn)
    follower = max(others, key=lambda id: others[id]["lock"])
    # Without a leader nothing renews the lock: it runs out.
    shares = []
    for place in range(4460, 6600, 60):
        browser.script(SCRUB, place)
        if not browser.script("return document.querySelector('.stage .headline').textContent") == "Nobody leads":
            break
        shares.append(browser.script(DRAWN, follower)["lock"])
    print(f"  (the lock of {follower}: {', '.join(f'{one:.2f}' for one in shares)})")
    assert len(shares) > 2 and shares[0] > .3, shares
    assert all(later < before + .03 for before, later in zip(shares, shares[1:])), shares
    assert shares[-1] < shares[0] - .2, shares
    down = browser.script(DRAWN, leader)
    assert down["mark"] != leads["mark"], "one that is down has no mark"
    quiet(browser)


# How much is drawn around a point of the page, from 0 to 255.
INK = """
const canvas = document.querySelector('.group-canvas');
const box = canvas.getBoundingClientRect();
const scale = canvas.width / box.width;
const [x, y] = [(arguments[0] - box.left) * scale, (arguments[1] - box.top) * scale];
const context = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {willReadFrequently: true});
context.drawImage(canvas, 0, 0);
const {data} = context.getImageData(Math.round(x - 8 * scale), Math.round(y - 8 * scale), 16 * scale, 16 * scale);
let most = 0;
for (let at = 3; at < data.length; at += 4) most = Math.max(most, data[at]);
return most;
"""


def a_lost_message_fades_where_it_is_lost(lab, browser):
    flags = {"nodes": "2", "seed": "1", "until": "4s", "loss": ".3"}
    stage(lab, browser, "protocol=le-s&" + "&".join(f"{name}={value}" for name, value in flags.items()))
    lines = lab.lines("/api/run", protocol="le-s", flags=flags)
    sent = sorted(it["t"] for it in lines if it.get("kind") == "send")
    took = sorted(it["t"] - it["sent"] for it in lines if it.get("kind") == "recv")
    usual = took[len(took) // 2]
    # A loss with no other message on its way.
    lost = next(it for it in lines if it.get("kind") == "drop"
                and sum(abs(t - it["sent"]) < 2 * usual for t in sent) == 1)
    whole = max(lost["t"] - lost["sent"], usual)
    places = browser.script(PLACES)
    (ax, ay, width), (bx, by, _) = places[str(lost["from"])], places[str(lost["node"])]
    length, gap = math.dist((ax, ay), (bx, by)), width / 2 - 1
    seen = []
    for done in (.5, .65, .8, .95, 1.05):
        browser.script(SCRUB, 10000 * (lost["sent"] + done * whole) / lines[0]["until"])
        share = done if lost["t"] > lost["sent"] else min(done, .55)
        part = (gap + (length - 2 * gap) * share) / length
        seen.append(browser.script(INK, ax + (bx - ax) * part, ay + (by - ay) * part))
    print(f"  (drawn of it: {', '.join(str(one) for one in seen)})")
    assert seen[0] > 200 and seen[-1] == 0, seen
    assert all(later < before for before, later in zip(seen[1:], seen[2:])), f"it fades: {seen}"
    quiet(browser)


def a_process_of_the_group_beside_tells_of_its_own_run(lab, browser):
    stage(lab, browser, "lesson=hall-split-local")
    browser.script(SCRUB, 7000)
    # Of each pane: what its processes believe, and where they stand.
    seen = browser.script("""
        return [...document.querySelectorAll('.pane')].map((pane) => [...pane.querySelectorAll('.person')]
            .map((one) => {
                const box = one.getBoundingClientRect();
                return [one.ariaLabel, box.left + box.width / 2, box.top + box.height / 2];
            }));
    """)
    assert len(seen) == 2, seen
    differ = [id for id, (a, b) in enumerate(zip(*seen)) if a[0] != b[0]]
    assert differ, "the two runs differ"
    id, told = differ[0], "return document.querySelector('.who .belief')?.textContent"
    for pane in (1, 0):
        label, x, y = seen[pane][id]
        words = label.removeprefix(f"Process {id} ")
        browser.move(x, y)
        browser.wait(f"what it believes in pane {pane}", f"return (() => {{ {told} }})() === arguments[0]", words)
        browser.move(x, y, click=True)
        assert browser.script(told) == words, pane
        deeds = browser.script("return document.querySelectorAll('[data-deed]').length")
        assert (deeds > 0) == (pane == 0), "only the first group is broken"
        pressed = browser.script("return [...document.querySelectorAll('.person[aria-pressed=true]')]"
                                 ".map((one) => one.closest('.pane') === document.querySelector('.pane'))")
        assert pressed == [pane == 0], "it is selected where it was clicked"
        browser.keys(ESCAPE)
    # A line through the second group splits nothing.
    box = browser.script("const box = document.querySelectorAll('.people')[1].getBoundingClientRect();"
                         "return [box.left, box.top, box.width, box.height]")
    y = box[1] + box[3] * 0.62
    browser.drag((box[0] + 6, y), (box[0] + box[2] - 6, y - 4))
    settled(browser)
    assert "fault" not in browser.script("return location.hash")
    quiet(browser)

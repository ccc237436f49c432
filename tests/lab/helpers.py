"""What the checks share: scripts for the page, and the steps that most of them begin with."""

import os

# Whether the command is a release build, which must be as fast as it is promised to be.
RELEASE = os.environ.get("RELEASE") == "1"

VIEWS = ["stage", "measure", "figures", "judge", "live"]
LEFT, RIGHT, UP, DOWN, ENTER, HOME, END, TAB, ESCAPE = (
    "\ue012", "\ue014", "\ue013", "\ue015", "\ue007", "\ue011", "\ue010", "\ue004", "\ue00c",
)

# The labels of all processes: what each believes at the cursor.
LABELS = "return [...document.querySelectorAll('.person')].map((e) => e.ariaLabel)"
TIME = "return Number.parseFloat(document.querySelector('.clock').textContent)"
# The digest of the run that is shown, once all processes are where they stay: a picture follows its
# room in the frame after, and the buttons of the processes move with it.
DIGEST = """
const scale = Math.min(2, devicePixelRatio || 1);
const fits = (canvas) => {
    const box = canvas.getBoundingClientRect();
    return Math.abs(canvas.width - Math.max(1, box.width * scale)) < 1
        && Math.abs(canvas.height - Math.max(1, box.height * scale)) < 1;
};
return !document.body.dataset.busy && [...document.querySelectorAll('.group-canvas')].every(fits)
    && document.body.dataset.digest;
"""
SCRUB = """
const line = document.querySelector('.scrub');
line.value = arguments[0];
line.dispatchEvent(new Event('input'));
"""

# Sets a slider as a pointer does, and says whether there is one.
SLIDE = """
const slider = document.querySelector(arguments[0]);
slider.value = arguments[1];
slider.dispatchEvent(new Event('input', {bubbles: true}));
"""

# What the stage says is broken or refused.
BROKEN = "return document.querySelector('.stage .notice.bad:not(#differs)')?.textContent"

# Where processes are on the page, by id: the middle, and how wide the button is.
PLACES = """
return Object.fromEntries([...document.querySelectorAll('.person')].map((one) => {
    const box = one.getBoundingClientRect();
    return [one.dataset.node, [box.left + box.width / 2, box.top + box.height / 2, box.width]];
}));
"""

# Drops a file with this text and this name on the page that is shown now.
DROP = """
document.querySelector('.stage .notice').textContent = '';
const data = new DataTransfer();
data.items.add(new File([arguments[0]], arguments[1]));
dispatchEvent(new DragEvent('drop', {dataTransfer: data}));
"""


def settled(browser):
    """Waits until the stage shows what its address says, and returns the digest of the records."""
    return browser.wait("the run", DIGEST)


def stage(lab, browser, query):
    """Opens a run on the stage."""
    browser.open(lab.address(f"stage?{query}"))
    return settled(browser)


def changed(browser, before):
    """Waits until another run is shown, and returns its digest."""
    return browser.wait("another run", f"const now = (() => {{ {DIGEST} }})();"
                        "return now !== arguments[0] && now", before)


def quiet(browser):
    """Fails if the console or a request has complained."""
    found = browser.complaints()
    assert not found, found


def sides(words):
    """The two sides of a cut: `1.6scut: 0, 1 → 2, 3`."""
    return [[int(id) for id in side.split(",")] for side in words.split(": ")[1].rstrip("×").split("→")]


def tabbed(browser, css):
    """Presses the tabulator until an element that a selector names has the focus."""
    for _ in range(80):
        browser.keys(TAB)
        if browser.script("return document.activeElement.matches(arguments[0])", css):
            return
    raise AssertionError(f"the tabulator does not come to {css}")


# The roles of what can be used.
ROLES = {"button", "link", "textbox", "searchbox", "combobox", "slider", "spinbutton", "checkbox", "tab"}


def named(browser):
    """How many elements of each role screen readers find on the page; each has a name."""
    # All that is folded is opened: what is hidden has no role.
    browser.script("for (const one of document.querySelectorAll('details')) one.open = true")
    browser.tell("Accessibility.enable")
    seen, unnamed = {}, []
    for node in browser.tell("Accessibility.getFullAXTree")["nodes"]:
        role = node.get("role", {}).get("value")
        if node.get("ignored") or role not in ROLES:
            continue
        seen[role] = seen.get(role, 0) + 1
        if not node.get("name", {}).get("value", "").strip():
            unnamed.append((role, node.get("backendDOMNodeId")))
    assert not unnamed, unnamed
    return seen


def share(browser, what):
    """Does something of the menu of what can be shared."""
    browser.script("document.querySelector('.menu').open = true")
    browser.click(f'[data-share="{what}"]')


def link(browser, a, b):
    """Selects two processes."""
    browser.script("document.activeElement.blur()")
    browser.keys(ESCAPE)
    browser.click(f'.person[data-node="{a}"]')
    browser.script("document.querySelector(arguments[0]).dispatchEvent(new MouseEvent('click',"
                   " {shiftKey: true, bubbles: true}))", f'.person[data-node="{b}"]')

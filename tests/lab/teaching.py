"""A class is prepared from the page alone: with a pointer, and with the keyboard alone."""

import subprocess

from helpers import DROP, END, ENTER, HOME, RIGHT, DOWN, LABELS, SCRUB, TIME
from helpers import changed, quiet, settled, share, stage, tabbed
from webdriver import Browser

CAPTION = "return document.querySelector('.caption')?.textContent"
# Remembers what was copied last: a button says so for a moment.
COPYING = """
window.copies = 0;
const look = ([{target}]) => { window.copies += target.textContent === 'Copied' ? 1 : 0; };
for (const button of document.querySelectorAll('[data-share]')) {
    new MutationObserver(look).observe(button, {childList: true});
}
"""
# What can be saved, and how the file ends. Each is waited for before the next: what a page saves
# without a click of its own is held back by the browser.
SAVED = {"scenario": "toml", "picture": "svg", "records": "jsonl"}


def ran(lab, words, folder):
    """What a command prints in this directory."""
    done = subprocess.run([lab.program, *words.split()], cwd=folder, check=True, stdout=subprocess.PIPE,
                          text=True)
    return done.stdout


def stepped(browser, captions, press):
    """Steps through the captions of a lesson, and returns what they say."""
    seen = [browser.script(CAPTION)]
    for _ in range(captions):
        press()
        seen.append(browser.wait("the next caption", f"const now = (() => {{ {CAPTION} }})();"
                                 "return now !== arguments[0] && now", seen[-1]))
    return seen


def handed_over(lab, browser, copied, name):
    """What was copied and saved makes the run that is shown: at another address, and by commands."""
    shown = settled(browser)
    records = browser.file(f"{name}.jsonl")
    assert browser.file(f"{name}.svg").startswith("<svg")
    assert browser.file(f"{name}.toml") and copied["command"] == f"bellwether trace {name}.toml", copied
    assert lab.traced(copied["command"], browser.saved) == records
    told = ran(lab, f"sim {name}.toml --runs 20", browser.saved)
    assert "20 runs" in told, told
    other = Browser()
    try:
        other.open(lab.address(copied["address"].split("#")[1]))
        assert settled(other) == shown, "opened again it is equal"
        assert not other.script("return document.querySelector('#differs').checkVisibility()")
        assert other.script(CAPTION) == browser.script(CAPTION)
        quiet(other)
    finally:
        other.close()


def a_class_is_prepared_with_a_pointer(lab, browser):
    browser.open(lab.address())
    before = settled(browser)
    browser.click("#tab-lessons")
    browser.click('[data-lesson="ring-6-21"]')
    lesson = changed(browser, before)
    listed = next(it for it in lab.json("/api/lessons")["lessons"] if it["name"] == "ring-6-21")
    seen = stepped(browser, listed["captions"], lambda: browser.click('[data-caption="next"]'))
    assert seen[-1] == f"✓ {listed['outcome']}", seen
    browser.script(SCRUB, 6000)
    browser.click('.person[data-node="2"]')
    browser.click('[data-deed="Crash"]')
    crashed = changed(browser, lesson)
    box = browser.script("const b = document.querySelector('.people').getBoundingClientRect();"
                         "return [b.left, b.top, b.width, b.height]")
    # Between the processes on the left and those on the right.
    x = box[0] + box[2] * .55
    browser.drag((x, box[1] + 3), (x - 4, box[1] + box[3] - 3))
    split = changed(browser, crashed)
    browser.click("#undo")
    assert changed(browser, split) == crashed
    browser.click("#redo")
    assert changed(browser, crashed) == split
    browser.click("#undo")
    changed(browser, split)
    browser.click("#caption-here")
    browser.wait("the question", "return document.querySelector('dialog[open] #asked')")
    browser.write("#asked", "And now?")
    browser.click("dialog[open] button.main")
    browser.wait("its line", "return document.querySelector('.word-list')?.textContent.includes('And now?')")
    assert browser.script(CAPTION) == "And now?"
    browser.script(SCRUB, 0)
    browser.script(COPYING)
    copied = {}
    for number, what in enumerate(("address", "command"), 1):
        share(browser, what)
        browser.wait("the copy", "return window.copies === arguments[0]", number)
        copied[what] = browser.copied()
    for what, end in SAVED.items():
        share(browser, what)
        browser.file(f"ring-1.{end}")
    handed_over(lab, browser, copied, "ring-1")
    quiet(browser)


def a_class_is_prepared_with_the_keyboard_alone(lab, browser):
    browser.open(lab.address())
    before = settled(browser)
    tabbed(browser, "#tab-run")
    browser.keys(RIGHT)
    tabbed(browser, '[data-lesson="bully-3-12"]')
    browser.keys(ENTER)
    lesson = changed(browser, before)
    listed = next(it for it in lab.json("/api/lessons")["lessons"] if it["name"] == "bully-3-12")
    seen = stepped(browser, listed["captions"], lambda: browser.keys("."))
    assert seen[-1] == f"✓ {listed['outcome']}", seen
    browser.keys(HOME)
    browser.keys(*RIGHT * 8)
    # One process crashes; two are split off from the others.
    tabbed(browser, ".person")
    browser.keys(DOWN, DOWN, ENTER)
    tabbed(browser, '[data-deed="Crash"]')
    browser.keys(ENTER)
    crashed = changed(browser, lesson)
    tabbed(browser, ".person")
    browser.keys(DOWN)
    browser.keys(ENTER, shift=True)
    words = browser.script("return document.querySelector('.who h3').textContent")
    assert words == "Processes 2, 3", words
    tabbed(browser, '[data-deed="Split off"]')
    browser.keys(ENTER)
    split = changed(browser, crashed)
    tabbed(browser, "#undo")
    browser.keys(ENTER)
    assert changed(browser, split) == crashed
    # What had the focus still has it, where it is drawn anew.
    focused = "return document.activeElement.id"
    assert browser.script(focused) == "undo", browser.script(focused)
    for button, words in (("#caption-here", "And now?"), ("#conclude", "Who leads?")):
        tabbed(browser, button)
        browser.keys(ENTER)
        browser.wait("the question", "return document.querySelector('dialog[open] #asked')")
        browser.keys(*words)
        browser.keys(ENTER)
        browser.wait("its line", "return document.querySelector('.word-list')?.textContent"
                     ".includes(arguments[0])", words)
        assert browser.script(focused) == button[1:], browser.script(focused)
    browser.script(COPYING)
    tabbed(browser, "summary.button")
    browser.keys(ENTER)
    copied, number = {}, 0
    for what in ("address", "command", *SAVED):
        tabbed(browser, f'[data-share="{what}"]')
        browser.keys(ENTER)
        if what in ("address", "command"):
            number += 1
            browser.wait("the copy", "return window.copies === arguments[0]", number)
            copied[what] = browser.copied()
        else:
            browser.file(f"bully-1.{SAVED[what]}")
    browser.keys(HOME)
    handed_over(lab, browser, copied, "bully-1")
    quiet(browser)


def an_outcome_states_what_is_broken(lab, browser):
    stage(lab, browser, "lesson=hall-bug")
    browser.click("#conclude")
    browser.wait("the question", "return document.querySelector('dialog[open] #asked')")
    browser.write("#asked", "Two led.")
    browser.click("dialog[open] button.main")
    said = "✓ Two led."
    told = browser.wait("its line", "return document.querySelector('.word-list')?.textContent.includes('Two led.')"
                        " && location.hash.slice(1)")
    assert "outcome=0-locked-supporters_Two+led." in told, told
    settled(browser)
    browser.script("document.activeElement.blur()")
    browser.keys(END)
    assert browser.script(CAPTION) == said, browser.script(CAPTION)
    share(browser, "scenario")
    saved = browser.file("local-leader-1.toml")
    assert 'broken = "locked-supporters"' in saved, saved
    for again in (lambda: browser.open(lab.address(told)), lambda: browser.script(DROP, saved, "saved.toml")):
        again()
        settled(browser)
        browser.keys(END)
        browser.wait("what it comes to", f"return (() => {{ {CAPTION} }})() === arguments[0]", said)
    quiet(browser)


# Changes what stands in the field of a dialog.
REPLACE = """
const field = document.querySelector('dialog[open] textarea');
if (!field.value.includes(arguments[0])) return false;
field.value = field.value.replace(arguments[0], arguments[1]);
return true;
"""


# Counts how often a scenario is checked.
COUNTED = """
const asked = window.fetch;
window.commands = 0;
window.fetch = (where, how) => {
    if (String(where).includes('api/command')) window.commands += 1;
    return asked(where, how);
};
"""


def a_lesson_is_changed_as_text(lab, browser):
    printed = stage(lab, browser, "lesson=merea-mistake")
    browser.script(SCRUB, 4000)
    moment = browser.script(TIME)
    browser.click("#edit-here")
    browser.wait("its text", "return document.querySelector('dialog[open] textarea')")
    assert browser.script(REPLACE, "as-printed = true", "as-printed = 7")
    # Pressed twice, it asks once.
    browser.script(COUNTED)
    browser.script("for (let i = 0; i < 2; i += 1) document.querySelector('dialog[open] button.main').click()")
    words = browser.wait("why not", "return document.querySelector('dialog[open] .wrong:not([hidden])')?.textContent")
    assert "line " in words and "as-printed" in words, words
    assert browser.script("return window.commands") == 1
    assert browser.script("return document.activeElement.matches('dialog[open] textarea')")
    assert browser.script(REPLACE, "as-printed = 7", "as-printed = false")
    assert browser.script(REPLACE, 'about = "', 'about = "In class: ')
    browser.click("dialog[open] button.main")
    changed(browser, printed)
    assert browser.script(TIME) == moment > 0, (browser.script(TIME), moment)
    assert browser.script("return document.querySelector('.about').textContent").startswith("In class: ")
    browser.script("document.activeElement.blur()")
    browser.keys(END)
    assert browser.script(LABELS)[7].endswith("leads"), browser.script(LABELS)
    # It is opened again as any other file, and can be left as it is.
    browser.click("#edit-text")
    assert browser.wait("its text", "return document.querySelector('dialog[open] textarea')?.value"
                        ".includes('as-printed = false')")
    browser.click("dialog[open] button[type=button]")
    shown = settled(browser)
    browser.open(lab.address(browser.script("return location.hash.slice(1)")))
    assert settled(browser) == shown
    assert all("422" in line for line in browser.complaints())

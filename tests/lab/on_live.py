"""Live: members that run, and the five of the demonstration."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import time

from elsewhere import elsewhere
from helpers import DROP, named, quiet
from lab import Lab
from webdriver import PATIENCE

LEADING = "return document.querySelector('.member.leading')?.dataset.member"
LED_NEXT = f"const now = (() => {{ {LEADING} }})(); return now !== arguments[0] && now"
REFUSED = "if (document.querySelector('.live .wrong[role=alert]').checkVisibility()) return true;"
# Whether a failover was timed.
TIMED = "return /ms/.test(document.querySelector('#failovers tbody')?.textContent)"


def is_now(browser, member, state):
    """Waits until a member of the demo is in a state."""
    browser.wait(f"member {member} {state}", "return document.querySelector(arguments[0])",
                 f'.member.{state}[data-member="{member}"]')


def restarted(browser, member):
    """Starts a member again that was killed."""
    browser.click(f'[data-deed="{member}-restart"]')
    is_now(browser, member, "running")


def failed_over(browser):
    """Kills the leader by a click, and waits until another one leads; who was killed.

    On a busy machine the lead may have changed before the click comes. Whoever was killed then did
    not lead, so no failover is timed: it is started again, and the leader of now is killed.
    """
    for _ in range(10):
        first = browser.wait("a leader", LEADING)
        browser.click(f'[data-deed="{first}-kill"]')
        is_now(browser, first, "dead")
        browser.wait("another leader", LED_NEXT, first)
        if browser.script(TIMED):  # it is told together with the new leader
            return first
        restarted(browser, first)
    raise AssertionError("no failover was timed")


def the_demo_group_loses_its_leader_by_a_click_and_gets_a_new_one(lab, browser):
    browser.open(lab.address("live"))
    browser.click("#demo-start")
    browser.wait("a leader", LEADING)
    assert named(browser)["button"] > 25, "each button of each member has a name"
    first = failed_over(browser)
    browser.wait("a round trip", "return [...document.querySelectorAll('.status dt')].some((e) =>"
                 " e.textContent === 'round trip' && /ms/.test(e.nextSibling.textContent))")
    past = browser.wait("the history", "const rows = [...document.querySelectorAll('.past b')]"
                        ".map((e) => e.textContent); return rows.length && rows")
    assert all("," not in words for words in past), f"never two: {past}"
    restarted(browser, first)
    browser.click("#demo-trace")
    browser.wait("the verdict", "return document.querySelector('.stage .notice')?.textContent"
                 ".includes('recorded trace')")
    # The same, as a file that is dropped on the page.
    browser.script(DROP, lab.ask("GET", "/api/demo/trace")[1], "members.jsonl")
    browser.wait("its records", "return document.querySelector('.stage .notice')?.textContent"
                 ".includes('recorded trace')")
    browser.script("location.hash = 'live'")
    browser.click("#demo-stop")
    browser.wait("its end", "return !document.querySelector('#demo-start').hidden")
    quiet(browser)


def the_leader_of_the_demo_is_paused_goes_on_and_resigns_by_clicks(lab, browser):
    browser.open(lab.address("live"))
    browser.click("#demo-start")
    rows = "return [...document.querySelectorAll('#failovers tbody tr')].map((e) => e.dataset.what)"
    for deed in ("pause", "resign"):
        for _ in range(10):  # on a busy machine the lead may have changed before the click comes
            leader = browser.wait("a leader", LEADING)
            browser.script("document.querySelector(arguments[0])?.click()", f'[data-deed="{leader}-{deed}"]')
            # One that did not lead any more refuses to resign, and says so.
            browser.wait("another leader, or why not", REFUSED + LED_NEXT, leader)
            if deed == "pause":
                is_now(browser, leader, "paused")
                browser.click(f'[data-deed="{leader}-continue"]')
                is_now(browser, leader, "running")
            if deed in browser.script(rows):
                break
        assert deed in browser.script(rows), f"the failover by {deed} was timed"
    browser.click("#demo-stop")
    browser.wait("its end", "return !document.querySelector('#demo-start').hidden")
    assert all("409" in line for line in browser.complaints())


def who_led_before_the_page_was_opened_is_told(lab, browser):
    with lab.member():
        # In a group of one it leads again after it resigned.
        key = json.dumps({"member": f"{lab.folder.name}/web/1"})
        end = time.monotonic() + PATIENCE
        while lab.ask("POST", "/api/live/resign", key)[0] != 200:
            assert time.monotonic() < end, "it never led"
            time.sleep(.05)
        browser.open(lab.address("live"))
        told = browser.wait("its past", "const rows = [...document.querySelectorAll('.past li')]"
                            ".map((e) => e.textContent); return rows.length > 1 &&"
                            " rows.some((words) => words.includes('resigned')) &&"
                            " rows.some((words) => words.includes('Nobody led for')) && rows")
        assert any("web: led for " in words for words in told), told
        assert any("web: leads. Nobody led for " in words for words in told), told
    quiet(browser)


def members_that_are_too_many_are_counted(lab, browser):
    places = [pathlib.Path(lab.folder.name, f"crowd.{id}.sock") for id in range(70)]
    for place in places:
        place.touch()
    try:
        browser.open(lab.address("live"))
        words = browser.wait("the count", "const it = document.querySelector('#left-out');"
                             "return it?.checkVisibility() && it.textContent")
        assert words.startswith("6 members more than can be asked."), words
    finally:
        for place in places:
            place.unlink()
    browser.wait("no count", "return !document.querySelector('#left-out').checkVisibility()")
    quiet(browser)


def a_member_that_runs_here_is_shown_and_asked_to_resign(lab, browser):
    with lab.member() as place:
        browser.open(lab.address("live"))
        browser.wait("its card", "return document.querySelector('[data-key$=\"/web/1\"]')")
        leads = "return document.querySelector('#live-leader').textContent === 'web: 1 leads'"
        browser.wait(f"it leads at {place}", leads)
        # In a group of one it leads again, in a later term.
        term = ("return Number([...document.querySelectorAll('.status dt')]"
                ".find((e) => e.textContent === 'term')?.nextSibling.textContent)")
        before = browser.wait("its term", term)
        browser.click('[data-resign$="/web/1"]')
        browser.wait("the question", "return document.querySelector('dialog[open]')?.textContent"
                     ".includes('Ask web/1 to stop leading?')")
        browser.click("dialog[open] button.main")
        browser.wait("a later term", f"const now = (() => {{ {term} }})(); return now > arguments[0]", before)
    browser.wait("that it has ended", "return document.querySelector('[data-key$=\"/web/1\"]') === null")
    quiet(browser)


def the_demo_begins_with_the_laboratory_and_says_what_went_wrong(lab, browser):
    with Lab("--demo") as own:
        browser.open(own.address())
        first = browser.wait("a leader without a click", LEADING)
        assert browser.script("return location.hash") == "#live", "the bare address is the live page"
        # One that is killed by nobody's click has ended by itself.
        words = browser.script("return document.querySelector(arguments[0]).textContent",
                               f'.member[data-member="{first}"] p')
        os.kill(int(words.split("process ")[1]), signal.SIGKILL)
        words = browser.wait("the complaint", "const it = document.querySelector('#demo-complaint');"
                             "return it?.checkVisibility() && it.textContent")
        assert "member" in words, words
        browser.wait("another leader", LED_NEXT, first)
        quiet(browser)


def datagrams_that_are_refused_are_counted_by_reason(lab, browser):
    with lab.member() as place:
        browser.open(lab.address("live"))
        browser.wait("its card", "return document.querySelector('[data-key$=\"/web/1\"] dl')")
        rows = ("return Object.fromEntries([...document.querySelectorAll('[data-key$=\"/web/1\"] dt')]"
                ".map((e) => [e.textContent, e.nextSibling.textContent]))")
        assert "refused" not in browser.script(rows)
        host, port = place.split(":")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            for _ in range(3):
                stranger.sendto(b"no frame of anybody", (host, int(port)))
        seen = browser.wait("three refused datagrams", f"const now = (() => {{ {rows} }})();"
                            "return now.refused === '3 datagrams' && now")
        reasons = {name: int(number) for name, number in seen.items() if name.startswith("– ")}
        assert sum(reasons.values()) == 3 and all(len(name) > 4 for name in reasons), seen
    quiet(browser)


# Counts for a second how often the lanes are drawn, and how many frames there are.
DRAWS = """
const done = arguments[0];
const counted = {draws: 0, frames: 0};
const prototype = CanvasRenderingContext2D.prototype;
const real = prototype.clearRect;
prototype.clearRect = function (...box) {
    counted.draws += 1;
    return real.apply(this, box);
};
const frame = () => {
    counted.frames += 1;
    if (prototype.clearRect !== real) requestAnimationFrame(frame);
};
requestAnimationFrame(frame);
setTimeout(() => {
    prototype.clearRect = real;
    done(counted);
}, 1000);
"""


def a_member_elsewhere_is_shown_with_its_lease_and_its_warnings(lab, browser):
    warnings = ["its clock differs by 3 s from that of member 2", "the machine stood still for 400 ms"]
    with lab.member():
        words = [lab.program, "status", "web", "--dir", lab.folder.name, "--format", "json"]
        status, end = {}, time.monotonic() + PATIENCE
        while status.get("role") != "leader" and time.monotonic() < end:
            done = subprocess.run(words, check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            found = json.loads(done.stdout or "{}")
            status = found[0] if isinstance(found, list) else found
            time.sleep(.05)
    status = {**status, "lease_duration_ms": 400, "lease_ends_ms": 100, "warnings": warnings}
    with elsewhere(json.dumps(status).encode(), "application/json") as url, Lab("--member", url) as own:
        browser.open(own.address("live"))
        card = browser.wait("its card", "const card = document.querySelector('.status[data-key^=\"http\"]');"
                            "return card?.querySelector('meter') && {text: card.innerText,"
                            " share: card.querySelector('meter').value / card.querySelector('meter').max,"
                            " resigns: card.querySelector('[data-resign]')?.checkVisibility() ?? false,"
                            " warnings: [...card.querySelectorAll('.warning')].map((e) => e.textContent)}")
        assert card["share"] == .25 and "100 ms" in card["text"], card
        assert card["warnings"] == warnings, card
        assert not card["resigns"], "members elsewhere are only watched"
        assert url.removeprefix("http://").strip("/") in card["text"], card
        # Its lane grows with every frame; with reduced motion, when something is heard of it.
        usual = browser.later(DRAWS)
        browser.prefer(prefers_reduced_motion="reduce")
        less = browser.later(DRAWS)
        print(f"  (drawn {usual['draws']} times in {usual['frames']} frames; {less['draws']} in {less['frames']})")
        assert usual["draws"] >= usual["frames"] - 2 > 0 and less["draws"] < less["frames"], (usual, less)
        quiet(browser)
    browser.prefer(prefers_reduced_motion="no-preference")

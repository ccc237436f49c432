"""Live: members that run, and the five of the demonstration."""

import os
import signal
import socket

from helpers import DROP, named, quiet
from lab import Lab


def the_demo_group_loses_its_leader_by_a_click_and_gets_a_new_one(lab, browser):
    browser.open(lab.address("live"))
    browser.click("#demo-start")
    leading = "return document.querySelector('.member.leading')?.dataset.member"
    first = browser.wait("a leader", leading)
    assert named(browser)["button"] > 25, "each button of each member has a name"
    browser.click(f'[data-deed="{first}-kill"]')
    second = browser.wait("another leader", f"const now = (() => {{ {leading} }})();"
                          "return now !== arguments[0] && now", first)
    assert first != second
    browser.wait("the time", "return /ms/.test(document.querySelector('#failovers tbody')?.textContent)")
    browser.wait("a round trip", "return [...document.querySelectorAll('.status dt')].some((e) =>"
                 " e.textContent === 'round trip' && /ms/.test(e.nextSibling.textContent))")
    past = browser.script("return [...document.querySelectorAll('.past b')].map((e) => e.textContent)")
    assert past and all("," not in words for words in past), f"never two: {past}"
    browser.click(f'[data-deed="{first}-restart"]')
    browser.wait("its return", "return document.querySelector(arguments[0])",
                 f'.member.running[data-member="{first}"]')
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
    leading = "return document.querySelector('.member.leading')?.dataset.member"
    with Lab("--demo") as own:
        browser.open(own.address())
        first = browser.wait("a leader without a click", leading)
        assert browser.script("return location.hash") == "#live", "the bare address is the live page"
        # One that is killed by nobody's click has ended by itself.
        words = browser.script("return document.querySelector(arguments[0]).textContent",
                               f'.member[data-member="{first}"] p')
        os.kill(int(words.split("process ")[1]), signal.SIGKILL)
        words = browser.wait("the complaint", "const it = document.querySelector('#demo-complaint');"
                             "return it.checkVisibility() && it.textContent")
        assert "member" in words, words
        browser.wait("another leader", f"const now = (() => {{ {leading} }})();"
                     "return now && now !== arguments[0]", first)
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
        browser.wait("three refused datagrams", f"return (() => {{ {rows} }})().refused === '3 datagrams'")
        seen = browser.script(rows)
        reasons = {name: int(number) for name, number in seen.items() if name.startswith("– ")}
        assert sum(reasons.values()) == 3 and all(len(name) > 4 for name in reasons), seen
    quiet(browser)

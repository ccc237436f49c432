"""Every page with the keyboard alone, and the dialog that lists the keys."""

from helpers import BROKEN, ENTER, ESCAPE, RIGHT, quiet, settled, stage, tabbed


def a_measurement_is_moved_with_the_keyboard(lab, browser):
    done = "return !document.body.dataset.busy && document.querySelector('.state')?.dataset.mean"
    browser.open(lab.address("measure?protocol=le-s&nodes=20&runs=64"))
    before = browser.wait("the result", done)
    tabbed(browser, "#slider-loss")
    browser.keys(*RIGHT * 40)
    browser.wait("another result", f"const now = (() => {{ {done} }})(); return now && now !== arguments[0]", before)
    assert "loss=" in browser.script("return location.hash")
    assert browser.script("return document.activeElement.id") == "slider-loss"
    quiet(browser)


def a_figure_is_opened_with_the_keyboard(lab, browser):
    browser.open(lab.address("figures"))
    browser.wait("the list", "return document.querySelectorAll('.figure-list a').length > 5")
    tabbed(browser, '.figure-list a[data-figure="5.6"]')
    browser.keys(ENTER)
    browser.wait("the figure", "return document.querySelector('img.figure')?.naturalWidth > 100")
    quiet(browser)


def the_judge_is_started_with_the_keyboard(lab, browser):
    browser.open(lab.address("judge"))
    browser.wait("the form", "return document.querySelector('#judge-protocol')")
    browser.choose("#judge-protocol", "le-s")
    browser.choose("#judge-promise", "never-two")
    tabbed(browser, "#judge-start")
    browser.keys(ENTER)
    browser.wait("a violation", "return document.querySelector('#judge-open')")
    tabbed(browser, "#judge-open")
    browser.keys(ENTER)
    settled(browser)
    assert "never-two" in browser.script(BROKEN)
    quiet(browser)


def the_demo_is_started_its_leader_killed_and_ended_with_the_keyboard(lab, browser):
    browser.open(lab.address("live"))
    browser.wait("its button", "return document.querySelector('#demo-start')?.checkVisibility()")
    tabbed(browser, "#demo-start")
    browser.keys(ENTER)
    leader = browser.wait("a leader", "return document.querySelector('.member.leading')?.dataset.member")
    browser.script("document.activeElement.blur()")
    tabbed(browser, f'[data-deed="{leader}-kill"]')
    browser.keys(ENTER)
    browser.wait("its death", "return document.querySelector(arguments[0])", f'.member.dead[data-member="{leader}"]')
    browser.script("document.activeElement.blur()")
    tabbed(browser, "#demo-stop")
    browser.keys(ENTER)
    browser.wait("its end", "return !document.querySelector('#demo-start').hidden")
    quiet(browser)


def the_keys_are_listed_in_a_dialog(lab, browser):
    stage(lab, browser, "protocol=le-s")
    browser.script("document.activeElement.blur()")
    before = browser.script("return document.querySelector('.clock').textContent")
    browser.keys("?")
    words = browser.wait("the dialog", "return document.querySelector('#help[open]')?.innerText")
    assert "play or pause" in words and "Shift" in words, words
    browser.keys(RIGHT, RIGHT)
    assert browser.script("return document.querySelector('.clock').textContent") == before, "it is not played on"
    browser.keys(ESCAPE)
    browser.wait("its end", "return !document.querySelector('#help').open")
    quiet(browser)

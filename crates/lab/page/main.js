// The page: which of its views is shown, the theme, and the keys. Each view is made when it is first
// opened.

import { ask, takeToken } from "./api.js";
import { unfold } from "./form.js";
import { readAddress, writeWanted } from "./address.js";
import { by } from "./dom.js";
import { themeChanged, useLooks } from "./palette.js";
import { Stage } from "./stage.js";
import { Measure } from "./measure.js";
import { Figures } from "./figures.js";
import { Judge } from "./judge.js";
import { Live } from "./live.js";
import { benchmark } from "./bench.js";

const VIEWS = ["stage", "measure", "figures", "judge", "live"];
/** The most bytes of a scenario file: an address must have room for it. */
const SCENARIO = 200_000;

/** What a view can do; all but `open` may be missing. */
/**
 * @typedef {{
 *   open: (hash: string) => unknown, close?: () => void, draw?: () => void, measure?: () => void,
 *   key?: (event: KeyboardEvent) => boolean, opened?: string,
 * }} View
 */

/** @type {Map<string, View>} */
const views = new Map();
let shown = "";

/** @type {Promise<any> | null} */
let table = null;

/** The protocols with their flags, asked for once. */
const protocols = () => (table ??= ask("protocols").then(unfold));

/** @type {{[name: string]: (element: HTMLElement, table: any) => View}} */
const MAKE = {
    stage: (element, table) => new Stage(element, table),
    measure: (element, table) => new Measure(element, table),
    figures: (element) => new Figures(element),
    judge: (element, table) => new Judge(element, table),
    live: (element) => new Live(element),
    bench: (element, table) => ({ open: () => benchmark(element, table) }),
};

/** Shows the view that the address names. */
async function route() {
    takeToken();
    const { view } = readAddress(location.hash);
    const name = MAKE[view] ? view : "stage";
    if (name !== shown) views.get(shown)?.close?.();
    shown = name;
    document.body.dataset.view = name;
    for (const section of document.querySelectorAll(".view")) {
        /** @type {HTMLElement} */ (section).hidden = section.id !== `view-${name}`;
    }
    for (const link of document.querySelectorAll("nav a")) {
        const here = /** @type {HTMLElement} */ (link).dataset.view === name;
        if (here) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
    }
    try {
        let made = views.get(name);
        if (!made) {
            const known = await protocols();
            useLooks(known.looks);
            made = views.get(name) ?? MAKE[name](by(`view-${name}`), known);
            views.set(name, made);
        }
        // The bare name of a view means: as it was left.
        const bare = !location.hash.includes("?");
        if (bare && made.opened) history.replaceState(null, "", made.opened);
        problem("");
        if (shown === name) await made.open(location.hash);
        made.measure?.();
    } catch (error) {
        table = null;
        problem(error instanceof Error ? error.message : String(error));
    }
}

/** @param {string} text */
function problem(text) {
    by("problem").textContent = text;
    by("problem").hidden = !text;
}

/** Light, dark, or as the system has it. */
function themes() {
    const names = ["auto", "light", "dark"];
    const media = matchMedia("(prefers-color-scheme: dark)");
    const button = by("theme");
    const apply = () => {
        const theme = localStorage.getItem("bellwether-lab-theme") ?? "auto";
        if (theme === "auto") delete document.documentElement.dataset.theme;
        else document.documentElement.dataset.theme = theme;
        button.textContent = `${theme[0].toUpperCase()}${theme.slice(1)}`;
        button.setAttribute("aria-label", `Theme: ${theme}`);
        themeChanged();
        for (const view of views.values()) view.measure?.();
    };
    button.addEventListener("click", () => {
        const now = localStorage.getItem("bellwether-lab-theme") ?? "auto";
        const next = names[(names.indexOf(now) + 1) % names.length];
        localStorage.setItem("bellwether-lab-theme", next);
        apply();
    });
    media.addEventListener("change", apply);
    apply();
}

/** @param {KeyboardEvent} event */
function key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (document.querySelector("dialog[open]")) return;
    const typing = target.matches("input:not([type=checkbox]):not([type=range]), select, textarea");
    if (typing) return;
    // Keys that the focused element has for itself.
    const pressed = target.closest("button, a, summary, input") !== null;
    if (pressed && (event.key === " " || event.key === "Enter")) return;
    if (target.matches("input[type=range]") && /^(Arrow|Home|End)/.test(event.key)) return;
    let taken = views.get(shown)?.key?.(event) ?? false;
    if (!taken && !event.ctrlKey && !event.metaKey && !event.altKey) {
        const page = VIEWS[Number(event.key) - 1];
        taken = page !== undefined || event.key === "?";
        if (page) location.hash = page;
        if (event.key === "?") /** @type {HTMLDialogElement} */ (by("help")).showModal();
    }
    if (taken) event.preventDefault();
}

/** Files that are dropped on the page are opened as those that are chosen. */
function dropping() {
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => {
        event.preventDefault();
        open([...(event.dataTransfer?.files ?? [])]);
    });
    addEventListener("bellwether-files", (event) =>
        open(/** @type {CustomEvent<Blob[]>} */ (event).detail));
}

/**
 * Plays a scenario file; or recorded traces, which are judged.
 * @param {Blob[]} files
 */
async function open(files) {
    if (!files.length) return;
    const scenario = files.find((file) => file instanceof File && file.name.endsWith(".toml"));
    if (scenario && scenario.size > SCENARIO) {
        const most = `but a scenario file has at most ${SCENARIO}`;
        return problem(`this file has ${scenario.size} bytes, ${most}`);
    }
    const hash = scenario ? writeWanted({ toml: await scenario.text(), faults: [] }) : "#stage";
    history.pushState(null, "", hash);
    await route();
    if (scenario) return;
    const trace = new Blob(files.flatMap((file) => [file, "\n"]));
    await /** @type {Stage | undefined} */ (views.get("stage"))?.judge(trace);
}

addEventListener("hashchange", () => route());
addEventListener("keydown", key);
by("help-open").addEventListener("click", () =>
    /** @type {HTMLDialogElement} */ (by("help")).showModal());
// The fragment is the address of a run, so this link moves the focus itself.
by("skip").addEventListener("click", (event) => {
    event.preventDefault();
    by("main-content").focus();
});
/** Without an address of its own the page begins with the demo, if there is one. */
async function begin() {
    takeToken();
    if (location.hash.length < 2) {
        const about = await ask("about").catch(() => null);
        if (about?.demo) history.replaceState(null, "", "#live");
    }
    await route();
}

themes();
dropping();
begin();

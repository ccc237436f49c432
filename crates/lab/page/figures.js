// Figures: every figure of the papers that can be reproduced, with a verdict for every claim. A
// figure is computed when it is asked for; one of its points can be played on the stage.

import { addressOf } from "./address.js";
import { ask, stream } from "./api.js";
import { copy, fill, h, reveal, save } from "./dom.js";

/** @typedef {{[key: string]: any}} Row */

/** The filters by verdict; `open` is all that is neither. */
const FILTERS = ["all", "confirmed", "refuted", "open", "not computed"];

export class Figures {
    /** @param {HTMLElement} element */
    constructor(element) {
        this.opened = "";
        /** @type {Row[]} */
        this.figures = [];
        /** @type {Map<string, Row>} What was computed in this session. */
        this.computed = new Map();
        this.filter = "all";
        this.paper = "";
        this.asking = new AbortController();
        this.filters = h("div", { class: "segments wrap", role: "group", "aria-label": "Verdicts" },
            ...FILTERS.map((name) => h("button", { type: "button", "data-filter": name,
                onclick: () => this.sift(name, this.paper) }, name)));
        this.papers = h("select", { "aria-label": "Paper" });
        this.papers.addEventListener("change", () => this.sift(this.filter, this.papers.value));
        this.making = new AbortController();
        this.all = h("button", { type: "button", id: "figures-all",
            title: "Computes all figures that have no verdict yet; that takes minutes",
            onclick: () => this.makeAll() }, "Compute all");
        this.stop = h("button", { type: "button", id: "figures-stop", hidden: true,
            onclick: () => this.making.abort() }, "Stop");
        this.bar = h("progress", { max: 1, value: 0, hidden: true, "aria-label": "Figures computed" });
        this.state = h("p", { class: "dim", id: "figures-state", role: "status" });
        this.list = h("ul", { class: "figure-list" });
        this.sheet = h("div", { class: "center flow" },
            h("p", { class: "dim" }, "Choose a figure: it is computed here, and each claim of the paper gets a verdict."));
        fill(element, h("aside", { class: "side", "aria-label": "Figures" },
            this.filters, this.papers, h("div", { class: "row wrap" }, this.all, this.stop, this.bar),
            this.state, this.list), this.sheet);
    }

    /** @param {string} hash */
    async open(hash) {
        if (!this.figures.length) {
            this.figures = (await ask("figures")).figures;
            const papers = [...new Set(this.figures.map(({ paper }) => paper))];
            fill(this.papers, h("option", { value: "" }, "All papers"),
                ...papers.map((paper) => h("option", { value: paper }, paper)));
            this.sift("all", "");
        }
        const id = new URLSearchParams(hash.split("?")[1] ?? "").get("id");
        this.opened = hash;
        if (!id) return;
        for (const link of this.list.querySelectorAll("a")) {
            if (link.dataset.figure === id) link.setAttribute("aria-current", "true");
            else link.removeAttribute("aria-current");
        }
        reveal(this.sheet);
        await this.compute(id);
    }

    close() {
        this.asking.abort();
        this.making.abort();
    }

    /** @param {Row} row */
    verdicts(row) {
        return (this.computed.get(row.id)?.verdicts ?? row.verdicts ?? []).map(
            (/** @type {Row} */ claim) => claim.verdict);
    }

    /**
     * @param {string} filter
     * @param {string} paper
     */
    sift(filter, paper) {
        [this.filter, this.paper] = [filter, paper];
        for (const button of this.filters.querySelectorAll("button")) {
            button.setAttribute("aria-pressed", String(button.dataset.filter === filter));
        }
        const fits = (/** @type {Row} */ row) => {
            const found = this.verdicts(row);
            if (paper && row.paper !== paper) return false;
            if (filter === "all") return true;
            if (filter === "not computed") return !found.length;
            if (filter !== "open") return found.includes(filter);
            return found.some((/** @type {string} */ verdict) =>
                verdict !== "confirmed" && verdict !== "refuted");
        };
        const rows = this.figures.filter(fits).map((row) => {
            const found = this.verdicts(row);
            const dots = found.map((/** @type {string} */ verdict) =>
                h("i", { class: `dot ${verdict.split(" ")[0]}`, title: verdict }));
            return h("li", {},
                h("a", { href: `#figures?id=${encodeURIComponent(row.id)}`, "data-figure": row.id,
                    "aria-current": this.opened.endsWith(`id=${encodeURIComponent(row.id)}`) ? "true" : null },
                    h("b", {}, row.id), h("span", {}, row.title), h("span", { class: "dots" }, ...dots)));
        });
        fill(this.list, ...rows);
        if (!rows.length) fill(this.list, h("li", { class: "dim" }, "No figure has this verdict yet."));
    }

    /** @param {string} id */
    async compute(id) {
        const known = this.computed.get(id);
        if (known) {
            this.show(known);
            return;
        }
        this.asking.abort();
        const { signal } = (this.asking = new AbortController());
        const row = this.figures.find((one) => one.id === id);
        const state = h("p", { class: "dim", role: "status" }, "computing…");
        const bar = h("progress", { max: 1, value: 0, "aria-label": "Simulations made" });
        fill(this.sheet, h("h2", {}, row?.title ?? id), bar, state);
        document.body.dataset.busy = "figure";
        try {
            const path = `figures/${encodeURIComponent(id)}`;
            await stream(path, { body: {}, signal }, (line) => {
                if (line.lab === "progress") {
                    if (line.of) bar.value = line.done / line.of;
                    const of = line.of ? ` of ${line.of.toLocaleString("en")}` : "";
                    state.textContent = `simulation ${line.done.toLocaleString("en")}${of}`;
                }
                if (line.lab !== "figure") return;
                this.computed.set(id, line);
                this.show(line);
                this.sift(this.filter, this.paper);
            });
        } catch (error) {
            if (!signal.aborted) state.textContent = error instanceof Error ? error.message : "";
        } finally {
            if (this.asking.signal === signal) delete document.body.dataset.busy;
        }
    }

    /** Computes one figure after the other, so that the filters by verdict find them all. */
    async makeAll() {
        const { signal } = (this.making = new AbortController());
        const missing = this.figures.filter((row) => !this.verdicts(row).length);
        [this.all.hidden, this.stop.hidden, this.bar.hidden] = [true, false, false];
        let problem = "";
        for (const [index, { id }] of missing.entries()) {
            this.bar.value = index / missing.length;
            this.state.textContent = `${index + 1} of ${missing.length}: ${id}${problem}`;
            try {
                await stream(`figures/${encodeURIComponent(id)}`, { body: {}, signal }, (line) => {
                    if (line.lab !== "figure") return;
                    this.computed.set(id, line);
                    this.sift(this.filter, this.paper);
                });
            } catch (error) {
                if (signal.aborted) break;
                problem = `; ${id}: ${error instanceof Error ? error.message : error}`;
            }
        }
        [this.all.hidden, this.stop.hidden, this.bar.hidden] = [false, true, true];
        const left = this.figures.filter((row) => !this.verdicts(row).length).length;
        this.state.textContent = (left ? `${left} of ${this.figures.length} have no verdict` : "All are computed") + problem;
    }

    /** @param {Row} figure */
    show(figure) {
        const picture = new Blob([figure.svg], { type: "image/svg+xml" });
        const command = h("button", { type: "button",
            onclick: () => copy(figure.command, command) }, "Copy the command");
        const claims = figure.verdicts.map((/** @type {Row} */ claim) =>
            h("li", {},
                h("span", { class: `verdict ${claim.verdict.split(" ")[0]}` }, claim.verdict),
                h("span", {}, claim.claim), claim.why ? h("small", { class: "dim" }, claim.why) : null));
        fill(this.sheet,
            h("h2", { class: "unseen" }, figure.title), h("p", { class: "dim" }, figure.paper),
            h("img", { class: "figure", src: URL.createObjectURL(picture),
                alt: `${figure.title}, as computed here` }),
            h("ul", { class: "claims" }, ...claims),
            player(figure.points ?? []),
            h("div", { class: "row wrap" }, command,
                h("button", { type: "button", onclick: () => save(`${figure.id}.svg`, picture) }, "Save the picture"),
                figure.csv ? h("button", { type: "button",
                    onclick: () => save(`${figure.id}.csv`, figure.csv, "text/csv") }, "Save CSV") : null));
    }
}

/**
 * A choice of the points of a figure, by curve, and the way to one run of the chosen one.
 * @param {Row[]} points
 */
function player(points) {
    if (!points.length) return null;
    const curves = [...new Set(points.map(({ curve }) => curve))];
    const option = (/** @type {Row} */ point) =>
        h("option", { value: points.indexOf(point) }, point.value ?? point.label);
    const choice = h("select", { id: "figure-point" }, ...(curves.length > 1 || curves[0]
        ? curves.map((curve) => h("optgroup", { label: curve },
            ...points.filter((point) => point.curve === curve).map(option)))
        : points.map(option)));
    const link = h("a", { class: "button main", id: "figure-play" }, "Play it on the stage");
    const note = h("span", { class: "dim" });
    const chosen = () => {
        const { what, at, note: words } = points[Number(choice.value)];
        // A run that waits for its event is shown from a moment before it.
        const from = at ? `&at=${(Math.max(0, at - 2e8) / 1e9).toFixed(9)}s` : "";
        link.href = addressOf(what) + from;
        note.textContent = words ?? "";
    };
    choice.addEventListener("change", chosen);
    chosen();
    return h("div", { class: "row wrap" },
        h("label", { for: "figure-point" }, "Play one such run:"), choice, link, note);
}

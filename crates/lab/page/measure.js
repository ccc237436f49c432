// Measure: what-if at the speed of a slider. Results stream in and sharpen; a new position cancels
// the old work. A drag asks at most once a frame, so that it does not take all places of the server.

import { readAddress, readFlags, writeFlags } from "./address.js";
import { stream } from "./api.js";
import { copy, fill, h, save } from "./dom.js";
import { count, trim } from "./format.js";
import { Form, helpOf, place } from "./form.js";
import { Plot } from "./plot.js";
import { slider } from "./sliders.js";
import { CSV_HEAD, Sweep, csvRow, cutWords, named } from "./sweep.js";

/** Protocols beside the first. */
const BESIDE = 3;
/** The most processes that a slider reaches; more can be typed. */
const MOST = 10_000;
const RUNS = 20_000;
const OTHERS = ["protocol", "with", "measure", "runs"];
/** The shortest time between two changes of the address, in milliseconds. */
const ADDRESS = 100;
/** So long a new position waits for the first picture of the one before, so that a drag shows some. */
const HOLD = 80;

/** @typedef {{protocol: string, asked: any, result: any, error: string | null}} Series */

export class Measure {
    /**
     * @param {HTMLElement} element
     * @param {any} table
     */
    constructor(element, table) {
        this.table = table;
        this.opened = "";
        /** @type {Series[]} */
        this.series = [];
        this.asking = new AbortController();
        /** When the reader last moved something, and when the server was last asked. */
        this.moved = this.asked = 0;
        /** Whether what was asked for has no picture yet, and whether something newer is wanted. */
        this.waiting = this.newer = false;
        /** The frame before which nothing more is asked, and the next change of the address. */
        this.frame = this.writing = 0;
        this.sweep = new Sweep(() => ({ flags: this.wanted.flags, runs: this.wanted.runs,
            measure: this.series[0]?.result?.measure }));
        /** @type {{protocol: string, flags: {[name: string]: any}, beside: string[], measure: string,
         *   runs: number}} */
        this.wanted = { protocol: "", flags: {}, beside: [], measure: "", runs: RUNS };
        const names = this.table.protocols.map((/** @type {any} */ one) => one.name);
        const select = (/** @type {string} */ id, /** @type {string[]} */ options) =>
            h("select", { id }, ...options.map((name) => h("option", { value: name }, name || "—")));
        this.choice = select("measure-protocol", names);
        this.choice.addEventListener("change", () => {
            this.wanted.protocol = this.choice.value;
            this.wanted.flags = {};
            this.wanted.measure = "";
            this.fillForm();
            this.navigate();
        });
        this.beside = Array.from({ length: BESIDE }, (_, index) => {
            const box = select(`beside-${index}`, ["", ...names]);
            box.setAttribute("aria-label", `Compare with, ${index + 1}`);
            box.addEventListener("change", () => {
                this.wanted.beside = this.beside.map(({ value }) => value).filter(Boolean);
                this.navigate();
            });
            return box;
        });
        this.measureBox = h("select", { id: "measure-what" });
        this.measureBox.addEventListener("change", () => {
            this.wanted.measure = this.measureBox.value;
            this.sweep.clear();
            this.navigate();
        });
        this.sliders = h("div", { class: "sliders" });
        /** @type {Map<string, NonNullable<ReturnType<typeof slider>>>} */
        this.known = new Map();
        this.help = h("p", { class: "form-help", "aria-hidden": "true", hidden: true });
        this.wrong = h("p", { class: "wrong", role: "alert", hidden: true });
        const fields = h("div", { id: "measure-flags" });
        this.form = new Form(fields, () => {
            this.wanted.flags = { ...this.form.values };
            this.fillSliders();
            this.navigate();
        });
        const side = h("aside", { class: "side", "aria-label": "What to measure" },
            h("label", { for: "measure-protocol" }, "Protocol"), this.choice,
            h("label", { for: "measure-what" }, "Measure"), this.measureBox,
            this.wrong, this.sliders, this.help,
            h("span", { class: "label" }, "Compare with"), h("div", { class: "beside" }, ...this.beside),
            h("details", { class: "fold" }, h("summary", {}, "All flags"), fields));
        this.state = h("p", { class: "dim state", role: "status" });
        this.plots = h("div", { class: "plots" });
        this.rows = h("div", { class: "table-box" });
        this.command = h("button", { type: "button",
            onclick: () => copy(this.series[0]?.asked?.command ?? "", this.command) }, "Copy the command");
        const csv = h("button", { type: "button", onclick: () => this.saveCsv() }, "Save CSV");
        fill(element, side,
            h("div", { class: "center flow" },
                h("div", { class: "row" }, this.state, h("span", { class: "grow" }), this.command, csv),
                this.plots, this.rows, this.sweep.element));
    }

    /** @param {string} hash */
    open(hash) {
        const { query } = readAddress(hash);
        this.wanted = {
            protocol: query.get("protocol") ?? this.table.protocols[0].name,
            flags: readFlags(query, OTHERS),
            beside: query.getAll("with").slice(0, BESIDE),
            measure: query.get("measure") ?? "",
            runs: Number(query.get("runs") ?? RUNS),
        };
        this.opened = hash;
        this.beside.forEach((box, index) => (box.value = this.wanted.beside[index] ?? ""));
        this.fillForm();
        this.moved = performance.now();
        return this.ask();
    }

    close() {
        this.asking.abort();
        cancelAnimationFrame(this.frame);
        clearTimeout(this.writing);
        this.frame = this.writing = 0;
        this.newer = false;
        this.sweep.stop();
    }

    get protocol() {
        const { protocols } = this.table;
        const found = protocols.find((/** @type {any} */ one) => one.name === this.wanted.protocol);
        return found ?? protocols[0];
    }

    fillForm() {
        this.choice.value = this.protocol.name;
        this.form.show(this.protocol.measure, this.wanted.flags);
        this.fillSliders();
    }

    fillSliders() {
        this.sweep.show(this.protocol, (flag) => this.form.isUseful(flag));
        if (this.sliders.contains(document.activeElement)) return;
        const { flags } = this.wanted;
        this.known.clear();
        for (const flag of ordered(this.protocol, flags)) {
            if (!this.form.isUseful(flag)) continue;
            const made = slider(flag, MOST, flags[flag.name], (text) => {
                this.form.write(flag.name, text);
                this.wanted.flags = { ...this.form.values };
                this.navigate();
            });
            if (!made) continue;
            made.input.addEventListener("focus", () => {
                this.help.textContent = `${flag.name.replaceAll("-", " ")}: ${helpOf(flag)}`;
                this.help.hidden = false;
            });
            this.known.set(flag.name, made);
        }
        fill(this.sliders, ...[...this.known.values()].map(({ element }) => element));
    }

    /**
     * Shows what parameters are that nothing was said about: they may follow from others.
     * @param {{[key: string]: any}} params lengths in seconds
     */
    resolve(params) {
        const useful = () => this.protocol.measure.filter((/** @type {any} */ flag) =>
            this.form.isUseful(flag)).length;
        const before = useful();
        this.form.resolved = Object.fromEntries(Object.entries(params).map(([key, value]) =>
            [key.replaceAll("_", "-"), value]));
        this.form.hideUseless();
        if (useful() !== before) this.fillSliders();
        for (const { name, kind, usual } of this.protocol.measure) {
            const now = this.form.resolved[name];
            if (!usual || now === undefined || this.wanted.flags[name] !== undefined) continue;
            this.known.get(name)?.tell(now ?? (kind === "length" ? Infinity : usual[1]));
        }
    }

    navigate() {
        const query = new URLSearchParams({ protocol: this.protocol.name });
        if (this.wanted.measure) query.set("measure", this.wanted.measure);
        writeFlags(query, this.wanted.flags);
        for (const name of this.wanted.beside) query.append("with", name);
        if (this.wanted.runs !== RUNS) query.set("runs", String(this.wanted.runs));
        this.opened = `#measure?${query}`;
        // A browser refuses to change its address with every step of a drag.
        this.writing ||= setTimeout(() => this.write(), ADDRESS);
        document.body.dataset.busy = "measure";
        this.moved = performance.now();
        this.soon();
    }

    write() {
        clearTimeout(this.writing);
        this.writing = 0;
        history.replaceState(null, "", this.opened);
    }

    /** Asks for what is wanted, at most once a frame. */
    soon() {
        this.newer = true;
        if (this.frame) return;
        if (!this.waiting || performance.now() - this.asked >= HOLD) this.ask();
        this.frame = requestAnimationFrame(() => {
            this.frame = 0;
            if (this.newer) this.soon();
        });
    }

    /**
     * The flags as far as a protocol has them.
     * @param {string} name
     */
    flagsOf(name) {
        const { protocols } = this.table;
        const row = protocols.find((/** @type {any} */ one) => one.name === name);
        const has = new Set(row?.measure.map((/** @type {any} */ flag) => flag.name));
        return Object.fromEntries(Object.entries(this.wanted.flags).filter(([flag]) => has.has(flag)));
    }

    /** Asks for all protocols, each in a stream of its own. */
    async ask() {
        this.asking.abort();
        const { signal } = (this.asking = new AbortController());
        const names = [this.protocol.name, ...this.wanted.beside];
        /** @type {Series[]} */
        const series = names.map((protocol) => ({ protocol, asked: null, result: null, error: null }));
        document.body.dataset.busy = "measure";
        const { moved } = this;
        this.asked = performance.now();
        this.waiting = true;
        this.newer = false;
        let first = true;
        const one = async (/** @type {Series} */ row, /** @type {number} */ index) => {
            const flags = index ? this.flagsOf(row.protocol) : this.wanted.flags;
            const body = { protocol: row.protocol, flags, runs: this.wanted.runs,
                ...(this.wanted.measure ? { measure: this.wanted.measure } : {}) };
            await stream("measure", { body, signal }, (line) => {
                if (signal.aborted) return;
                if (line.lab === "asked") {
                    row.asked = line;
                    if (!index) this.resolve(line.params);
                }
                if (line.lab !== "result") return;
                row.result = line;
                // The old picture stays until there is a new one.
                if (first) this.series = series;
                this.draw();
                if (first) this.state.dataset.first = String(performance.now() - moved);
                first = this.waiting = false;
            }).catch((error) => {
                if (signal.aborted) return;
                row.error = error.message;
                if (index) this.draw();
                else this.refuse(error.message);
            });
        };
        this.wrong.hidden = true;
        this.form.wrong(null);
        await Promise.all(series.map(one));
        if (this.asking.signal !== signal) return;
        this.series = series;
        this.waiting = false;
        if (this.writing) this.write();
        if (!this.newer) delete document.body.dataset.busy;
        this.draw();
    }

    /** @param {string} text */
    refuse(text) {
        this.form.wrong(text);
        this.wrong.textContent = text;
        this.wrong.hidden = false;
    }

    draw() {
        // Before the first run there may be a formula alone.
        const shown = this.series.filter(({ result }) => result?.summary || result?.forms);
        const [first] = this.series;
        if (!first?.result) return;
        this.fillMeasures(first);
        const { runs, summary, instead } = first.result;
        this.state.textContent = stateWords(first);
        this.state.dataset.runs = runs;
        this.state.dataset.mean = instead ? "" : (summary?.mean ?? "");
        const measure = named(first.result.measure);
        fill(this.plots, this.histogram(shown, measure), this.cumulative(shown, measure));
        this.tabulate(shown);
    }

    /** @param {Series} first */
    fillMeasures(first) {
        if (!first.result.all) return;
        const names = Object.keys(first.result.all);
        const listed = [...this.measureBox.options].map(({ value }) => value);
        if (listed.join() !== names.join()) {
            const help = (/** @type {string} */ name) =>
                this.table.measures.find((/** @type {any} */ one) => one.name === name)?.help ?? "";
            fill(this.measureBox, ...names.map((/** @type {string} */ name) =>
                h("option", { value: name, title: help(name) }, name.replaceAll("_", " "))));
        }
        this.measureBox.value = first.result.measure;
    }

    /**
     * @param {Series[]} shown
     * @returns {[number, number]}
     */
    range(shown) {
        const made = shown.filter(({ result }) => result.summary);
        const lows = made.map(({ result }) => result.histogram?.from ?? result.summary.min);
        const highs = made.map(({ result }) => result.histogram?.to ?? result.summary.max);
        const forms = shown.flatMap(({ result }) => [result.forms?.printed, result.forms?.corrected])
            .filter((value) => Number.isFinite(value));
        return [Math.min(...lows, ...forms), Math.max(...highs, ...forms)];
    }

    /**
     * @param {Series[]} shown
     * @param {string} measure
     */
    histogram(shown, measure) {
        const share = (/** @type {Series} */ { result }) => {
            const counts = result.histogram?.counts ?? [];
            const total = counts.reduce((/** @type {number} */ a, /** @type {number} */ b) => a + b, 0) || 1;
            return { total, most: Math.max(0, ...counts) / total };
        };
        // Where there is no run yet, the axis is that of shares, and the forms stand alone.
        const most = Math.max(...shown.map((one) => share(one).most));
        const plot = new Plot({ x: this.range(shown), y: [0, most * 1.05 || 1], xLabel: measure,
            yLabel: "share of runs", title: `Histogram of ${measure}` });
        shown.forEach((one, index) => {
            if (one.result.histogram) plot.steps(one.result.histogram, share(one).total, `s${index}`);
        });
        shown.forEach(({ result, protocol }, index) => {
            const { mean, ci95, count: runs } = result.summary ?? {};
            if (Number.isFinite(mean)) {
                plot.mark(mean, runs > 1 ? ci95 : null, `s${index} mean`,
                    `${protocol}: mean ${trim(mean)}${cutWords(result.summary)}`);
            }
        });
        markForms(plot, shown[0]);
        return h("figure", {}, plot.element);
    }

    /**
     * @param {Series[]} shown
     * @param {string} measure
     */
    cumulative(shown, measure) {
        const plot = new Plot({ x: this.range(shown), y: [0, 1], xLabel: measure,
            yLabel: "share of runs at most", title: `Cumulative curve of ${measure}` });
        shown.forEach(({ result }, index) => plot.line(result.cumulative ?? [], `s${index}`));
        markForms(plot, shown[0]);
        return h("figure", {}, plot.element);
    }

    /** @param {Series[]} shown */
    tabulate(shown) {
        const cell = (/** @type {any} */ value) =>
            h("td", {}, Number.isFinite(value) ? trim(value) : "—");
        const rows = shown.map(({ protocol, result }, index) => {
            const { mean, ci95, p50, p99, max, count: runs } = result.summary ?? {};
            // One run has no interval, and neither has a mean of which runs were cut or stopped.
            const words = result.summary ? cutWords(result.summary) : "";
            const around = words ? h("small", { class: "cut" }, words)
                : runs > 1 ? h("small", {}, `${trim(ci95?.[0])} – ${trim(ci95?.[1])}`) : "";
            const forms = result.forms ?? {};
            const whose = result.instead ? h("small", {}, ` ${insteadWords(result.instead)}`) : null;
            return h("tr", {},
                h("th", { scope: "row" }, h("span", { class: `chip s${index}` }), protocol, whose),
                h("td", {}, Number.isFinite(mean) ? `${trim(mean)} ` : "—", around),
                cell(p50), cell(p99), cell(max), cell(forms.printed), cell(forms.corrected));
        });
        const failed = this.series.filter(({ error }) => error)
            .map(({ protocol, error }) => h("p", { class: "wrong" }, `${protocol}: ${error}`));
        const note = shown[0]?.result.forms?.note;
        fill(this.rows,
            h("table", {},
                h("thead", {}, h("tr", {}, ...["", "mean (95 %)", "median", "99 %", "max", "printed",
                    "corrected"].map((name) => h("th", { scope: "col" },
                    /ed$/.test(name) ? h("span", { class: `sample-line ${name}` }) : null, name)))),
                h("tbody", {}, ...rows)),
            ...failed, note ? h("p", { class: "dim note" }, `Printed and corrected: ${note}.`) : null);
    }

    saveCsv() {
        const measure = this.series[0]?.result?.measure;
        const lines = this.series.filter(({ result }) => result?.summary && !result.instead)
            .map(({ protocol, result }) =>
                csvRow([protocol, measure, "", ""], result.summary, result.forms));
        const curve = this.sweep.csv(this.protocol.name, measure);
        save(`${this.protocol.name}-${measure}.csv`, [CSV_HEAD, ...lines, ...curve, ""].join("\n"), "text/csv");
    }
}

/**
 * What is shown: so many runs in so much time, or what stands in for the first of them.
 * @param {Series} first
 */
function stateWords({ asked, result: { runs, of, seconds, instead, forms } }) {
    const form = forms ? "What the formula gives; the first run takes longer" : "";
    if (instead) {
        const others = `${insteadWords(instead)} in place of ${asked?.nodes}: ${count(instead.runs, "run")}`;
        return form ? `${form}. Beside it ${others}`
            : `For a start ${others}. The first run of what you asked for takes longer`;
    }
    if (!runs) return form;
    return `${count(runs, "run")}${runs < of ? ` of ${of.toLocaleString("en")}` : ""} in ${trim(seconds, 3)} s`;
}

/**
 * Marks what the formula gives, as it is printed and as it is corrected.
 * @param {Plot} plot
 * @param {Series} series
 */
function markForms(plot, { result: { forms } }) {
    for (const form of ["printed", "corrected"]) {
        const value = forms?.[form];
        if (Number.isFinite(value)) plot.mark(value, null, form, `${form}: ${trim(value)}`);
    }
}

/**
 * Which group stands in for one whose runs take long.
 * @param {{nodes: number, window: string | null}} instead
 */
const insteadWords = ({ nodes, window }) =>
    count(nodes, "process", "processes") + (window ? `, watched for ${window}` : "");

/**
 * The flags in the order of their sliders: the group, the network, the timers of the protocol, and
 * for how long a group is watched where that changes anything.
 * @param {any} protocol
 * @param {{[name: string]: any}} flags
 */
function ordered(protocol, flags) {
    const rank = (/** @type {any} */ flag) => place(flag) + (flag.parameter ? 0 : 0.5);
    const settles = (flags.scenario ?? "start") === "start" && !protocol.leases && !protocol.on_demand;
    return protocol.measure
        .filter((/** @type {any} */ { name }) => !(name === "window" && settles))
        .sort((/** @type {any} */ a, /** @type {any} */ b) => rank(a) - rank(b));
}

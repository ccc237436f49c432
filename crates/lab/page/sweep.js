// A measure over a range of one flag: a curve with intervals, beside the closed forms.

import { stream } from "./api.js";
import { copy, fill, h, save } from "./dom.js";
import { place } from "./form.js";
import { count, trim } from "./format.js";
import { Plot } from "./plot.js";
import { scale } from "./sliders.js";

/** The most that a range suggests for the number of processes. */
const MOST = 1000;
/** The most points of a curve. */
const POINTS = 40;
/** The most runs for each point. */
const RUNS = 1000;

/** @typedef {{[key: string]: any}} Line */

export class Sweep {
    /** @param {() => {flags: {[name: string]: any}, measure: string, runs: number}} asked */
    constructor(asked) {
        this.asked = asked;
        /** @type {any} */
        this.protocol = null;
        /** The flags that can be chosen. */
        this.names = "";
        /** @type {Line[]} */
        this.points = [];
        /** @type {any} what was asked for last */
        this.body = null;
        /** What is drawn less of than was asked for. */
        this.less = "";
        this.asking = new AbortController();
        this.over = h("select", { id: "sweep-over" });
        this.over.addEventListener("change", () => this.suggest());
        this.from = h("input", { type: "text", id: "sweep-from", size: 6 });
        this.to = h("input", { type: "text", id: "sweep-to", size: 6 });
        this.count = h("input", { type: "number", id: "sweep-count", min: 2, max: POINTS, value: 12 });
        this.state = h("p", { class: "dim", role: "status", id: "sweep-state" });
        this.picture = h("div", { id: "sweep-picture" });
        const command = h("button", { type: "button",
            onclick: () => copy(`bellwether sweep ${this.file}`, command) }, "Copy the command");
        this.same = h("div", { class: "row", hidden: true },
            h("button", { type: "button", id: "sweep-save", title: "What the command reads",
                onclick: () => save(this.file, sweepFile(this.file, this.body)) }, "Save the sweep file"),
            command);
        this.element = h("section", { class: "card sweep", "aria-label": "Over a range" },
            h("h3", {}, "Over a range"),
            h("div", { class: "row wrap" },
                h("label", {}, "Sweep ", this.over), h("label", {}, "from ", this.from),
                h("label", {}, "to ", this.to), h("label", {}, "points ", this.count),
                h("button", { type: "button", class: "main", id: "sweep",
                    onclick: () => this.draw() }, "Draw the curve")),
            this.state, this.picture, this.same);
    }

    stop() {
        this.asking.abort();
    }

    clear() {
        this.stop();
        this.points = [];
        this.same.hidden = true;
        fill(this.picture);
        fill(this.state);
    }

    /** What the command reads that makes the same points. */
    get file() {
        return `${this.body?.protocol}-over-${this.body?.over}.toml`;
    }

    /**
     * @param {any} protocol
     * @param {(flag: any) => boolean} isUseful whether a flag has an effect now
     */
    show(protocol, isUseful) {
        const flags = protocol.measure.filter((/** @type {any} */ flag) =>
            scale(flag, MOST) && isUseful(flag));
        const names = flags.map((/** @type {any} */ { name }) => name).join();
        const [chosen, other] = [this.over.value, this.protocol !== protocol];
        if (!other && names === this.names) return;
        this.protocol = protocol;
        this.names = names;
        // What one asks for first.
        flags.sort((/** @type {any} */ a, /** @type {any} */ b) => place(a) - place(b));
        fill(this.over, ...flags.map((/** @type {any} */ flag) =>
            h("option", { value: flag.name }, flag.name)));
        if (!other && flags.some((/** @type {any} */ { name }) => name === chosen)) {
            this.over.value = chosen;
            return;
        }
        this.clear();
        this.suggest();
    }

    /** How the flag that is swept moves. */
    get scale() {
        const flag = this.protocol?.measure.find((/** @type {any} */ one) => one.name === this.over.value);
        return flag ? scale(flag, MOST) : null;
    }

    /** Suggests a range. */
    suggest() {
        const how = this.scale;
        if (!how) return;
        const { from, to, log, text, usual } = how;
        const middle = Number.isFinite(usual) ? usual : Math.sqrt(from * to);
        this.from.value = text(log ? Math.max(from, middle / 10) : from);
        this.to.value = text(log ? Math.min(to, middle * 10) : this.over.value === "loss" ? 0.9 : to);
    }

    /** The values, equally far apart on the scale of the flag. */
    values() {
        const how = this.scale;
        const [from, to] = [how?.read(this.from.value), how?.read(this.to.value)];
        if (!how || !Number.isFinite(from ?? NaN) || !Number.isFinite(to ?? NaN)) return [];
        return this.between(how, Number(from), Number(to));
    }

    /**
     * @param {NonNullable<ReturnType<typeof scale>>} how
     * @param {number} from
     * @param {number} to
     */
    between(how, from, to) {
        const points = Math.min(POINTS, Math.max(2, this.asksFor));
        const log = how.log && from > 0;
        const all = Array.from({ length: points }, (_, index) => {
            const share = index / (points - 1);
            return how.text(log ? from * (to / from) ** share : from + share * (to - from));
        });
        return [...new Set(all)];
    }

    /** How many points are asked for. */
    get asksFor() {
        return Number(this.count.value) || 12;
    }

    /**
     * What the page draws less of than is asked for.
     * @param {number} runs
     */
    lessWords(runs) {
        const points = this.asksFor > POINTS ? `; at most ${POINTS} points are drawn here` : "";
        return points + (runs > RUNS ? `; ${RUNS.toLocaleString("en")} runs each` : "");
    }

    async draw() {
        this.clear();
        const { signal } = (this.asking = new AbortController());
        const { flags, measure, runs } = this.asked();
        if (!measure) return; // nothing is measured yet
        const over = this.over.value;
        const values = this.values();
        const others = { ...flags };
        delete others[over];
        const body = { protocol: this.protocol.name, flags: others, measure, over, values,
            runs: Math.min(RUNS, runs) };
        this.body = body;
        this.less = this.lessWords(runs);
        this.same.hidden = false;
        try {
            await stream("sweep", { body, signal }, (line) => {
                if (line.lab !== "point") return;
                this.points.push(line);
                this.plot(over, measure, values.length);
            });
        } catch (error) {
            if (!signal.aborted) this.state.textContent = error instanceof Error ? error.message : "";
        }
    }

    /**
     * @param {string} over
     * @param {string} measure
     * @param {number} all
     */
    plot(over, measure, all) {
        const good = this.points.filter(({ summary }) => summary);
        const bad = this.points.find(({ error }) => error);
        this.state.textContent = `${this.points.length} of ${all} points${this.less}` +
            (bad ? `; ${bad.value}: ${bad.error}` : "") +
            (good.some(({ summary }) => summary.cut)
                ? "; where the window cut runs, the mean of the others is too low and has no interval"
                : "");
        if (!good.length) return;
        const xs = good.map(({ x }) => x);
        const ys = good
            .flatMap(({ summary, forms }) =>
                [...(summary.ci95 ?? []), summary.mean, forms?.printed, forms?.corrected])
            .filter((value) => Number.isFinite(value));
        const log = (this.scale?.log ?? false) && Math.min(...xs) > 0;
        const name = named(measure);
        const plot = new Plot({ x: [Math.min(...xs), Math.max(...xs)], log, xLabel: over,
            y: [Math.min(0, ...ys), Math.max(...ys) * 1.05], yLabel: name, title: `${name} over ${over}` });
        for (const form of ["printed", "corrected"]) {
            plot.line(good.filter(({ forms }) => Number.isFinite(forms?.[form]))
                .map(({ x, forms }) => [x, forms[form]]), form);
        }
        plot.line(good.map(({ x, summary }) => [x, summary.mean]), "s0");
        for (const { x, value, summary } of good) {
            plot.point(x, summary.mean, summary.ci95 ?? [summary.mean, summary.mean], "s0",
                `${over} ${value}: ${trim(summary.mean)}${cutWords(summary)}`);
        }
        fill(this.picture, plot.element);
    }

    /**
     * The points as lines of a table.
     * @param {string} protocol
     * @param {string} measure
     */
    csv(protocol, measure) {
        return this.points.filter(({ summary }) => summary)
            .map(({ value, summary, forms }) =>
                csvRow([protocol, measure, this.body.over, value], summary, forms));
    }
}

/**
 * The description of a sweep, which `bellwether sweep` reads: the same runs at the same points.
 * @param {string} name of the file
 * @param {any} body what the server was asked
 */
function sweepFile(name, { protocol, flags, measure, over, values, runs }) {
    const word = (/** @type {any} */ value) =>
        Array.isArray(value) ? `[${value.map(quoted).join(", ")}]`
            : typeof value === "boolean" ? String(value)
            : /^-?(\d{1,15}|\d{0,6}\.\d{1,9})$/.test(value) ? String(Number(value)) : quoted(value);
    const fixed = Object.entries({ seed: 1, ...flags }).map(([flag, value]) => `${flag} = ${word(value)}`);
    return [`# bellwether sweep ${name}`, `sim = ${quoted(protocol)}`, `measures = [${quoted(measure)}]`,
        `runs = ${runs}`, "", "[fixed]", ...fixed, "", "[[axis]]", `${over} = [${values.map(word).join(", ")}]`,
        ""].join("\n");
}

/** @param {any} text */
const quoted = (text) => JSON.stringify(String(text));

/**
 * That the window cut runs, or the clock stopped some, and how many.
 * @param {any} summary
 */
export function cutWords({ cut, stopped, count: rest }) {
    if (!cut && !stopped) return "";
    const cuts = cut ? ` or more: ${cut} of ${cut + rest} runs cut` : "";
    const more = stopped ? `; ${count(stopped, "more run")} not over in time` : "";
    return `${cuts}${more}; no interval`;
}

/**
 * What an axis is called: the measure in words, and its unit if it is a time.
 * @param {string} measure
 */
export const named = (measure) =>
    measure.replaceAll("_", " ") + (/(^|_)(time|delay)$/.test(measure) ? " (s)" : "");

/** The columns of a table. */
export const CSV_HEAD =
    "protocol,measure,flag,value,runs,mean,low,high,median,p99,max,cut,printed,corrected";

/**
 * @param {any[]} cells
 * @param {any} s a summary
 * @param {any} forms what formulas say, if any does
 */
export const csvRow = (cells, s, forms) =>
    [...cells, s.count, s.mean, s.ci95?.[0], s.ci95?.[1], s.p50, s.p99, s.max, s.cut ?? 0,
        forms?.printed, forms?.corrected].map((cell) => cell ?? "").join(",");

// Plots of numbers, as SVG: axes, step outlines, lines, points with intervals.

import { svg } from "./dom.js";
import { roundStep, trim } from "./format.js";

const WIDTH = 640;
const HEIGHT = 272;
const LEFT = 60;
const RIGHT = 16;
const TOP = 26;
const BOTTOM = 46;

/** One plot with its two scales. */
export class Plot {
    /**
     * @param {{x: [number, number], y: [number, number], xLabel: string, yLabel: string,
     *   title: string, log?: boolean}} how
     */
    constructor({ x, y, xLabel, yLabel, title, log = false }) {
        this.log = log && x[0] > 0;
        this.xs = wide(x);
        this.ys = wide(y);
        this.element = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "plot", role: "img",
            "aria-label": title });
        this.axes(xLabel, yLabel);
    }

    /** @param {number} value */
    x(value) {
        const [from, to] = this.xs;
        const share = this.log
            ? Math.log(value / from) / Math.log(to / from)
            : (value - from) / (to - from);
        return LEFT + share * (WIDTH - LEFT - RIGHT);
    }

    /** @param {number} value */
    y(value) {
        const [from, to] = this.ys;
        return HEIGHT - BOTTOM - ((value - from) / (to - from)) * (HEIGHT - TOP - BOTTOM);
    }

    /**
     * @param {string} xLabel
     * @param {string} yLabel
     */
    axes(xLabel, yLabel) {
        const line = (/** @type {number[]} */ [x1, y1, x2, y2], /** @type {string} */ name) =>
            svg("line", { x1, y1, x2, y2, class: name });
        const text = (/** @type {string} */ words, /** @type {number} */ x, /** @type {number} */ y,
            /** @type {string} */ anchor) => svg("text", { x, y, "text-anchor": anchor }, words);
        const low = HEIGHT - BOTTOM;
        for (const value of this.log ? powers(this.xs) : ticks(this.xs, 7)) {
            const x = this.x(value);
            this.element.append(line([x, TOP, x, low], "grid"), text(trim(value), x, low + 18, "middle"));
        }
        for (const value of ticks(this.ys, 5)) {
            const y = this.y(value);
            this.element.append(line([LEFT, y, WIDTH - RIGHT, y], "grid"),
                text(trim(value), LEFT - 6, y + 5, "end"));
        }
        this.element.append(
            line([LEFT, low, WIDTH - RIGHT, low], "axis"),
            text(xLabel, WIDTH - RIGHT, HEIGHT - 6, "end"),
            text(yLabel, 4, 13, "start"),
        );
    }

    /**
     * A histogram as an outline.
     * @param {{from: number, to: number, counts: number[]}} histogram
     * @param {number} total
     * @param {string} name of the class
     */
    steps({ from, to, counts }, total, name) {
        // Where all values are the same, the histogram has no width: one narrow bar shows them.
        const [least, most] = this.xs;
        const narrow = (most - least) / 50;
        const left = Math.min(Math.max(from - narrow / 2, least), most - narrow);
        const [begin, bars, width] = to - from > narrow / 1e6
            ? [from, counts, (to - from) / counts.length]
            : [left, [counts.reduce((sum, count) => sum + count, 0)], narrow];
        let path = `M${this.x(begin)} ${this.y(0)}`;
        bars.forEach((count, index) => {
            const y = this.y(count / total);
            path += `L${this.x(begin + index * width)} ${y}L${this.x(begin + (index + 1) * width)} ${y}`;
        });
        path += `L${this.x(begin + bars.length * width)} ${this.y(0)}Z`;
        this.element.append(svg("path", { d: path, class: `steps ${name}` }));
    }

    /**
     * A line through points.
     * @param {[number, number][]} points
     * @param {string} name of the class
     */
    line(points, name) {
        if (!points.length) return;
        const path = points.map(([x, y]) => `${this.x(x)} ${this.y(y)}`).join("L");
        this.element.append(svg("path", { d: `M${path}`, class: `line ${name}` }));
    }

    /**
     * A point with the interval around it.
     * @param {number} x
     * @param {number} y
     * @param {[number, number]} interval
     * @param {string} name
     * @param {string} told
     */
    point(x, y, [low, high], name, told) {
        const at = this.x(x);
        this.element.append(
            svg("g", { class: `point ${name}` },
                svg("line", { x1: at, x2: at, y1: this.y(low), y2: this.y(high) }),
                svg("circle", { cx: at, cy: this.y(y), r: 3.4 }),
                svg("title", {}, told)),
        );
    }

    /**
     * A value at the horizontal axis, with an interval.
     * @param {number} value
     * @param {[number, number] | null} interval
     * @param {string} name
     * @param {string} told
     */
    mark(value, interval, name, told) {
        if (!(value >= this.xs[0] && value <= this.xs[1])) return;
        const x = this.x(value);
        const parts = [svg("line", { x1: x, x2: x, y1: TOP, y2: HEIGHT - BOTTOM }), svg("title", {}, told)];
        if (interval) {
            const [left, right] = interval.map((end) =>
                this.x(Math.min(Math.max(end, this.xs[0]), this.xs[1])));
            parts.unshift(svg("rect", { x: left, y: TOP, width: Math.max(1, right - left),
                height: HEIGHT - TOP - BOTTOM }));
        }
        this.element.append(svg("g", { class: `mark ${name}` }, ...parts));
    }
}

/**
 * A range that is not empty. Values that differ only in their last digits are the same: no step is
 * small enough to count from one to the other.
 * @param {[number, number]} range
 * @returns {[number, number]}
 */
function wide([from, to]) {
    if (to - from > 1e-9 * Math.max(Math.abs(from), Math.abs(to))) return [from, to];
    const half = Math.abs(from) / 20 || 1;
    return [from - half, from + half];
}

/**
 * @param {[number, number]} range
 * @param {number} wanted
 */
function ticks([from, to], wanted) {
    const step = roundStep(to - from, wanted);
    const found = [];
    for (let at = Math.ceil(from / step - 1e-9); at * step <= to + step * 1e-9; at += 1) {
        found.push(at * step);
    }
    return found;
}

/** @param {[number, number]} range */
function powers([from, to]) {
    const found = [];
    for (let power = Math.floor(Math.log10(from)); 10 ** power <= to; power += 1) {
        for (const times of [1, 2, 5]) {
            const value = times * 10 ** power;
            if (value >= from * 0.999 && value <= to * 1.001) found.push(value);
        }
    }
    return found.length > 9 ? found.filter((value) => /^1/.test(String(value.toExponential()))) : found;
}

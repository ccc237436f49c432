// Sliders for the flags of a form that are numbers or lengths of time: the group, the network, and
// the timers of the protocol.

import { h } from "./dom.js";
import { helpOf } from "./form.js";
import { trim } from "./format.js";

/** @typedef {import("./form.js").Flag} Flag */

const UNITS = /** @type {{[unit: string]: number}} */ ({ us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600 });

/** How far a slider reaches from its middle, as a factor. */
const REACH = 20;

/**
 * A length of time as seconds.
 * @param {string | null | undefined} text
 */
export function seconds(text) {
    const word = String(text ?? "").trim();
    if (word === "infinite") return Infinity;
    const found = /^([\d.]+)\s*(us|µs|ms|s|min|h)?$/.exec(word);
    if (!found) return null;
    return Number(found[1]) * UNITS[(found[2] ?? "s").replace("µ", "u")];
}

/** @param {number} value in seconds */
function lengthText(value) {
    if (value === Infinity) return "infinite";
    if (value >= 1 || value === 0) return `${trim(value, 3)}s`;
    return value < 1e-3 ? `${trim(value * 1e6, 3)}us` : `${trim(value * 1e3, 3)}ms`;
}

/** @param {any} text */
const number = (text) => (text === undefined || text === null || text === "" ? null : Number(text));

/** @param {number} value */
const whole = (value) => String(Math.round(value));

/**
 * How a slider moves over the values of a flag; null for flags that have none.
 * @param {Flag} flag
 * @param {number} most the most nodes
 * @returns {{from: number, to: number, usual: number, log: boolean, text: (value: number) => string,
 *   read: (text: any) => number | null} | null}
 */
export function scale(flag, most) {
    if (flag.name === "nodes") {
        return { from: 2, to: most, usual: Number(flag.default ?? 10), log: true, text: whole,
            read: number };
    }
    if (flag.name === "loss") {
        return { from: 0, to: 0.95, usual: Number(flag.default ?? 0), log: false,
            text: (value) => trim(value, 2), read: number };
    }
    const said = flag.kind === "length" ? seconds(flag.default) : null;
    const [now, middle] = flag.usual ?? [said, said ?? 0];
    const usual = now ?? Infinity;
    if (flag.kind === "count" && flag.usual) {
        const limit = Number(/<= (\d+)$/.exec(flag.range)?.[1] ?? Infinity);
        return { from: 1, to: Math.min(limit, REACH * middle), usual, log: true, text: whole, read: number };
    }
    if (flag.kind !== "length" || !middle) return null;
    const log = usual > 0;
    return { from: log ? middle / REACH : 0, to: middle * REACH, usual, log, text: lengthText,
        read: seconds };
}

/**
 * A slider, and how it is told what its flag is without it.
 * @param {Flag} flag
 * @param {number} most
 * @param {any} value
 * @param {(text: string) => void} moved
 */
export function slider(flag, most, value, moved) {
    const how = scale(flag, most);
    if (!how) return null;
    const { from, to, usual, log, text, read } = how;
    const at = (/** @type {number} */ now) =>
        log ? Math.log(now / from) / Math.log(to / from) : (now - from) / (to - from);
    const output = h("output", {});
    const input = h("input", { type: "range", min: 0, max: 1000, id: `slider-${flag.name}`,
        "aria-description": helpOf(flag) });
    const tell = (/** @type {number} */ now) => {
        output.textContent = text(now);
        input.value = String(Math.round(1000 * Math.min(1, Math.max(0, at(now)))));
        input.setAttribute("aria-valuetext", text(now));
    };
    tell(read(value) ?? usual);
    input.addEventListener("input", () => {
        const share = Number(input.value) / 1000;
        const now = text(log ? from * (to / from) ** share : from + share * (to - from));
        output.textContent = now;
        input.setAttribute("aria-valuetext", now);
        moved(now);
    });
    const element = h("div", { class: "slide", title: helpOf(flag) },
        h("label", { for: input.id }, flag.name.replaceAll("-", " ")), output, input);
    return { element, input, tell };
}

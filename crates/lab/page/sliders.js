// Sliders for the flags of a form that are numbers or lengths of time: the group, the network, and
// the timers of the protocol.

import { h } from "./dom.js";
import { trim } from "./format.js";

/** @typedef {import("./form.js").Flag} Flag */

const UNITS = /** @type {{[unit: string]: number}} */ ({ us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600 });

/**
 * A length of time as seconds.
 * @param {string | null | undefined} text
 */
export function seconds(text) {
    const found = /^([\d.]+)\s*(us|µs|ms|s|min|h)?$/.exec(String(text ?? "").trim());
    if (!found) return null;
    return Number(found[1]) * UNITS[(found[2] ?? "s").replace("µ", "u")];
}

/** @param {number} value in seconds */
const lengthText = (value) =>
    value < 1e-3 ? `${trim(value * 1e6, 3)}us` : value < 1 ? `${trim(value * 1e3, 3)}ms` : `${trim(value, 3)}s`;

/**
 * How a slider moves over the values of a flag; null for flags that have none.
 * @param {Flag} flag
 * @param {number} most the most nodes
 * @returns {{from: number, to: number, usual: number, log: boolean, text: (value: number) => string,
 *   read: (text: any) => number | null} | null}
 */
export function scale(flag, most) {
    const number = (/** @type {any} */ text) => (text === undefined || text === "" ? null : Number(text));
    if (flag.name === "nodes") {
        const usual = Number(flag.default ?? 10);
        return { from: 2, to: most, usual, log: true, text: (value) => String(Math.round(value)),
            read: number };
    }
    if (flag.name === "loss") {
        return { from: 0, to: 0.95, usual: Number(flag.default ?? 0), log: false,
            text: (value) => trim(value, 2), read: number };
    }
    const usual = flag.kind === "length" ? seconds(flag.default) : null;
    if (!usual) return null;
    return { from: usual / 20, to: usual * 20, usual, log: true, text: lengthText, read: seconds };
}

/**
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
    const start = read(value) ?? usual;
    const output = h("output", {}, text(start));
    const input = h("input", { type: "range", min: 0, max: 1000, id: `slider-${flag.name}`,
        value: Math.round(1000 * Math.min(1, Math.max(0, at(start)))), "aria-valuetext": text(start) });
    input.addEventListener("input", () => {
        const share = Number(input.value) / 1000;
        const now = text(log ? from * (to / from) ** share : from + share * (to - from));
        output.textContent = now;
        input.setAttribute("aria-valuetext", now);
        moved(now);
    });
    return h("div", { class: "slide", title: flag.help },
        h("label", { for: input.id }, flag.name.replaceAll("-", " ")), output, input);
}

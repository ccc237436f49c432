// Asks the server for a run and reads its stream: the head, the records, and what the lab says
// between them.

import { stream } from "./api.js";
import { last } from "./find.js";
import { Run } from "./run.js";
import { Places } from "./places.js";

/**
 * A run as the stage shows it.
 * @typedef {{
 *   head: {[key: string]: any}, run: Run, places: Places, lines: string[],
 *   carries: Map<string, string>,
 *   violations: Violation[],
 *   end: {[key: string]: any} | null, verdict: {[key: string]: any} | null,
 *   cuts: {t: number, pairs: [number, number][]}[],
 * }} Loaded
 */

/**
 * An invariant that is broken, and when it was first seen broken.
 * @typedef {{t: number, invariant: string, text: string}} Violation
 */

/**
 * @param {string} path `run`, or `judge` for a recorded trace
 * @param {unknown} body
 * @param {AbortSignal} signal
 * @returns {Promise<Loaded>}
 */
export async function load(path, body, signal) {
    /** @type {{[key: string]: any}} */
    let head = {};
    let [end, verdict] = [null, null];
    /** @type {Violation[]} */
    const violations = [];
    /** @type {import("./types.js").TraceRecord[]} */
    const records = [];
    /** @type {string[]} */
    const lines = [];
    const carries = new Map();
    await stream(path, { body, signal }, (line, text) => {
        switch (line.lab) {
            case undefined:
                records.push(line);
                lines.push(text);
                break;
            case "head":
                head = line;
                break;
            case "carries":
                carries.set(`${line.node} ${line.number} ${line.t}`, line.text);
                break;
            case "violation":
                violations.push(line);
                break;
            case "verdict":
                verdict = line;
                for (const { at, invariant, seen } of line.violations ?? []) {
                    violations.push({ t: at, invariant, text: seen });
                }
                break;
            case "end":
                end = line;
        }
    });
    const places = new Places(head);
    // A run that ends when no message is left ends with its last record.
    const until = head.until ?? undefined;
    const run = new Run(records, { until, nodes: places.ids });
    violations.sort((a, b) => a.t - b.t);
    return { head, run, places, lines, carries, violations, end, verdict, cuts: cuts(head, run) };
}

/**
 * Shows a run for as long as another one beside it.
 * @param {Loaded} loaded
 * @param {number} until
 */
export function extend(loaded, until) {
    if (until <= loaded.run.to) return;
    loaded.run = new Run(loaded.run.records, { until, nodes: loaded.places.ids });
}

/**
 * Which senders are cut off from which receivers, from which time on. A simulated run says it in its
 * faults, a recorded one in its records.
 * @param {{[key: string]: any}} head
 * @param {Run} run
 */
function cuts(head, run) {
    /** @type {Loaded["cuts"]} */
    const found = [];
    /** @type {Map<string, [number, number]>} */
    const now = new Map();
    const told = run.records.map(({ t, kind, from, to }) => ({ t, what: kind, from, to }));
    const planned = (head.faults ?? []).map((/** @type {any} */ fault) => ({ ...fault, t: fault.at }));
    for (const { t, what, from, to } of [...planned, ...(head.recorded ? told : [])]) {
        if (what !== "cut" && what !== "heal") continue;
        if (what === "heal" && !from) now.clear();
        for (const a of from ?? []) {
            for (const b of to ?? []) {
                if (what === "cut") now.set(`${a} ${b}`, [a, b]);
                else now.delete(`${a} ${b}`);
            }
        }
        found.push({ t, pairs: [...now.values()] });
    }
    return found;
}

/**
 * The cuts at a time.
 * @param {Loaded} loaded
 * @param {number} at
 */
export const cutsAt = (loaded, at) => last(loaded.cuts, ({ t }) => t <= at)?.pairs ?? [];

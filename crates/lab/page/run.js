// One run, ready to be shown: its records with everything that is computed from them once. The
// state at a position comes from the machine, messages from the flights.

import { Machine, follows, leads } from "./machine.js";
import { Flights } from "./flights.js";
import { FirstSeen } from "./palette.js";
import { lanes } from "./lanes.js";

/** @typedef {import("./types.js").TraceRecord} TraceRecord */

/** Records that follow from the one before, at the same process and time: one step has them all. */
const EFFECTS = new Set(["send", "store", "leadership", "fact"]);

/** A change of who leads: when, and who leads from then on. */
/** @typedef {{t: number, leaders: number[]}} LeaderChange */

export class Run {
    /**
     * @param {TraceRecord[]} records
     * @param {{until?: number, nodes?: number[]}} [known] what the server says beside the records
     */
    constructor(records, known = {}) {
        this.records = inOrder(records);
        const ids = new Set(known.nodes ?? []);
        for (const record of this.records) {
            ids.add(record.node);
            if (typeof record.from === "number") ids.add(record.from);
        }
        this.ids = [...ids].sort((a, b) => a - b);
        const first = this.records[0]?.t ?? 0;
        // A run without a stated end is shown a little longer than its last record.
        const ended = this.records.at(-1)?.t ?? 0;
        const last = known.until ?? ended + (ended - first) / 20;
        // From zero, unless that would leave most of the picture empty.
        this.from = first <= last - first ? 0 : first;
        this.to = Math.max(last, this.from + 1);
        this.machine = new Machine(this.records, this.ids);
        this.flights = new Flights(this.records, this.from, this.to);
        this.lanes = lanes(this.records, this.ids, this.from, this.to);
        /** @type {FirstSeen<number>} */
        this.leaders = new FirstSeen();
        /** @type {FirstSeen<string>} */
        this.kinds = new FirstSeen();
        for (const record of this.records) {
            if (record.kind === "leadership" && record.stage === "decided") {
                for (const id of record.leaders) this.leaders.see(id);
            } else if (record.kind === "fact" && record.fact === "locked") {
                this.leaders.see(record.to);
            } else if (record.kind === "send") {
                this.kinds.see(record.message ?? "");
            }
        }
        /** Positions between two steps, from 0 to the number of records. */
        this.steps = boundaries(this.records);
        this.changes = changes(this.lanes);
        this.digest = digest(this.records);
    }

    /**
     * The number of records up to and including a time.
     * @param {number} t
     */
    positionAt(t) {
        let [low, high] = [0, this.records.length];
        while (low < high) {
            const half = (low + high) >> 1;
            if (this.records[half].t <= t) low = half + 1;
            else high = half;
        }
        return low;
    }

    /**
     * The boundary of steps after a position, or before it.
     * @param {number} position
     * @param {1 | -1} way
     */
    step(position, way) {
        const here = this.stepAt(position);
        const next = this.steps[here] === position ? here + 1 : here;
        const at = way > 0 ? next : here - 1;
        return this.steps[Math.min(Math.max(0, at), this.steps.length - 1)];
    }

    /**
     * The index of the first boundary of steps that is not before a position.
     * @param {number} position
     */
    stepAt(position) {
        let [low, high] = [0, this.steps.length];
        while (low < high) {
            const half = (low + high) >> 1;
            if (this.steps[half] < position) low = half + 1;
            else high = half;
        }
        return low;
    }

    /** @param {number} position */
    states(position) {
        return this.machine.at(position);
    }

    /**
     * Who leads at a time, after so many records.
     * @param {number} position
     * @param {number} t
     */
    leadersAt(position, t) {
        return this.states(position).filter((state) => leads(state, t)).map((state) => state.id);
    }
}

export { follows, leads };

/**
 * The records sorted by time; those of one time stay in their order.
 * @param {TraceRecord[]} records
 */
function inOrder(records) {
    const sorted = records.every((record, index) => !index || records[index - 1].t <= record.t);
    return sorted ? records : [...records].sort((a, b) => a.t - b.t);
}

/**
 * @param {TraceRecord[]} records
 * @returns {number[]}
 */
function boundaries(records) {
    const steps = [0];
    for (let at = 1; at < records.length; at += 1) {
        const [before, record] = [records[at - 1], records[at]];
        const effect = EFFECTS.has(record.kind) && record.node === before.node && record.t === before.t;
        if (!effect) steps.push(at);
    }
    if (records.length) steps.push(records.length);
    return steps;
}

/**
 * When the set of leaders changes, by the histories of all processes.
 * @param {import("./types.js").Lane[]} lanes
 * @returns {LeaderChange[]}
 */
function changes(lanes) {
    /** @type {{t: number, id: number, leads: boolean}[]} */
    const turns = [];
    for (const lane of lanes) {
        for (const { from, to, what } of lane.beliefs) {
            if (what.stage !== "decided" || !what.leaders.includes(lane.id)) continue;
            turns.push({ t: from, id: lane.id, leads: true }, { t: to, id: lane.id, leads: false });
        }
    }
    // At one time, what ends ends first.
    turns.sort((a, b) => a.t - b.t || Number(a.leads) - Number(b.leads));
    /** @type {LeaderChange[]} */
    const found = [];
    const now = new Set();
    turns.forEach((turn, index) => {
        if (turn.leads) now.add(turn.id);
        else now.delete(turn.id);
        if (turns[index + 1]?.t === turn.t) return;
        const leaders = [...now].sort((a, b) => a - b);
        const before = found.at(-1)?.leaders ?? [];
        if (String(before) !== String(leaders)) found.push({ t: turn.t, leaders });
    });
    return found;
}

/**
 * A digest of the records: two runs with the same digest are the same run. 53 bits, computed in
 * the page so that it tells what is shown.
 * @param {TraceRecord[]} records
 */
function digest(records) {
    let [a, b] = [0xdeadbeef, 0x41c6ce57];
    for (const record of records) {
        const text = JSON.stringify(record);
        for (let at = 0; at < text.length; at += 1) {
            const code = text.charCodeAt(at);
            a = Math.imul(a ^ code, 2654435761);
            b = Math.imul(b ^ code, 1597334677);
        }
    }
    a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
    b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
    const value = 4294967296 * (2097151 & b) + (a >>> 0);
    return value.toString(16).padStart(14, "0");
}

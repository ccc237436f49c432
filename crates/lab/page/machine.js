// What every process is and believes after any number of records. Records are applied one by one;
// a copy of all states is kept after every 256th, so that any position, also an earlier one, is
// computed exactly from the copy before it.

/** @typedef {import("./types.js").TraceRecord} TraceRecord */
/** @typedef {import("./types.js").ProcessState} ProcessState */

/** Records between two copies of all states. */
const EVERY = 256;

/**
 * @param {number} id
 * @param {ProcessState["phase"]} phase
 * @returns {ProcessState}
 */
function newborn(id, phase) {
    return {
        id,
        phase,
        life: 0,
        leaders: [],
        term: null,
        stage: "undecided",
        until: Infinity,
        since: 0,
        hold: null,
        ahead: 0,
        facts: [],
        told: -1,
    };
}

/**
 * When a clock that is ahead by so much reads this, in the time of the records.
 * @param {ProcessState} state
 * @param {number | undefined} instant
 */
const when = (state, instant) => (instant === undefined ? Infinity : instant - state.ahead);

/** Facts that are told again and again, each in place of the one before. */
const SINGLE = new Set([
    "round", "relay", "unclear", "highest", "claim", "norecord", "list", "lengths", "life", "record",
    "granted", "request", "gaveup", "outlived",
]);

/** @type {{[kind: string]: (state: ProcessState, record: TraceRecord) => void}} */
const APPLY = {
    begin: (state, record) => start(state, record),
    start: (state, record) => start(state, record),
    restart: (state, record) => start(state, record),
    crash: (state) => stop(state, "down"),
    leave: (state) => stop(state, "absent"),
    withdraw: (state) => stop(state, "absent"),
    pause: (state) => void (state.phase = "paused"),
    resume: (state) => void (state.phase = "up"),
    jump: (state, record) => void (state.ahead = (record.reads ?? record.t) - record.t),
    leadership: (state, record) => {
        state.leaders = record.leaders ?? [];
        state.term = record.term ?? null;
        state.stage = record.stage ?? "undecided";
        state.until = when(state, record.until);
        state.since = record.t;
        state.facts = [];
    },
    fact: (state, record) => learn(state, record),
};

/**
 * @param {ProcessState} state
 * @param {TraceRecord} record
 */
function start(state, record) {
    Object.assign(state, { ...newborn(state.id, "up"), ahead: state.ahead });
    state.life = record.incarnation ?? 0;
    state.since = record.t;
}

/**
 * @param {ProcessState} state
 * @param {ProcessState["phase"]} phase
 */
function stop(state, phase) {
    Object.assign(state, { ...newborn(state.id, phase), life: state.life, ahead: state.ahead });
}

/**
 * @param {ProcessState} state
 * @param {TraceRecord} record
 */
function learn(state, record) {
    switch (record.fact) {
        case "clock":
            state.ahead = (record.reads ?? record.t) - record.t;
            return;
        case "held":
            state.until = when(state, record.until);
            state.since = record.t;
            // All supporters follow, if they have changed.
            return;
        case "locked":
        case "bound":
            lock(state, record);
            return;
        default: {
            const single = SINGLE.has(record.fact ?? "");
            const same = (/** @type {TraceRecord} */ fact) =>
                fact.fact === record.fact && (single || fact.peer === record.peer);
            state.facts = [...state.facts.filter((fact) => !same(fact)), record];
        }
    }
}

/**
 * @param {ProcessState} state
 * @param {TraceRecord} record
 */
function lock(state, record) {
    const to = record.fact === "locked" ? /** @type {number} */ (record.to) : null;
    const until = when(state, record.until);
    state.hold = until <= record.t ? null : { to, from: record.t, until };
}

/** All states of a run, at any position. */
export class Machine {
    /**
     * @param {TraceRecord[]} records in order of time
     * @param {number[]} ids
     */
    constructor(records, ids) {
        this.records = records;
        this.ids = ids;
        /** @type {Map<number, number>} */
        this.index = new Map(ids.map((id, index) => [id, index]));
        // A process whose first record is not its start has been there from the beginning.
        const first = new Map();
        for (const record of records) if (!first.has(record.node)) first.set(record.node, record.kind);
        const begins = (/** @type {number} */ id) =>
            ["start", "begin", "restart", undefined].includes(first.get(id));
        /** @type {ProcessState[]} */
        this.states = ids.map((id) => newborn(id, begins(id) ? "absent" : "up"));
        /** The number of records that have been applied. */
        this.position = 0;
        /** @type {ProcessState[][]} */
        this.copies = [this.copy()];
        while (this.position < records.length) this.forward();
    }

    copy() {
        return this.states.map((state) => ({ ...state }));
    }

    forward() {
        const record = this.records[this.position];
        const at = this.index.get(record.node);
        if (at !== undefined) {
            const state = this.states[at];
            APPLY[record.kind]?.(state, record);
            state.told = this.position;
        }
        this.position += 1;
        const copies = this.copies;
        if (this.position === copies.length * EVERY) copies.push(this.copy());
    }

    /**
     * The states after so many records. They are valid until the next call.
     * @param {number} position
     * @returns {ProcessState[]}
     */
    at(position) {
        const before = Math.floor(position / EVERY);
        if (position < this.position || before * EVERY > this.position) {
            this.states = this.copies[before].map((state) => ({ ...state }));
            this.position = before * EVERY;
        }
        while (this.position < position) this.forward();
        return this.states;
    }
}

/**
 * Whether a process leads at a time: it is not down, has decided for itself, and its lease, if it
 * has one, is not over.
 * @param {ProcessState} state
 * @param {number} t
 */
export const leads = (state, t) =>
    state.stage === "decided" && state.until > t && state.leaders.includes(state.id);

/**
 * Whom it follows at a time; nobody after the end of what it believes.
 * @param {ProcessState} state
 * @param {number} t
 * @returns {number[]}
 */
export const follows = (state, t) =>
    state.until > t && state.stage === "decided" ? state.leaders : [];

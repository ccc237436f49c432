// The history of every process as spans: was it up, whom did it follow, whom was it locked to. A
// belief or a lock may end without a record, by the process's own clock; its end was announced.

/** @typedef {import("./types.js").TraceRecord} TraceRecord */
/** @typedef {import("./types.js").Lane} Lane */
/** @typedef {Lane["beliefs"][number]["what"]} Belief */

const NOTHING = { leaders: /** @type {number[]} */ ([]), term: null, stage: "undecided" };

/** One lane whose last spans are still open. */
class Track {
    /**
     * @param {number} id
     * @param {number} from
     * @param {string} phase
     */
    constructor(id, from, phase) {
        /** @type {Lane} */
        this.lane = { id, phases: [], beliefs: [], holds: [] };
        /** @type {{from: number, what: string}} */
        this.phase = { from, what: phase };
        /** @type {{from: number, what: Belief, until: number} | null} */
        this.belief = null;
        /** @type {{from: number, what: number | null, until: number} | null} */
        this.hold = null;
        this.ahead = 0;
    }

    /** @param {TraceRecord} record */
    read(record) {
        const t = record.t;
        this.lapse(t);
        switch (record.kind) {
            case "begin":
            case "start":
            case "restart":
                this.enter(t, "up");
                this.forget(t);
                break;
            case "resume":
                this.enter(t, "up");
                break;
            case "crash":
                this.enter(t, "down");
                this.forget(t);
                break;
            case "leave":
            case "withdraw":
                this.enter(t, "absent");
                this.forget(t);
                break;
            case "pause":
                // A paused process keeps its belief, which is what makes it dangerous.
                this.enter(t, "paused");
                break;
            case "jump":
                this.ahead = (record.reads ?? t) - t;
                break;
            case "leadership": {
                const { leaders, term = null, stage = "undecided" } = record;
                this.believe(t, { leaders, term, stage }, this.when(record.until));
                break;
            }
            case "fact":
                this.learn(record);
        }
    }

    /** @param {TraceRecord} record */
    learn(record) {
        const t = record.t;
        if (record.fact === "clock") this.ahead = (record.reads ?? t) - t;
        else if (record.fact === "held" && this.belief) this.belief.until = this.when(record.until);
        else if (record.fact === "locked") this.lock(t, record.to, this.when(record.until));
        else if (record.fact === "bound") this.lock(t, null, this.when(record.until));
    }

    /** @param {number | undefined} instant */
    when(instant) {
        return instant === undefined ? Infinity : instant - this.ahead;
    }

    /**
     * @param {number} t
     * @param {string} phase
     */
    enter(t, phase) {
        push(this.lane.phases, this.phase.from, t, this.phase.what);
        this.phase = { from: t, what: phase };
    }

    /**
     * @param {number} t
     * @param {Belief} what
     * @param {number} until
     */
    believe(t, what, until) {
        if (this.belief) push(this.lane.beliefs, this.belief.from, t, this.belief.what);
        this.belief = { from: t, what, until };
    }

    /**
     * @param {number} t
     * @param {number | null} to
     * @param {number} until
     */
    lock(t, to, until) {
        const before = this.hold;
        if (before && before.what === to) {
            before.until = until;
            this.lapse(t);
            return;
        }
        if (before) push(this.lane.holds, before.from, t, before.what);
        this.hold = until > t ? { from: t, what: to, until } : null;
    }

    /**
     * Ends what has ended by `t`.
     * @param {number} t
     */
    lapse(t) {
        if (this.hold && this.hold.until <= t) {
            push(this.lane.holds, this.hold.from, this.hold.until, this.hold.what);
            this.hold = null;
        }
        if (this.belief && this.belief.until <= t) {
            this.believe(Math.max(this.belief.from, this.belief.until), NOTHING, Infinity);
        }
    }

    /** @param {number} t */
    forget(t) {
        if (this.belief) push(this.lane.beliefs, this.belief.from, t, this.belief.what);
        if (this.hold) push(this.lane.holds, this.hold.from, t, this.hold.what);
        this.belief = this.hold = null;
    }

    /** @param {number} t */
    close(t) {
        this.lapse(t);
        this.enter(t, this.phase.what);
        this.forget(t);
        return this.lane;
    }
}

/**
 * Adds a span, unless it is empty or continues the one before.
 * @template T
 * @param {{from: number, to: number, what: T}[]} spans
 * @param {number} from
 * @param {number} to
 * @param {T} what
 */
function push(spans, from, to, what) {
    if (!(from < to)) return;
    const last = spans.at(-1);
    if (last && last.to === from && JSON.stringify(last.what) === JSON.stringify(what)) last.to = to;
    else spans.push({ from, to, what });
}

/**
 * The lanes of all processes, in the order of `ids`.
 * @param {TraceRecord[]} records in order of time
 * @param {number[]} ids
 * @param {number} from
 * @param {number} to
 * @returns {Lane[]}
 */
export function lanes(records, ids, from, to) {
    const first = new Map();
    for (const record of records) if (!first.has(record.node)) first.set(record.node, record.kind);
    const begins = ["start", "begin", "restart", undefined];
    const tracks = new Map(
        ids.map((id) => [id, new Track(id, from, begins.includes(first.get(id)) ? "absent" : "up")]),
    );
    for (const record of records) tracks.get(record.node)?.read(record);
    return ids.map((id) => /** @type {Track} */ (tracks.get(id)).close(to));
}

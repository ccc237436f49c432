// Says in words what happened and what a process believes.

import { count, span } from "./format.js";
import { follows, leads } from "./machine.js";

/** @typedef {import("./types.js").TraceRecord} TraceRecord */
/** @typedef {import("./types.js").ProcessState} ProcessState */

/** @type {{[kind: string]: (record: TraceRecord) => string}} */
const RECORDS = {
    begin: () => "begins",
    start: () => "starts",
    send: (r) => `sends ${r.message} to ${r.to ?? "all"}`,
    recv: (r) => `receives ${r.message} from ${r.from}`,
    drop: (r) => `misses ${r.message} from ${r.from} (${r.why})`,
    timer: (r) => `timer ${plainTimer(r.timer ?? "")}`,
    store: (r) => `stores ${count(r.bytes ?? 0, "byte")}`,
    crash: () => "crashes",
    restart: () => "starts again",
    pause: () => "is paused",
    resume: () => "goes on",
    leave: () => "leaves",
    withdraw: (r) => `withdraws (${r.why})`,
    command: (r) => `is asked: ${r.command}${r.taken ? "" : ", and refuses"}`,
    jump: () => "its clock is set forward",
    peers: (r) => `knows ${count(r.members?.length ?? 0, "other")}`,
    reach: (r) => `is told: ${r.peer} is ${r.up ? "there" : "gone"}`,
    cut: (r) => `cut: nothing of ${list(r.from)} reaches ${list(r.to)}`,
    heal: () => "all cuts end",
    leadership: (r) => belief(r.node, r.leaders ?? [], r.stage ?? "", r.term ?? null),
    work: (r) => `its command: ${r.phase}`,
};

/** @param {TraceRecord} record */
export const recordWords = (record) => RECORDS[record.kind]?.(record) ?? record.kind;

/** @param {string} timer such as `Inner(Ask)` */
const plainTimer = (timer) => timer.replace(/^\w+\((\w+)\)$/, "$1").toLowerCase();

/** @param {number[] | number | null} ids */
export const list = (ids) => (Array.isArray(ids) ? ids.join(", ") : String(ids));

/**
 * @param {number} me
 * @param {number[]} leaders
 * @param {string} stage
 * @param {number | null} term
 */
function belief(me, leaders, stage, term) {
    const reign = term === null ? "" : `, term ${term}`;
    const whom = leaders.includes(me) && leaders.length === 1 ? "itself" : list(leaders);
    if (stage === "undecided") return leaders.length ? `undecided, for now ${whom}` : "undecided";
    if (stage !== "decided") return stage;
    if (!leaders.length) return "has decided";
    return leaders.includes(me) ? `leads${reign}` : `follows ${whom}${reign}`;
}

/**
 * What a process is at a time, in a few words.
 * @param {ProcessState} state
 * @param {number} t
 */
export function stateWords(state, t) {
    if (state.phase === "absent") return "is not there";
    if (state.phase === "down") return "is down";
    const whom = follows(state, t);
    const over = state.until <= t ? "undecided" : state.stage;
    const words = belief(state.id, over === "decided" ? whom : state.until > t ? state.leaders : [],
        over, state.until > t ? state.term : null);
    return state.phase === "paused" ? `is paused; ${words}` : words;
}

/**
 * Who leads, for the line above the stage and for screen readers.
 * @param {number[]} leaders
 */
export function leaderWords(leaders) {
    if (!leaders.length) return "Nobody leads";
    if (leaders.length === 1) return `Process ${leaders[0]} leads`;
    if (leaders.length > 8) return `${leaders.length} processes lead`;
    return `Processes ${leaders.slice(0, -1).join(", ")} and ${leaders.at(-1)} lead`;
}

/** Facts about another process, which are gathered into one line, and what that line is called. */
/** @type {{[fact: string]: string}} */
const GATHERED = {
    supporter: "supported by",
    alive: "holds alive",
    suspect: "suspects",
    member: "in its partition",
    voter: "voters",
    added: "voters added",
    removed: "voters removed",
    contact: "in contact with",
};

/** @type {{[fact: string]: (record: TraceRecord) => [string, string]}} */
const FACTS = {
    round: (r) => ["round", String(r.number)],
    relay: (r) => ["one of the few; would have", String(r.choice)],
    unclear: (r) => ["outcome", r.leaders ? "two were named" : "none was named"],
    highest: (r) => ["highest term seen", String(r.term)],
    // Greater claims are ranks and hashes, which say nothing to people.
    claim: (r) => (r.weight < 1e9 ? ["its claim", String(r.weight)] : ["", ""]),
    norecord: () => ["record of terms", "lost: it cannot vote yet"],
    list: (r) => ["list of voters", `version ${r.version}${r.committed ? "" : ", not committed"}`],
    life: (r) => ["life", String(r.number)],
    record: (r) => [
        "granted",
        r.granted ? `term ${r.highest} to ${r.granted[0]}` : `none; highest ${r.highest}`,
    ],
    request: (r) => ["last request", `term ${r.term}`],
    granted: (r) => ["its lock is for", `life ${r.life}`],
    outlived: (r) => ["others know of its life", String(r.life)],
};

/**
 * Facts of a process as rows of a name and a value.
 * @param {ProcessState} state
 * @param {number} t
 * @returns {[string, string][]}
 */
export function factRows(state, t) {
    /** @type {[string, string][]} */
    const rows = [];
    if (leads(state, t) && state.until < Infinity) {
        rows.push(["lease", `${span(state.until - t)} left`]);
    } else if (state.until < Infinity && state.until > t) {
        rows.push(["believes it for", span(state.until - t)]);
    }
    if (state.hold && state.hold.until > t) {
        const whom = state.hold.to === null ? "bound to nobody" : `locked to ${state.hold.to}`;
        rows.push([whom, `${span(state.hold.until - t)} left`]);
    }
    /** @type {Map<string, number[]>} */
    const gathered = new Map();
    for (const fact of state.facts) {
        const name = fact.fact ?? "";
        if (GATHERED[name] && typeof fact.peer === "number") {
            gathered.set(name, [...(gathered.get(name) ?? []), fact.peer]);
        } else if (FACTS[name]) rows.push(FACTS[name](fact));
    }
    const said = rows.filter(([name]) => name);
    for (const [name, peers] of gathered) {
        said.push([GATHERED[name], list(peers.sort((a, b) => a - b))]);
    }
    return said;
}

/**
 * A fault in words, for the list of what was broken.
 * @param {{what: string, [key: string]: any}} fault
 */
export function faultWords(fault) {
    const node = fault.node === "leader" ? "the leader" : fault.node;
    switch (fault.what) {
        case "crash":
            return `${node} crashes`;
        case "restart":
            return `${node} starts again${fault.disk === "lost" ? " without memory" : ""}`;
        case "pause":
            return `${node} is paused`;
        case "resume":
            return `${node} goes on`;
        case "slow":
            return `${node} reacts late, by ${fault.by}`;
        case "drift":
            return `the clock of ${node} runs ${fault["parts-per-billion"] < 0 ? "slow" : "fast"}`;
        case "resign":
            return `${node} is asked to resign`;
        case "campaign":
            return `${node} calls an election`;
        case "cut":
            return `cut: ${list(fault.from)} → ${list(fault.to)}`;
        case "heal":
            return fault.from ? `healed: ${list(fault.from)} → ${list(fault.to)}` : "all cuts end";
        case "link":
            return `link ${list(fault.ends)} ${fault.up ? "appears" : "disappears"}`;
        default:
            return `${fault.what}${node === undefined ? "" : ` ${node}`}`;
    }
}

// The address bar: which page, and on the stage which run. Equal addresses give equal runs, byte for
// byte. A run is written as its flags, the name of its lesson or its scenario file, and its faults.

/** @typedef {{at: string, what: string, [key: string]: any}} Fault */
/**
 * What a reader is told from a moment on; and what the run comes to, with who leads at its end and the
 * invariant that is broken first, if one is.
 */
/** @typedef {{at: string, text: string}} Caption */
/** @typedef {{leaders: number[], broken?: string | null, text: string}} Outcome */
/**
 * What the stage shows.
 * @typedef {{
 *   protocol?: string, flags?: {[name: string]: any},
 *   lesson?: string, toml?: string, scenario?: any, seed?: string,
 *   faults: Fault[], at?: string, promise?: string, digest?: string,
 *   captions?: Caption[], outcome?: Outcome | null,
 * }} Wanted
 */

/** Keys of faults whose value is a list of processes. */
const LISTS = ["from", "to", "ends"];
/** What switches are, on or off. */
const WORDS = new Map([["true", true], ["false", false]]);
/** Keys that are no flags. */
const OWN = ["protocol", "lesson", "toml", "scenario", "seed", "fault", "at", "promise", "digest", "caption",
    "outcome"];

/**
 * A fault as one word: `4.2s_cut_from_0.1_to_2`.
 * @param {Fault} fault
 */
function writeFault({ at, what, ...keys }) {
    const pairs = Object.entries(keys).map(
        ([key, value]) => `_${key}_${Array.isArray(value) ? value.join(".") : value}`,
    );
    return `${at}_${what}${pairs.join("")}`;
}

/**
 * @param {string} text
 * @returns {Fault}
 */
function readFault(text) {
    const [at, what, ...rest] = text.split("_");
    /** @type {Fault} */
    const fault = { at, what };
    for (let index = 0; index + 1 < rest.length; index += 2) {
        const [key, value] = [rest[index], rest[index + 1]];
        if (LISTS.includes(key)) fault[key] = value.split(".").map(Number);
        else if (value === "true" || value === "false") fault[key] = value === "true";
        else fault[key] = /^-?\d+$/.test(value) ? Number(value) : value;
    }
    return fault;
}

/**
 * The page and the query of an address.
 * @param {string} hash
 * @returns {{view: string, query: URLSearchParams}}
 */
export function readAddress(hash) {
    const [view, query = ""] = hash.replace(/^#/, "").split(/\?(.*)/s);
    return { view: view || "stage", query: new URLSearchParams(query) };
}

/**
 * @param {string} text
 * @returns {any}
 */
function readScenario(text) {
    try {
        return JSON.parse(text);
    } catch {
        throw new Error("the scenario of this address is not whole: copy the address again, to its end");
    }
}

/**
 * @param {URLSearchParams} query
 * @returns {Wanted}
 */
export function readWanted(query) {
    const text = (/** @type {string} */ key) => query.get(key) ?? undefined;
    const shown = { faults: query.getAll("fault").map(readFault), at: text("at"), digest: text("digest"),
        ...readWords(query) };
    const [lesson, toml, scenario] = [text("lesson"), text("toml"), text("scenario")];
    const drawn = { ...shown, seed: text("seed") };
    if (lesson) return { lesson, ...drawn };
    const judged = { ...drawn, promise: text("promise") };
    if (toml) return { toml, ...judged };
    if (scenario) return { scenario: readScenario(scenario), ...judged };
    return { protocol: text("protocol"), flags: readFlags(query), ...shown };
}

/**
 * The captions and the outcome of an address: `caption=1.5s_All+begin`, `outcome=3_It+leads`,
 * `outcome=0.1-never-two_Both+lead`. One that is empty leaves out what a lesson or a file has.
 * @param {URLSearchParams} query
 * @returns {{captions?: Caption[], outcome?: Outcome | null}}
 */
function readWords(query) {
    const parts = (/** @type {string} */ word) => /** @type {[string, string]} */ (
        [word.split("_", 1)[0], word.split(/_(.*)/s)[1] ?? ""]);
    /** @type {{captions?: Caption[], outcome?: Outcome | null}} */
    const words = {};
    if (query.has("caption")) {
        words.captions = query.getAll("caption").filter(Boolean).map(parts)
            .map(([at, text]) => ({ at, text }));
    }
    const outcome = query.get("outcome");
    if (outcome === null) return words;
    const [states, text] = parts(outcome);
    const [ids, broken] = [states.split("-", 1)[0], states.split(/-(.*)/s)[1]];
    words.outcome = outcome ? { leaders: ids ? ids.split(".").map(Number) : [], broken, text } : null;
    return words;
}

/**
 * All that is a flag in a query.
 * @param {URLSearchParams} query
 * @param {string[]} [others] keys that are none; those of a run, if nothing else is said
 */
export function readFlags(query, others = OWN) {
    /** @type {{[name: string]: any}} */
    const flags = {};
    for (const name of new Set(query.keys())) {
        if (others.includes(name) && name !== "seed") continue;
        const values = query.getAll(name).map((value) => WORDS.get(value) ?? value);
        flags[name] = values.length > 1 ? values : values[0];
    }
    return flags;
}

/**
 * Adds flags to a query, without those that are left out.
 * @param {URLSearchParams} query
 * @param {{[name: string]: any}} flags
 */
export function writeFlags(query, flags) {
    for (const [name, value] of Object.entries(flags)) {
        for (const one of Array.isArray(value) ? value : [value]) {
            if (one !== null && one !== undefined && one !== "") {
                query.append(name, String(one));
            }
        }
    }
}

/**
 * The address at which the stage shows a run that the server has described.
 * @param {{[key: string]: any}} what
 */
export const addressOf = (what) =>
    writeWanted({ ...what, faults: what.faults ?? [], seed: what.seed?.toString() });

/**
 * @param {Wanted} wanted
 * @returns {string} the fragment, with its `#`
 */
export function writeWanted(wanted) {
    const query = new URLSearchParams();
    if (wanted.lesson) query.set("lesson", wanted.lesson);
    else if (wanted.toml) query.set("toml", wanted.toml);
    else if (wanted.scenario) query.set("scenario", JSON.stringify(wanted.scenario));
    else if (wanted.protocol) query.set("protocol", wanted.protocol);
    if (wanted.seed !== undefined) query.set("seed", wanted.seed);
    if (wanted.promise !== undefined) query.set("promise", wanted.promise);
    writeFlags(query, wanted.flags ?? {});
    for (const fault of wanted.faults) query.append("fault", writeFault(fault));
    const { captions, outcome } = wanted;
    if (captions && !captions.length) query.set("caption", "");
    for (const { at, text } of captions ?? []) query.append("caption", `${at}_${text}`);
    if (outcome) {
        const { leaders, broken, text } = outcome;
        query.set("outcome", `${leaders.join(".")}${broken ? `-${broken}` : ""}_${text}`);
    }
    else if (outcome === null) query.set("outcome", "");
    if (wanted.digest !== undefined) query.set("digest", wanted.digest);
    if (wanted.at !== undefined) query.set("at", wanted.at);
    return `#stage?${query}`;
}

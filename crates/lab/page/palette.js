// Colours and shapes. Leaders and kinds of messages have colours that people with any kind of colour
// vision can tell apart, as in the still diagrams (a test measures it); kinds also have shapes. The
// server says how each kind looks, so that it is the same here as in the still diagrams.

/** How many leaders have a colour of their own; all others share one more. */
const LEADERS = 6;
/** How many colours there are for kinds of messages; one more is for quiet ones. */
const KINDS = 6;
/** How many shapes. */
const SHAPES = 4;

/**
 * The colours of the theme in use.
 * @typedef {{
 *   solid: string[], soft: string[], kinds: string[],
 *   page: string, ink: string, dim: string, line: string, grid: string,
 *   undecided: string, suppressed: string, bad: string, accent: string, fault: string,
 * }} Colours
 */

/** @type {Colours | null} */
let colours = null;

/**
 * The colour and the shape of each kind that the server knows.
 * @type {{[kind: string]: [number, number]}}
 */
let looks = {};

/** @param {{[kind: string]: [number, number]}} known */
export function useLooks(known) {
    looks = known;
}

/**
 * The colours, read from the style sheet once for each theme.
 * @returns {Colours}
 */
export function theme() {
    if (colours) return colours;
    const style = getComputedStyle(document.documentElement);
    // A canvas takes no `light-dark(…)`: choose one of the two as the browser would.
    const chosen = document.documentElement.dataset.theme;
    const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    const read = (/** @type {string} */ name) => {
        const value = style.getPropertyValue(`--${name}`).trim();
        return /^light-dark\((.*),(.*)\)$/.exec(value)?.[dark ? 2 : 1].trim() ?? value;
    };
    const row = (/** @type {string} */ name, /** @type {number} */ count) =>
        Array.from({ length: count }, (_, index) => read(`${name}${index}`));
    colours = {
        solid: row("l", LEADERS + 1),
        soft: row("f", LEADERS + 1),
        kinds: row("k", KINDS + 1),
        page: read("page"),
        ink: read("ink"),
        dim: read("dim"),
        line: read("line"),
        grid: read("grid"),
        undecided: read("undecided"),
        suppressed: read("suppressed"),
        bad: read("bad"),
        accent: read("accent"),
        fault: read("fault"),
    };
    return colours;
}

/** Forgets the colours, because the theme has changed. */
export function themeChanged() {
    colours = null;
}

/**
 * Numbers things in the order in which they first appear. A fault later in the run changes no
 * number before it, so the part of a run that is unchanged also looks unchanged.
 * @template T
 */
export class FirstSeen {
    constructor() {
        /** @type {Map<T, number>} */
        this.numbers = new Map();
    }

    /** @param {T} thing */
    see(thing) {
        if (!this.numbers.has(thing)) this.numbers.set(thing, this.numbers.size);
    }

    /**
     * @param {T} thing
     * @returns {number}
     */
    of(thing) {
        return this.numbers.get(thing) ?? 0;
    }
}

/**
 * Whether a kind of message carries only stamps or signs of life: such are drawn in the background.
 * @param {string} kind
 */
export const isQuiet = (kind) => looks[kind]?.[0] === KINDS;

/** @param {number} index the number of the leader, in order of appearance */
export const solid = (index) => theme().solid[Math.min(index, LEADERS)];

/** @param {number} index */
export const soft = (index) => theme().soft[Math.min(index, LEADERS)];

/**
 * The indices of the colour and the shape of a kind of message.
 * @param {number} index its number, in order of appearance, for kinds that the server does not know
 * @param {string} kind
 * @returns {[number, number]}
 */
export function kindLook(index, kind) {
    return looks[kind] ?? [index % KINDS, index % SHAPES];
}

/**
 * The colour of a kind of message.
 * @param {number} index as above
 * @param {string} kind
 */
export const kindColour = (index, kind) => theme().kinds[kindLook(index, kind)[0]];

/**
 * Adds the shape of a kind of message to a path: circle, square, diamond, triangle.
 * @param {CanvasRenderingContext2D | Path2D} path
 * @param {number} which the index of the shape
 * @param {number} x
 * @param {number} y
 * @param {number} r half of its size
 */
export function shape(path, which, x, y, r) {
    switch (which) {
        case 0:
            path.moveTo(x + r, y);
            path.arc(x, y, r, 0, 7);
            break;
        case 1:
            path.rect(x - r * 0.88, y - r * 0.88, r * 1.76, r * 1.76);
            break;
        case 2:
            path.moveTo(x, y - r * 1.25);
            path.lineTo(x + r * 1.25, y);
            path.lineTo(x, y + r * 1.25);
            path.lineTo(x - r * 1.25, y);
            path.closePath();
            break;
        default:
            path.moveTo(x, y - r * 1.15);
            path.lineTo(x + r * 1.1, y + r * 0.8);
            path.lineTo(x - r * 1.1, y + r * 0.8);
            path.closePath();
    }
}

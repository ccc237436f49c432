// Where processes stand, in the unit square, and which links there are between them at a time.

/** @typedef {{[key: string]: any}} Head */
/** @typedef {[number, number]} Point */

/** Into how many small turns an ellipse is divided. */
const PARTS = 720;

export class Places {
    /** @param {Head} head the first line of a run */
    constructor(head) {
        /** @type {number[]} */
        this.ids = head.ids ?? Array.from({ length: head.nodes }, (_, id) => id);
        /** @type {Point[]} */
        this.still = head.places?.length ? head.places : ellipse(this.ids, this.ids, 1);
        // A network has no scale: it fills its room. Where radios are means something.
        if (head.layout === "graph") this.still = stretched(this.still);
        /** @type {{at: number, places: Point[]}[]} */
        this.paths = head.paths ?? [];
        /** @type {string} */
        this.layout = head.layout ?? "circle";
        /** @type {[number, number][]} */
        this.links = head.links ?? [];
        /** @type {{at: number, ends: [number, number], up: boolean}[]} */
        this.changes = head.changes ?? [];
        /** @type {number[]} Who stands at each place; the server counts from zero. */
        this.order = (head.order ?? []).map((/** @type {number} */ index) => this.ids[index]);
        if (this.order.length !== this.ids.length) this.order = this.ids;
    }

    get moves() {
        return this.paths.length > 1;
    }

    /**
     * The place of every process, in the order of their ids.
     * @param {number} t
     * @returns {Point[]}
     */
    at(t) {
        if (!this.moves) return this.still;
        const next = this.paths.findIndex(({ at }) => at > t);
        if (next < 0) return this.paths[this.paths.length - 1].places;
        if (next === 0) return this.paths[0].places;
        const [before, after] = [this.paths[next - 1], this.paths[next]];
        const share = (t - before.at) / (after.at - before.at);
        return before.places.map(([x, y], index) => {
            const [toX, toY] = after.places[index];
            return [x + (toX - x) * share, y + (toY - y) * share];
        });
    }

    /**
     * The links that are up, as pairs of ids.
     * @param {number} t
     * @returns {[number, number][]}
     */
    linksAt(t) {
        if (this.layout === "ring") {
            return this.order.map((id, index) => [id, this.order[(index + 1) % this.order.length]]);
        }
        if (!this.changes.length || this.changes[0].at > t) return this.links;
        const name = (/** @type {[number, number]} */ [a, b]) => `${Math.min(a, b)} ${Math.max(a, b)}`;
        const up = new Map(this.links.map((link) => [name(link), link]));
        for (const change of this.changes) {
            if (change.at > t) break;
            if (change.up) up.set(name(change.ends), change.ends);
            else up.delete(name(change.ends));
        }
        return [...up.values()];
    }
}

/**
 * The same places, stretched to fill the unit square.
 * @param {Point[]} places
 * @returns {Point[]}
 */
function stretched(places) {
    const ends = [0, 1].map((axis) => {
        const all = places.map((place) => place[axis]);
        return [Math.min(...all), Math.max(...all)];
    });
    return places.map((place) => /** @type {Point} */ (place.map((value, axis) => {
        const [from, to] = ends[axis];
        return to > from ? (value - from) / (to - from) : 0.5;
    })));
}

/**
 * Places on an ellipse that fills the unit square, clockwise from the top, equally far apart along
 * it as it is drawn.
 * @param {number[]} order who stands at each place
 * @param {number[]} ids
 * @param {number} aspect how much wider than high it is drawn
 * @returns {Point[]}
 */
export function ellipse(order, ids, aspect) {
    const at = (/** @type {number} */ turn) => /** @type {Point} */ ([
        0.5 + 0.5 * Math.sin(turn * 2 * Math.PI),
        0.5 - 0.5 * Math.cos(turn * 2 * Math.PI),
    ]);
    // The length of the way from the top, after each of many small turns.
    const lengths = [0];
    for (let part = 1; part <= PARTS; part += 1) {
        const [[x, y], [toX, toY]] = [at((part - 1) / PARTS), at(part / PARTS)];
        lengths.push(lengths[part - 1] + Math.hypot((toX - x) * aspect, toY - y));
    }
    return ids.map((id) => {
        const wanted = (Math.max(0, order.indexOf(id)) / order.length) * lengths[PARTS];
        return at(lengths.findIndex((length) => length >= wanted) / PARTS);
    });
}

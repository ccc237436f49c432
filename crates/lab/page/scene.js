// Draws the group at one moment on a canvas: processes, links, messages on their way, leases, locks.
// Everything is drawn anew for each frame, from the run and the cursor alone.

import { LOST_AT } from "./flights.js";
import { follows, leads } from "./machine.js";
import { ellipse } from "./places.js";
import { isQuiet, kindColour, kindLook, shape, soft, solid, theme } from "./palette.js";

/** @typedef {import("./run.js").Run} Run */
/** @typedef {import("./types.js").ProcessState} ProcessState */
/** @typedef {import("./types.js").Flight} Flight */
/** @typedef {import("./places.js").Places} Places */

/** Room around the places, for labels and arcs. */
const MARGIN = 44;
/** More processes than this stand on a wider ellipse, so that they can be larger. */
const MANY = 24;
const TURN = 2 * Math.PI;

export class Scene {
    /** @param {HTMLCanvasElement} canvas */
    constructor(canvas) {
        this.canvas = canvas;
        this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
        this.width = 0;
        this.height = 0;
        /** The radius of a process. */
        this.radius = 20;
        /** @type {Run | null} */
        this.run = null;
        /** @type {Places | null} */
        this.places = null;
        /** @type {Float64Array} */
        this.x = new Float64Array(0);
        /** @type {Float64Array} */
        this.y = new Float64Array(0);
        /** @type {{flight: Flight, x: number, y: number}[]} Messages as drawn last, to be pointed at. */
        this.drawn = [];
    }

    /**
     * @param {Run} run
     * @param {Places} places
     */
    show(run, places) {
        this.run = run;
        this.places = places;
        this.x = new Float64Array(run.ids.length);
        this.y = new Float64Array(run.ids.length);
        this.measure();
    }

    /** Takes the size of the canvas from the page. */
    measure() {
        const { width, height } = this.canvas.getBoundingClientRect();
        const scale = Math.min(2, devicePixelRatio || 1);
        this.width = width;
        this.height = height;
        this.canvas.width = Math.max(1, Math.round(width * scale));
        this.canvas.height = Math.max(1, Math.round(height * scale));
        this.context.setTransform(scale, 0, 0, scale, 0, 0);
        if (!this.run) return;
        this.radius = 20;
        this.settle(this.run.from);
        this.radius = Math.min(22, Math.max(6, 0.36 * this.nearest()));
    }

    /** The least distance between two processes, which says how large they can be. */
    nearest() {
        let least = Infinity;
        for (let a = 0; a < this.x.length; a += 1) {
            for (let b = a + 1; b < this.x.length; b += 1) {
                least = Math.min(least, Math.hypot(this.x[a] - this.x[b], this.y[a] - this.y[b]));
            }
        }
        return least;
    }

    /**
     * Computes where every process is drawn.
     * @param {number} t
     */
    settle(t) {
        if (!this.places || !this.run) return;
        const { layout, order } = this.places;
        const round = layout === "circle" || layout === "ring";
        const high = this.height - 2 * MARGIN;
        // A circle becomes a wide ellipse where the page is low.
        const most = round && order.length <= MANY ? 1.7 : 2.4;
        const wide = Math.min(this.width - 2 * MARGIN, high * most);
        const left = (this.width - wide) / 2;
        const places = round ? ellipse(order, this.run.ids, wide / high) : this.places.at(t);
        for (let index = 0; index < this.x.length; index += 1) {
            const [x, y] = places[index] ?? [0.5, 0.5];
            this.x[index] = left + x * wide;
            this.y[index] = MARGIN + y * high;
        }
    }

    /**
     * Draws a moment.
     * @param {number} t
     * @param {number} position
     * @param {{selected?: Set<number>, cuts?: [number, number][], line?: number[] | null}} [more]
     */
    draw(t, position, more = {}) {
        const { selected, cuts = [], line = null } = more;
        const { run, places, context } = this;
        if (!run || !places) return;
        context.clearRect(0, 0, this.width, this.height);
        if (places.moves) this.settle(t);
        this.links(places.linksAt(t));
        this.cuts(cuts);
        this.flights(run, t, position);
        const states = run.states(position);
        for (let index = 0; index < states.length; index += 1) {
            this.process(states[index], index, t, selected?.has(states[index].id) ?? false);
        }
        if (line) this.line(line);
    }

    /** @param {[number, number][]} links */
    links(links) {
        const { context } = this;
        const ids = /** @type {Run} */ (this.run).machine.index;
        context.strokeStyle = theme().line;
        context.lineWidth = 1.2;
        context.beginPath();
        for (const [from, to] of links) {
            const [a, b] = [ids.get(from) ?? 0, ids.get(to) ?? 0];
            context.moveTo(this.x[a], this.y[a]);
            context.lineTo(this.x[b], this.y[b]);
        }
        context.stroke();
    }

    /**
     * Cuts, each from a sender to a receiver: a broken line, with a bar before the receiver.
     * @param {[number, number][]} cuts
     */
    cuts(cuts) {
        if (!cuts.length) return;
        const { context } = this;
        const ids = /** @type {Run} */ (this.run).machine.index;
        context.strokeStyle = theme().fault;
        // Of many cuts each is fainter: together they still show the two sides.
        context.globalAlpha = Math.max(0.15, Math.min(0.8, 16 / cuts.length));
        context.lineWidth = 1.4;
        const ends = cuts.map(([from, to]) => {
            const [a, b] = [ids.get(from) ?? 0, ids.get(to) ?? 0];
            return [this.x[a], this.y[a], this.x[b], this.y[b]];
        });
        context.setLineDash([2, 5]);
        context.beginPath();
        for (const [fromX, fromY, toX, toY] of ends) {
            context.moveTo(fromX, fromY);
            context.lineTo(toX, toY);
        }
        context.stroke();
        context.setLineDash([]);
        context.lineWidth = 2;
        context.beginPath();
        for (const [fromX, fromY, toX, toY] of ends) {
            const length = Math.hypot(toX - fromX, toY - fromY) || 1;
            const [alongX, alongY] = [(toX - fromX) / length, (toY - fromY) / length];
            const gap = Math.min(this.radius + 14, length / 3);
            const [x, y] = [toX - alongX * gap, toY - alongY * gap];
            context.moveTo(x - alongY * 5, y + alongX * 5);
            context.lineTo(x + alongY * 5, y - alongX * 5);
        }
        context.stroke();
        context.globalAlpha = 1;
    }

    /**
     * @param {Run} run
     * @param {number} t
     * @param {number} position
     */
    flights(run, t, position) {
        const { context } = this;
        const ids = run.machine.index;
        const size = Math.min(6, Math.max(3, this.radius * 0.28));
        this.drawn.length = 0;
        run.flights.each(t, position, (flight, share, faded) => {
            const [a, b] = [ids.get(flight.from) ?? 0, ids.get(flight.to) ?? 0];
            let [fromX, fromY, toX, toY] = [this.x[a], this.y[a], this.x[b], this.y[b]];
            const length = Math.hypot(toX - fromX, toY - fromY) || 1;
            const [alongX, alongY] = [(toX - fromX) / length, (toY - fromY) / length];
            // From rim to rim, and a little to the right, so that messages that meet pass by.
            const gap = Math.min(this.radius + 2, length / 3);
            const aside = Math.min(4, this.radius / 3);
            fromX += alongX * gap - alongY * aside;
            fromY += alongY * gap + alongX * aside;
            const way = length - 2 * gap;
            const [x, y] = [fromX + alongX * way * share, fromY + alongY * way * share];
            const kind = run.kinds.of(flight.kind);
            const quiet = isQuiet(flight.kind);
            const colour = kindColour(kind, flight.kind);
            context.globalAlpha = (quiet ? 0.45 : 1) * (1 - faded);
            context.strokeStyle = context.fillStyle = colour;
            const tail = Math.min(way * share, 26);
            context.lineWidth = quiet ? 0.8 : 1.4;
            context.beginPath();
            context.moveTo(x - alongX * tail, y - alongY * tail);
            context.lineTo(x, y);
            context.stroke();
            context.beginPath();
            if (flight.lost && share >= LOST_AT) cross(context, x, y, size * (1 + faded));
            else shape(context, kindLook(kind, flight.kind)[1], x, y, quiet ? size * 0.55 : size);
            if (flight.lost && share >= LOST_AT) context.stroke();
            else context.fill();
            this.drawn.push({ flight, x, y });
        });
        context.globalAlpha = 1;
    }

    /**
     * @param {ProcessState} state
     * @param {number} index
     * @param {number} t
     * @param {boolean} selected
     */
    process(state, index, t, selected) {
        const { context, radius } = this;
        const [x, y] = [this.x[index], this.y[index]];
        const colours = theme();
        const leaders = /** @type {Run} */ (this.run).leaders;
        const whom = follows(state, t);
        const leading = leads(state, t);
        const there = state.phase === "up" || state.phase === "paused";
        if (selected) {
            disc(context, x, y, radius + Math.min(13, radius));
            context.fillStyle = colours.grid;
            context.fill();
        }
        disc(context, x, y, radius);
        context.fillStyle = colours.page;
        context.fill();
        context.globalAlpha = state.phase === "paused" ? 0.55 : 1;
        const number = leaders.of(whom[0] ?? 0);
        if (leading) context.fillStyle = solid(leaders.of(state.id));
        else if (there && whom.length) context.fillStyle = soft(number);
        else if (there) {
            context.fillStyle = state.stage === "suppressed" ? colours.suppressed : colours.undecided;
        } else context.fillStyle = colours.page;
        context.fill();
        context.globalAlpha = 1;
        context.lineWidth = leading ? 2.5 : 1.5;
        context.strokeStyle = whom.length ? solid(number) : colours.dim;
        if (!there || state.stage === "aborted") context.setLineDash([3, 4]);
        context.stroke();
        context.setLineDash([]);
        if (there) this.arcs(state, x, y, t, leading);
        if (leading) crown(context, x, y - radius - Math.min(9, radius * 0.6), radius, solid(leaders.of(state.id)));
        this.label(state, x, y, leading);
    }

    /**
     * The lease of a leader and the lock of a supporter: arcs that shrink as they run out.
     * @param {ProcessState} state
     * @param {number} x
     * @param {number} y
     * @param {number} t
     * @param {boolean} leading
     */
    arcs(state, x, y, t, leading) {
        const { context, radius } = this;
        const leaders = /** @type {Run} */ (this.run).leaders;
        if (leading && state.until < Infinity) {
            const left = (state.until - t) / Math.max(1, state.until - state.since);
            arc(context, x, y, radius + Math.min(4.5, radius * 0.3), left, Math.min(3, radius * 0.25), solid(leaders.of(state.id)));
        }
        const hold = state.hold;
        if (hold && hold.until > t) {
            const left = (hold.until - t) / Math.max(1, hold.until - hold.from);
            const colour = hold.to === null ? theme().dim : solid(leaders.of(hold.to));
            arc(context, x, y, radius + Math.min(8.5, radius * 0.55), left, Math.min(1.6, radius * 0.15), colour);
        }
    }

    /**
     * @param {ProcessState} state
     * @param {number} x
     * @param {number} y
     * @param {boolean} leading
     */
    label(state, x, y, leading) {
        const { context, radius } = this;
        const down = state.phase === "down" || state.phase === "absent";
        context.fillStyle = leading ? "#fff" : down ? theme().dim : theme().ink;
        context.font = `600 ${Math.max(8, Math.round(radius * 0.8))}px system-ui, sans-serif`;
        context.textAlign = "center";
        context.textBaseline = "middle";
        context.fillText(String(state.id), x, y + 0.5);
        context.strokeStyle = theme().fault;
        context.lineWidth = 2;
        context.beginPath();
        if (state.phase === "down") cross(context, x + radius * 0.8, y - radius * 0.8, 5);
        if (state.phase === "paused") {
            const [left, top] = [x + radius * 0.62, y - radius];
            context.moveTo(left, top);
            context.lineTo(left, top + 10);
            context.moveTo(left + 5, top);
            context.lineTo(left + 5, top + 10);
        }
        context.stroke();
    }

    /** @param {number[]} line from x, y to x, y: where the group will be split */
    line([fromX, fromY, toX, toY]) {
        const { context } = this;
        context.strokeStyle = theme().fault;
        context.lineWidth = 2;
        context.setLineDash([6, 5]);
        context.beginPath();
        context.moveTo(fromX, fromY);
        context.lineTo(toX, toY);
        context.stroke();
        context.setLineDash([]);
    }

    /**
     * The message that is drawn nearest to a point, within a finger's width.
     * @param {number} x
     * @param {number} y
     */
    messageAt(x, y) {
        let [found, least] = [/** @type {Flight | null} */ (null), 14];
        for (const one of this.drawn) {
            const distance = Math.hypot(one.x - x, one.y - y);
            if (distance < least) [found, least] = [one.flight, distance];
        }
        return found;
    }

    /**
     * Which of these links has a line that passes a point, if one has.
     * @param {number} x
     * @param {number} y
     * @param {[number, number][]} links
     * @returns {[number, number] | null}
     */
    linkAt(x, y, links) {
        const ids = this.run?.machine.index;
        if (!ids) return null;
        let [found, least] = [/** @type {[number, number] | null} */ (null), 8];
        for (const link of links) {
            const [a, b] = [ids.get(link[0]) ?? 0, ids.get(link[1]) ?? 0];
            const [dx, dy] = [this.x[b] - this.x[a], this.y[b] - this.y[a]];
            const whole = dx * dx + dy * dy || 1;
            const along = ((x - this.x[a]) * dx + (y - this.y[a]) * dy) / whole;
            const share = Math.min(1, Math.max(0, along));
            const distance = Math.hypot(this.x[a] + share * dx - x, this.y[a] + share * dy - y);
            if (distance < least) [found, least] = [link, distance];
        }
        return found;
    }

    /**
     * The processes on each side of a line.
     * @param {number[]} line
     * @returns {[number[], number[]]}
     */
    sides([fromX, fromY, toX, toY]) {
        /** @type {[number[], number[]]} */
        const sides = [[], []];
        /** @type {Run} */ (this.run).ids.forEach((id, index) => {
            const [x, y] = [this.x[index] - fromX, this.y[index] - fromY];
            sides[(toX - fromX) * y - (toY - fromY) * x > 0 ? 1 : 0].push(id);
        });
        return sides;
    }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 */
function disc(context, x, y, radius) {
    context.beginPath();
    context.arc(x, y, radius, 0, TURN);
}

/**
 * What is left of something: a full circle at first, nothing at the end.
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 * @param {number} left from 1 to 0
 * @param {number} width
 * @param {string} colour
 */
function arc(context, x, y, radius, left, width, colour) {
    context.beginPath();
    context.arc(x, y, radius, -TURN / 4, -TURN / 4 + TURN * Math.min(1, Math.max(0, left)));
    context.lineWidth = width;
    context.strokeStyle = colour;
    context.stroke();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} size
 */
function cross(context, x, y, size) {
    context.moveTo(x - size, y - size);
    context.lineTo(x + size, y + size);
    context.moveTo(x + size, y - size);
    context.lineTo(x - size, y + size);
}

/**
 * The mark of a leader.
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 * @param {string} colour
 */
function crown(context, x, y, radius, colour) {
    const half = Math.min(11, Math.max(4, radius * 0.6));
    const [low, high] = [y - 1, y - half * 1.1];
    context.beginPath();
    context.moveTo(x - half, low);
    context.lineTo(x - half, high);
    context.lineTo(x - half / 2, (low + high) / 2);
    context.lineTo(x, high - 2);
    context.lineTo(x + half / 2, (low + high) / 2);
    context.lineTo(x + half, high);
    context.lineTo(x + half, low);
    context.closePath();
    context.fillStyle = colour;
    context.fill();
}

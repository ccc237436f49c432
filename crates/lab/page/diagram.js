// The space-time diagram below the stage: a lane for each process, messages between them, faults,
// changes of leader, and the cursor. The still part is drawn once for each view; the cursor moves
// over it.

import { isQuiet, kindColour, soft, solid, theme } from "./palette.js";
import { clock, roundStep } from "./format.js";

/** @typedef {import("./run.js").Run} Run */

/** Room for the numbers of processes on the left, and for the axis below. */
const LEFT = 34;
const BOTTOM = 22;
/** Room for the cursor above the lanes, for the name of a broken invariant, and for how many names. */
const TOP = 16;
const NAME = 14;
const NAMES = 4;
/** More message lines than this are thinned out. */
const LINES = 6000;

/** A mark on the time line: a fault or a broken invariant. */
/** @typedef {{t: number, text: string, bad: boolean}} Mark */

export class Diagram {
    /**
     * @param {HTMLCanvasElement} canvas
     * @param {(t: number) => void} seek called while the reader drags the cursor
     */
    constructor(canvas, seek) {
        this.canvas = canvas;
        this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
        this.still = document.createElement("canvas");
        this.seek = seek;
        /** @type {Run | null} */
        this.run = null;
        /** @type {Mark[]} */
        this.marks = [];
        this.width = this.height = 0;
        this.from = this.to = 0;
        this.zoom = 1;
        /** The height of a lane. */
        this.lane = 20;
        this.scale = 1;
        this.room = 240;
        this.top = TOP;
        this.stale = true;
        this.listen();
    }

    listen() {
        const move = (/** @type {PointerEvent} */ event) => {
            const box = this.canvas.getBoundingClientRect();
            this.seek(this.time(event.clientX - box.left));
        };
        this.canvas.addEventListener("pointerdown", (event) => {
            this.canvas.setPointerCapture(event.pointerId);
            move(event);
        });
        this.canvas.addEventListener("pointermove", (event) => {
            if (this.canvas.hasPointerCapture(event.pointerId)) move(event);
        });
        this.canvas.addEventListener(
            "wheel",
            (event) => {
                if (!event.ctrlKey) return;
                event.preventDefault();
                const box = this.canvas.getBoundingClientRect();
                this.zoomBy(event.deltaY < 0 ? 1.25 : 0.8, this.time(event.clientX - box.left));
            },
            { passive: false },
        );
    }

    /**
     * @param {Run} run
     * @param {Mark[]} marks
     */
    show(run, marks) {
        this.run = run;
        this.marks = marks;
        this.top = TOP + NAME * Math.min(NAMES, this.broken().length);
        this.window((this.from + this.to) / 2);
        this.measure();
    }

    /**
     * The names of broken invariants, by their instants.
     * @returns {[number, string][]}
     */
    broken() {
        const found = new Map();
        for (const { t, text } of this.marks.filter(({ bad }) => bad)) {
            found.set(t, found.has(t) ? `${found.get(t)}, ${text}` : text);
        }
        return [...found];
    }

    /**
     * Shows less time, wider, around a time; or more.
     * @param {number} by
     * @param {number} around
     */
    zoomBy(by, around) {
        this.zoom = Math.min(400, Math.max(1, this.zoom * by));
        this.window(around);
    }

    /**
     * Chooses the time that is shown.
     * @param {number} around
     */
    window(around) {
        if (!this.run) return;
        const { from, to } = this.run;
        const wide = (to - from) / this.zoom;
        this.from = Math.min(Math.max(from, around - wide / 2), to - wide);
        this.to = this.from + wide;
        this.stale = true;
    }

    /** @param {number} [height] how high it may be before its lanes scroll */
    measure(height = this.room) {
        this.room = height;
        const { width } = this.canvas.getBoundingClientRect();
        const lanes = this.run?.lanes.length ?? 1;
        const room = height - this.top - BOTTOM;
        // All lanes in sight if they are at least so high; otherwise the lanes scroll.
        this.lane = Math.min(30, Math.max(7, room / lanes));
        this.width = Math.max(1, width);
        this.height = Math.round(this.lane * lanes + this.top + BOTTOM);
        this.canvas.style.height = `${this.height}px`;
        const scale = Math.min(2, devicePixelRatio || 1);
        for (const canvas of [this.canvas, this.still]) {
            canvas.width = Math.round(this.width * scale);
            canvas.height = Math.round(this.height * scale);
        }
        this.scale = scale;
        this.stale = true;
    }

    /** @param {number} t */
    x(t) {
        return LEFT + ((t - this.from) / (this.to - this.from)) * (this.width - LEFT - 8);
    }

    /** @param {number} x */
    time(x) {
        return this.from + ((x - LEFT) / (this.width - LEFT - 8)) * (this.to - this.from);
    }

    /** @param {number} lane */
    y(lane) {
        return this.top + (lane + 0.5) * this.lane;
    }

    /**
     * @param {number} t the cursor
     * @param {Set<number>} selected
     */
    draw(t, selected) {
        if (!this.run || !this.width) return;
        if (this.zoom > 1 && (t < this.from || t > this.to)) this.window(t);
        if (this.stale) this.drawStill();
        const { context, scale } = this;
        context.setTransform(1, 0, 0, 1, 0, 0);
        context.clearRect(0, 0, this.canvas.width, this.canvas.height);
        context.setTransform(scale, 0, 0, scale, 0, 0);
        context.fillStyle = theme().grid;
        for (const id of selected) {
            const lane = this.run.ids.indexOf(id);
            context.fillRect(0, this.y(lane) - this.lane / 2, this.width, this.lane);
        }
        context.drawImage(this.still, 0, 0, this.width, this.height);
        const x = Math.round(this.x(t)) + 0.5;
        context.strokeStyle = theme().accent;
        context.fillStyle = theme().accent;
        context.lineWidth = 1.5;
        context.beginPath();
        context.moveTo(x, this.top - 6);
        context.lineTo(x, this.height - BOTTOM);
        context.stroke();
        context.beginPath();
        context.moveTo(x - 5, this.top - 12);
        context.lineTo(x + 5, this.top - 12);
        context.lineTo(x, this.top - 4);
        context.fill();
    }

    drawStill() {
        this.stale = false;
        const context = /** @type {CanvasRenderingContext2D} */ (this.still.getContext("2d"));
        context.setTransform(this.scale, 0, 0, this.scale, 0, 0);
        context.clearRect(0, 0, this.width, this.height);
        this.axis(context);
        context.save();
        context.beginPath();
        context.rect(LEFT - 1, 0, this.width - LEFT, this.height);
        context.clip();
        this.bands(context);
        this.lines(context);
        this.signs(context);
        context.restore();
        this.names(context);
    }

    /** @param {CanvasRenderingContext2D} context */
    axis(context) {
        const step = roundStep(this.to - this.from, this.width / 110);
        context.strokeStyle = theme().grid;
        context.fillStyle = theme().dim;
        context.font = "11px system-ui, sans-serif";
        context.textAlign = "center";
        context.textBaseline = "alphabetic";
        context.lineWidth = 1;
        for (let t = Math.ceil(this.from / step) * step; t <= this.to; t += step) {
            const x = Math.round(this.x(t)) + 0.5;
            context.beginPath();
            context.moveTo(x, this.top);
            context.lineTo(x, this.height - BOTTOM);
            context.stroke();
            if (x > LEFT + 14 && x < this.width - 24) {
                context.fillText(label(t, step), x, this.height - 6);
            }
        }
    }

    /** @param {CanvasRenderingContext2D} context */
    bands(context) {
        const run = /** @type {Run} */ (this.run);
        const colours = theme();
        const high = Math.max(3, this.lane * 0.46);
        run.lanes.forEach((lane, index) => {
            const y = this.y(index);
            for (const { from, to, what } of lane.phases) {
                if (what === "up") continue;
                context.strokeStyle = colours.dim;
                context.setLineDash(what === "paused" ? [] : [1.5, 4]);
                context.globalAlpha = what === "absent" ? 0.45 : 1;
                context.beginPath();
                context.moveTo(this.x(from), y);
                context.lineTo(this.x(to), y);
                context.stroke();
                context.setLineDash([]);
                context.globalAlpha = 1;
            }
            for (const { from, to, what } of lane.beliefs) {
                if (to < this.from || from > this.to) continue;
                const number = run.leaders.of(what.leaders[0] ?? 0);
                const decided = what.stage === "decided" && what.leaders.length > 0;
                const leading = decided && what.leaders.includes(lane.id);
                if (leading) context.fillStyle = solid(number);
                else if (decided) context.fillStyle = soft(number);
                else if (what.stage === "undecided") context.fillStyle = colours.undecided;
                else context.fillStyle = colours.suppressed;
                const x = this.x(from);
                context.fillRect(x, y - high / 2, Math.max(0.6, this.x(to) - x), high);
            }
            if (this.lane < 12) return;
            for (const { from, to, what } of lane.holds) {
                context.fillStyle = what === null ? colours.dim : solid(run.leaders.of(what));
                const x = this.x(from);
                context.fillRect(x, y + high / 2 + 1.5, Math.max(0.6, this.x(to) - x), 2.2);
            }
        });
        this.hatch(context);
    }

    /**
     * Hatches the time in which processes are paused.
     * @param {CanvasRenderingContext2D} context
     */
    hatch(context) {
        const run = /** @type {Run} */ (this.run);
        const high = Math.max(3, this.lane * 0.46);
        context.strokeStyle = theme().page;
        context.lineWidth = 1.5;
        run.lanes.forEach((lane, index) => {
            const y = this.y(index);
            for (const { from, to, what } of lane.phases) {
                if (what !== "paused") continue;
                context.save();
                context.beginPath();
                context.rect(this.x(from), y - high / 2, this.x(to) - this.x(from), high);
                context.clip();
                context.beginPath();
                for (let x = this.x(from) - high; x < this.x(to); x += 5) {
                    context.moveTo(x, y + high / 2);
                    context.lineTo(x + high, y - high / 2);
                }
                context.stroke();
                context.restore();
            }
        });
        context.lineWidth = 1;
    }

    /** @param {CanvasRenderingContext2D} context */
    lines(context) {
        const run = /** @type {Run} */ (this.run);
        const index = run.machine.index;
        const shown = run.flights.all.filter(
            (flight) => flight.arrives >= this.from && flight.sent <= this.to,
        );
        const stride = Math.ceil(shown.length / LINES);
        const faint = Math.min(0.75, Math.max(0.14, 260 / Math.max(1, shown.length / stride)));
        for (let at = 0; at < shown.length; at += stride) {
            const flight = shown[at];
            const [from, to] = [index.get(flight.from) ?? 0, index.get(flight.to) ?? 0];
            const kind = run.kinds.of(flight.kind);
            context.strokeStyle = kindColour(kind, flight.kind);
            context.globalAlpha = isQuiet(flight.kind) ? faint * 0.4 : faint;
            context.beginPath();
            const [x, y] = [this.x(flight.sent), this.y(from)];
            context.moveTo(x, y);
            if (flight.lost) {
                // A stub towards the receiver, which it does not reach.
                context.setLineDash([2, 3]);
                const end = Math.max(flight.arrives, flight.sent + run.flights.usual * 0.45);
                context.lineTo(this.x(end), y + (this.y(to) - y) * 0.45);
                context.stroke();
                context.setLineDash([]);
            } else {
                context.lineTo(this.x(flight.arrives), this.y(to));
                context.stroke();
            }
        }
        context.globalAlpha = 1;
    }

    /**
     * Crashes, restarts and commands at their processes; faults and violations at the top.
     * @param {CanvasRenderingContext2D} context
     */
    signs(context) {
        const run = /** @type {Run} */ (this.run);
        const size = Math.min(5, this.lane * 0.3);
        context.lineWidth = 2;
        context.strokeStyle = theme().fault;
        for (const record of run.records) {
            const [x, y] = [this.x(record.t), this.y(run.machine.index.get(record.node) ?? 0)];
            context.beginPath();
            if (record.kind === "crash") {
                context.moveTo(x - size, y - size);
                context.lineTo(x + size, y + size);
                context.moveTo(x + size, y - size);
                context.lineTo(x - size, y + size);
            } else if (record.kind === "restart") {
                context.moveTo(x - size, y + size);
                context.lineTo(x, y - size);
                context.lineTo(x + size, y + size);
            } else if (record.kind === "command" || record.kind === "leave") {
                context.moveTo(x, y - size * 1.4);
                context.lineTo(x, y + size * 1.4);
            } else continue;
            context.stroke();
        }
        context.lineWidth = 1.5;
        context.font = "600 11px system-ui, sans-serif";
        context.textAlign = "left";
        for (const mark of this.marks) {
            const x = this.x(mark.t);
            context.strokeStyle = context.fillStyle = mark.bad ? theme().bad : theme().fault;
            context.setLineDash(mark.bad ? [] : [2, 3]);
            context.beginPath();
            context.moveTo(x, mark.bad ? NAME * 0.3 : this.top - 2);
            context.lineTo(x, this.height - BOTTOM);
            context.stroke();
        }
        context.setLineDash([]);
        context.fillStyle = theme().bad;
        // The names stand above the cursor, in a line for each instant.
        this.broken().forEach(([t, names], index) => {
            const x = this.x(t);
            const wide = context.measureText(names).width;
            const left = x + 4 + wide < this.width ? x + 4 : Math.max(LEFT, x - 4 - wide);
            context.fillText(names, left, NAME * (1 + (index % NAMES)) - 4);
        });
    }

    /** @param {CanvasRenderingContext2D} context */
    names(context) {
        const run = /** @type {Run} */ (this.run);
        context.fillStyle = theme().dim;
        context.textAlign = "right";
        context.textBaseline = "middle";
        context.font = `${Math.min(12, Math.max(8, this.lane - 1))}px system-ui, sans-serif`;
        const stride = Math.ceil(9 / this.lane);
        run.ids.forEach((id, index) => {
            if (index % stride === 0) context.fillText(String(id), LEFT - 10, this.y(index));
        });
    }
}

/**
 * A time at the axis.
 * @param {number} t
 * @param {number} step
 */
function label(t, step) {
    if (step >= 1e9) return `${Math.round(t / 1e9)} s`;
    if (step >= 1e8) return `${(t / 1e9).toFixed(1)} s`;
    if (step >= 1e6) return `${Math.round(t / 1e6)} ms`;
    return clock(t, 1e8);
}

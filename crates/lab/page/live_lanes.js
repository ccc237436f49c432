// Lanes of running members that grow in real time: who led, whom the others followed, who was not
// there, over the last minute.

import { h } from "./dom.js";
import { FirstSeen, soft, solid, theme } from "./palette.js";

/** @typedef {{from: number, to: number, what: string, leader: number | null}} Stretch */

/** How much of the past is shown, and kept, in milliseconds. */
const SHOWN = 60_000;
/** A member that has not been reported for this long is not there. */
const GONE = 1_500;
const LANE = 26;
const LEFT = 92;
const BOTTOM = 20;

/**
 * Each member once, by the name of its lane. One that is asked in two ways is taken as it answers; a
 * member elsewhere is known by its address until it says who it is.
 * @param {{[key: string]: any}[]} members
 */
function once(members) {
    /** @type {Map<string, {[key: string]: any}>} */
    const found = new Map();
    for (const member of members) {
        const { key: place, name, id, status, error } = member;
        const key = name ? `${name}/${id}` : place.replace("http://", "");
        if (!found.has(key) || (status && !error)) found.set(key, member);
    }
    return found;
}

export class LiveLanes {
    constructor() {
        this.canvas = h("canvas", { class: "live-canvas", role: "img",
            "aria-label": "Who led over the last minute" });
        this.context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
        /** @type {Map<string, Stretch[]>} */
        this.lanes = new Map();
        /** @type {FirstSeen<number>} */
        this.leaders = new FirstSeen();
        this.offset = 0;
        this.running = false;
        this.width = 0;
        this.reduced = matchMedia("(prefers-reduced-motion: reduce)");
        this.frame = this.frame.bind(this);
        new ResizeObserver(() => this.measure()).observe(this.canvas);
    }

    start() {
        if (this.running) return;
        this.running = true;
        requestAnimationFrame(this.frame);
    }

    stop() {
        this.running = false;
    }

    /**
     * Takes the state of all members at one moment.
     * @param {{[key: string]: any}} line
     */
    see(line) {
        const t = line.t_ms;
        // The clock of the server may not be that of the reader.
        this.offset = t - performance.now();
        for (const [key, { status, error }] of once(line.members)) {
            const what = status && !error ? status.role : "gone";
            const leader = what === "gone" ? null : (status.leaders?.[0] ?? null);
            if (leader !== null) this.leaders.see(leader);
            const lane = this.lanes.get(key) ?? [];
            if (!this.lanes.has(key)) {
                this.lanes.set(key, lane);
                this.measure();
            }
            const last = lane.at(-1);
            if (last && last.what === what && last.leader === leader && t - last.to < GONE) last.to = t;
            else lane.push({ from: last && t - last.to < GONE ? last.to : t, to: t, what, leader });
            while (lane.length && lane[0].to < t - SHOWN) lane.shift();
        }
        for (const [key, lane] of this.lanes) {
            const last = lane.at(-1);
            if (last && last.to >= t - SHOWN) continue;
            this.lanes.delete(key);
            this.measure();
        }
        if (this.reduced.matches) this.draw();
    }

    measure() {
        const height = Math.max(1, this.lanes.size) * LANE + BOTTOM;
        this.canvas.style.height = `${height}px`;
        const { width } = this.canvas.getBoundingClientRect();
        const scale = Math.min(2, devicePixelRatio || 1);
        if (width === this.width && this.canvas.height === Math.round(height * scale)) return;
        this.width = width;
        this.canvas.width = Math.max(1, Math.round(width * scale));
        this.canvas.height = Math.round(height * scale);
        this.context.setTransform(scale, 0, 0, scale, 0, 0);
        this.draw();
    }

    frame() {
        if (!this.running) return;
        if (!this.reduced.matches) this.draw();
        requestAnimationFrame(this.frame);
    }

    draw() {
        const { context } = this;
        const colours = theme();
        const now = performance.now() + this.offset;
        const height = Math.max(1, this.lanes.size) * LANE;
        context.clearRect(0, 0, this.width, height + BOTTOM);
        const x = (/** @type {number} */ t) =>
            LEFT + Math.max(0, 1 - (now - t) / SHOWN) * (this.width - LEFT - 8);
        context.font = "12px system-ui, sans-serif";
        context.textBaseline = "middle";
        let index = 0;
        for (const [key, lane] of [...this.lanes].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }))) {
            const y = index * LANE + LANE / 2;
            context.fillStyle = colours.dim;
            context.textAlign = "right";
            context.fillText(key, LEFT - 12, y, LEFT - 14);
            for (const { from, to, what, leader } of lane) {
                if (what === "gone" || what === "looking" || what === "withdrawn") {
                    context.fillStyle = what === "gone" ? colours.grid : colours.undecided;
                } else {
                    const number = this.leaders.of(leader ?? 0);
                    context.fillStyle = what === "leader" ? solid(number) : soft(number);
                }
                const left = x(from);
                context.fillRect(left, y - 7, Math.max(1, x(to) - left), 14);
            }
            index += 1;
        }
        context.fillStyle = colours.dim;
        context.textAlign = "center";
        for (let ago = 0; ago <= SHOWN; ago += 10_000) {
            const at = x(now - ago);
            context.fillText(ago ? `−${ago / 1000} s` : "now", Math.min(at, this.width - 16), height + 10);
        }
    }
}

// The cursor of a run: a time, and how many records have been applied by then. Several events can
// have one time, so stepping moves the position and takes the time from it.

import { last } from "./find.js";

/** @typedef {import("./run.js").Run} Run */

/** Speeds, as multiples of one in which a message takes about a second. */
export const SPEEDS = [0.125, 0.25, 0.5, 1, 2, 4, 8, 16];
/** A run lasts no longer than this at normal speed, in seconds. */
const LONGEST = 45;
/** How long a message takes at normal speed, in seconds. */
const FLIGHT = 0.9;
/** With reduced motion the cursor jumps, so often a second. */
const JUMPS = 3;

export class Player {
    /** @param {() => void} moved called after every change of the cursor or of the state of play */
    constructor(moved) {
        this.moved = moved;
        /** @type {Run | null} */
        this.run = null;
        this.t = 0;
        this.position = 0;
        this.playing = false;
        this.speed = 3;
        /** Nanoseconds of the run in a second at normal speed. */
        this.rate = 1e9;
        /** @type {number | null} A time at which playing stops, such as the next caption. */
        this.stopAt = null;
        this.reduced = matchMedia("(prefers-reduced-motion: reduce)");
        this.before = 0;
        this.jumped = 0;
        this.frame = this.frame.bind(this);
    }

    /**
     * Shows another run; the cursor stays at its time if the run is as long.
     * @param {Run} run
     * @param {number} delay how long a message takes
     * @param {number} [at]
     */
    show(run, delay, at = this.t) {
        this.run = run;
        this.rate = Math.max(delay / FLIGHT, (run.to - run.from) / LONGEST);
        this.seek(at);
    }

    /** @param {number} t */
    seek(t) {
        if (!this.run) return;
        this.t = Math.min(Math.max(t, this.run.from), this.run.to);
        this.position = this.run.positionAt(this.t);
        this.moved();
    }

    /**
     * One event forwards or backwards.
     * @param {1 | -1} way
     */
    step(way) {
        if (!this.run) return;
        this.pause();
        this.position = this.run.step(this.position, way);
        // The time of the last record that has happened.
        this.t = this.run.records[this.position - 1]?.t ?? this.run.from;
        this.moved();
    }

    /**
     * To the next or the last change of leader.
     * @param {1 | -1} way
     */
    change(way) {
        if (!this.run) return;
        this.pause();
        const changes = this.run.changes;
        const next = changes.find(({ t }) => t > this.t)?.t ?? this.run.to;
        const before = last(changes, ({ t }) => t < this.t)?.t ?? this.run.from;
        this.seek(way > 0 ? next : before);
    }

    /** @param {number | null} [stopAt] */
    play(stopAt = null) {
        if (!this.run || this.playing) return;
        if (this.t >= this.run.to) this.seek(this.run.from);
        this.playing = true;
        this.stopAt = stopAt;
        this.before = performance.now();
        this.jumped = 0;
        requestAnimationFrame(this.frame);
        this.moved();
    }

    pause() {
        if (!this.playing) return;
        this.playing = false;
        this.moved();
    }

    toggle() {
        if (this.playing) this.pause();
        else this.play();
    }

    /** @param {number} by */
    faster(by) {
        this.speed = Math.min(Math.max(0, this.speed + by), SPEEDS.length - 1);
        this.moved();
    }

    /** @param {number} now */
    frame(now) {
        if (!this.playing || !this.run) return;
        let passed = Math.min(250, Math.max(0, now - this.before));
        this.before = now;
        if (this.reduced.matches) {
            this.jumped += passed;
            passed = this.jumped >= 1000 / JUMPS ? this.jumped : 0;
            if (passed) this.jumped = 0;
        }
        if (passed) {
            const end = Math.min(this.stopAt ?? Infinity, this.run.to);
            const t = this.t + (passed / 1000) * this.rate * SPEEDS[this.speed];
            if (t >= end) this.playing = false;
            this.seek(Math.min(t, Math.max(end, this.t)));
        }
        if (this.playing) requestAnimationFrame(this.frame);
    }
}

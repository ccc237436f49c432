// The captions of a lesson: a line of text for each part of the run, which step along with it, and
// in the end the outcome.

import { fill, h } from "./dom.js";
import { lastIndex } from "./find.js";

/** @typedef {import("./player.js").Player} Player */
/** @typedef {{at: number, text: string}} Caption */

export class Captions {
    /**
     * @param {HTMLElement} element
     * @param {Player} player
     */
    constructor(element, player) {
        this.element = element;
        this.player = player;
        /** @type {Caption[]} */
        this.captions = [];
        this.outcome = "";
        this.as = /** @type {boolean | null} */ (null);
        this.shown = -2;
    }

    /**
     * @param {Caption[]} captions
     * @param {string} outcome what the lesson ends in
     * @param {boolean | null} as whether it did end so
     */
    show(captions, outcome, as) {
        this.captions = captions;
        this.outcome = outcome;
        this.as = as;
        this.shown = -2;
        this.element.hidden = !captions.length;
    }

    /** The caption at the cursor; the number of captions for the outcome, at the end. */
    get index() {
        const { t, run } = this.player;
        if (run && t >= run.to && this.outcome) return this.captions.length;
        return lastIndex(this.captions, ({ at }) => at <= t);
    }

    draw() {
        if (this.element.hidden || this.index === this.shown) return;
        const index = (this.shown = this.index);
        const all = this.captions.length + (this.outcome ? 1 : 0);
        const ended = index === this.captions.length;
        const text = ended ? this.outcome : (this.captions[index]?.text ?? "");
        const mark = !ended || this.as === null ? "" : this.as ? "✓ " : "✗ ";
        const step = (/** @type {1 | -1} */ way, /** @type {string} */ label,
            /** @type {string} */ name) =>
            h("button", {
                type: "button",
                "data-caption": name,
                title: `${label} caption (${way > 0 ? "." : ","})`,
                "aria-label": `${label} caption`,
                disabled: way > 0 ? index >= all - 1 : index <= 0,
                onclick: () => this.step(way),
            }, way > 0 ? "Next" : "Back");
        const focused = document.activeElement?.getAttribute("data-caption");
        fill(
            this.element,
            h("p", { class: ended ? "caption outcome" : "caption", "aria-live": "polite" }, mark + text),
            h("div", { class: "row" },
                h("span", { class: "dim" }, `${Math.max(0, index) + 1} of ${all}`),
                h("span", { class: "grow" }),
                step(-1, "Previous", "back"), step(1, "Next", "next")),
        );
        if (focused) {
            /** @type {HTMLElement | null} */ (
                this.element.querySelector(`[data-caption="${focused}"]`)
            )?.focus();
        }
    }

    /**
     * Plays to the next caption; a second time while it plays goes there at once. Backwards it goes
     * there at once.
     * @param {1 | -1} way
     */
    step(way) {
        const { player } = this;
        if (!this.captions.length || !player.run) return;
        const index = this.index;
        if (way < 0) {
            player.pause();
            player.seek(this.captions[Math.max(0, index - 1)].at);
            return;
        }
        const next = this.captions[index + 1]?.at ?? player.run.to;
        if (player.playing || next <= player.t) {
            player.pause();
            player.seek(next);
        } else player.play(next);
    }
}

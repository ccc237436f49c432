// The controls of the cursor: play, step, jump, speed, and the time line.

import { fill, h, svg } from "./dom.js";
import { clock } from "./format.js";
import { SPEEDS } from "./player.js";

/** @typedef {import("./player.js").Player} Player */

/** Paths of the icons, in a square of 16. */
const ICONS = {
    play: "M4 2.5v11l9.5-5.5z",
    pause: "M4 2.5h3v11H4zM9.5 2.5h3v11h-3z",
    back: "M11 3v10L5 8zM3.5 3H5v10H3.5z",
    forward: "M5 3v10l6-5zM11 3h1.5v10H11z",
    last: "M8 3v10L2.5 8zM14 3v10L8.500 8z",
    next: "M8 3v10l5.500-5zM2 3v10l5.500-5z",
};

/** @param {keyof typeof ICONS} name */
export const icon = (name) =>
    svg("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" },
        svg("path", { d: ICONS[name], fill: "currentColor" }));

export class Transport {
    /**
     * @param {HTMLElement} element
     * @param {Player} player
     * @param {(by: number) => void} zoom of the diagram
     */
    constructor(element, player, zoom) {
        this.player = player;
        const button = (/** @type {keyof typeof ICONS} */ name, /** @type {string} */ label,
            /** @type {() => void} */ act) =>
            h("button", { class: "icon", type: "button", title: label, "aria-label": label,
                "data-do": name, onclick: act }, icon(name));
        this.play = button("play", "Play (Space)", () => player.toggle());
        this.play.classList.add("main");
        this.speed = h("button", {
            class: "quiet speed",
            type: "button",
            title: "Speed (+ and −)",
            onclick: () => player.faster(player.speed === SPEEDS.length - 1 ? -SPEEDS.length : 1),
        });
        this.line = h("input", {
            type: "range", min: 0, max: 10000, value: 0, class: "scrub", "aria-label": "Time",
        });
        this.line.addEventListener("input", () => {
            const run = player.run;
            if (!run) return;
            player.pause();
            player.seek(run.from + (Number(this.line.value) / 10000) * (run.to - run.from));
        });
        this.time = h("output", { class: "clock" });
        fill(
            element,
            button("last", "Last change of leader (Shift ←)", () => player.change(-1)),
            button("back", "One event back (←)", () => player.step(-1)),
            this.play,
            button("forward", "One event forwards (→)", () => player.step(1)),
            button("next", "Next change of leader (Shift →)", () => player.change(1)),
            this.line,
            this.time,
            this.speed,
            h("span", { class: "zooms" },
                h("button", { class: "quiet", type: "button", title: "Show more time", "aria-label":
                    "Show more time", onclick: () => zoom(0.5) }, "−"),
                h("button", { class: "quiet", type: "button", title: "Show less time, wider",
                    "aria-label": "Show less time, wider", onclick: () => zoom(2) }, "+")),
        );
    }

    draw() {
        const { player } = this;
        const run = player.run;
        if (!run) return;
        const label = player.playing ? "Pause (Space)" : "Play (Space)";
        if (this.play.title !== label) {
            this.play.title = label;
            this.play.setAttribute("aria-label", label);
            fill(this.play, icon(player.playing ? "pause" : "play"));
        }
        const share = (player.t - run.from) / (run.to - run.from);
        this.line.value = String(Math.round(share * 10000));
        this.line.setAttribute("aria-valuetext", clock(player.t, run.to));
        this.time.textContent = clock(player.t, run.to);
        const speed = SPEEDS[player.speed];
        this.speed.textContent = speed < 1 ? `1/${1 / speed}×` : `${speed}×`;
    }
}

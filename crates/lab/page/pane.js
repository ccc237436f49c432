// One group on the stage: the canvas, and over it a button for every process, so that processes can
// be pointed at, focused and selected without the canvas. A drag across the canvas splits the group.

import { fill, h } from "./dom.js";
import { Scene } from "./scene.js";
import { cutsAt } from "./load.js";
import { leaderWords, stateWords } from "./words.js";
import { span } from "./format.js";

/** @typedef {import("./load.js").Loaded} Loaded */

/** A drag shorter than this is a click. */
const DRAG = 40;

/**
 * What a pane tells the stage.
 * @typedef {{
 *   select: (id: number, more: boolean) => void,
 *   link: (ends: [number, number] | null) => void,
 *   split: (sides: [number[], number[]]) => void,
 *   point: (id: number | null) => void,
 * }} Wishes
 */

export class Pane {
    /** @param {Wishes} wishes */
    constructor(wishes) {
        this.wishes = wishes;
        this.canvas = h("canvas", { class: "group-canvas", "aria-hidden": "true" });
        this.people = h("div", { class: "people", role: "group", "aria-label": "Processes" });
        this.name = "";
        this.leader = h("span", { class: "dim" });
        this.title = h("p", { class: "pane-title", hidden: true });
        this.tip = h("div", { class: "tip", role: "tooltip", hidden: true });
        this.element = h("div", { class: "pane" }, this.title,
            h("div", { class: "pane-box" }, this.canvas, this.people, this.tip));
        this.scene = new Scene(this.canvas);
        /** @type {Loaded | null} */
        this.loaded = null;
        /** @type {HTMLButtonElement[]} */
        this.buttons = [];
        /** @type {number[] | null} */
        this.line = null;
        this.t = 0;
        this.position = 0;
        /** @type {Set<number>} */
        this.selected = new Set();
        this.listen();
    }

    /**
     * @param {Loaded} loaded
     * @param {string} [title]
     */
    show(loaded, title = "") {
        const same = this.loaded && String(this.loaded.run.ids) === String(loaded.run.ids);
        this.loaded = loaded;
        this.name = title;
        this.title.hidden = !title;
        fill(this.title, h("b", {}, title), " ", this.leader);
        if (!same) {
            this.buttons = loaded.run.ids.map((id, index) =>
                h("button", {
                    class: "person",
                    type: "button",
                    "data-node": id,
                    tabindex: index ? -1 : 0,
                    onclick: (/** @type {MouseEvent} */ event) =>
                        this.wishes.select(id, event.shiftKey),
                    onfocus: () => this.wishes.point(id),
                    onmouseenter: () => this.wishes.point(id),
                    onmouseleave: () => this.wishes.point(null),
                }),
            );
            this.people.replaceChildren(...this.buttons);
        }
        this.scene.show(loaded.run, loaded.places);
        this.place();
    }

    measure() {
        this.scene.measure();
        this.place();
    }

    /** Puts the buttons where the processes are. */
    place() {
        const size = Math.max(24, this.scene.radius * 2 + 6);
        this.buttons.forEach((button, index) => {
            const [x, y] = [this.scene.x[index] - size / 2, this.scene.y[index] - size / 2];
            button.style.cssText =
                `width:${size}px;height:${size}px;transform:translate(${x}px,${y}px)`;
        });
    }

    /**
     * @param {number} t
     * @param {number} position
     * @param {Set<number>} selected
     * @param {boolean} still whether the cursor stands still: then the labels are brought up to date
     */
    draw(t, position, selected, still) {
        if (!this.loaded) return;
        Object.assign(this, { t, position, selected });
        const cuts = cutsAt(this.loaded, t);
        this.told(t, position);
        this.scene.draw(t, position, { selected, cuts, line: this.line });
        if (this.loaded.places.moves) this.place();
        if (!still) return;
        this.loaded.run.states(position).forEach((state, index) => {
            const button = this.buttons[index];
            button.setAttribute("aria-label", `Process ${state.id} ${stateWords(state, t)}`);
            button.setAttribute("aria-pressed", String(selected.has(state.id)));
        });
    }

    /**
     * Beside another group, who leads stands above each of them.
     * @param {number} t
     * @param {number} position
     */
    told(t, position) {
        if (!this.name || !this.loaded) return;
        const words = leaderWords(this.loaded.run.leadersAt(position, t));
        if (this.leader.textContent !== words) this.leader.textContent = words;
    }

    /**
     * The link near a point: one of the network, or one that is cut.
     * @param {number} x
     * @param {number} y
     */
    link(x, y) {
        if (!this.loaded) return null;
        const links = [...this.loaded.places.linksAt(this.t), ...cutsAt(this.loaded, this.t)];
        return this.scene.linkAt(x, y, links);
    }

    redraw() {
        this.draw(this.t, this.position, this.selected, false);
    }

    listen() {
        const people = this.people;
        /** @type {[number, number] | null} */
        let began = null;
        const at = (/** @type {PointerEvent} */ event) => {
            const box = people.getBoundingClientRect();
            return /** @type {[number, number]} */ ([
                event.clientX - box.left,
                event.clientY - box.top,
            ]);
        };
        people.addEventListener("pointerdown", (event) => {
            if (event.target !== people || event.button !== 0) return;
            began = at(event);
            people.setPointerCapture(event.pointerId);
        });
        people.addEventListener("pointermove", (event) => {
            const [x, y] = at(event);
            this.hover(x, y);
            if (!began) return;
            const far = Math.hypot(x - began[0], y - began[1]) >= DRAG;
            this.line = far ? [...began, x, y] : null;
            this.redraw();
        });
        people.addEventListener("pointerup", (event) => {
            if (!began) return;
            const line = this.line;
            [began, this.line] = [null, null];
            this.redraw();
            if (line) this.wishes.split(this.scene.sides(line));
            else this.wishes.link(this.link(...at(event)));
        });
        people.addEventListener("pointercancel", () => {
            [began, this.line] = [null, null];
            this.redraw();
        });
        people.addEventListener("pointerleave", () => (this.tip.hidden = true));
        people.addEventListener("keydown", (event) => this.walk(event));
    }

    /**
     * The arrow keys up and down go from process to process; one of them takes the tabulator.
     * @param {KeyboardEvent} event
     */
    walk(event) {
        const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        const now = this.buttons.indexOf(/** @type {HTMLButtonElement} */ (event.target));
        if (!way || now < 0) return;
        event.preventDefault();
        const next = (now + way + this.buttons.length) % this.buttons.length;
        this.buttons[now].tabIndex = -1;
        this.buttons[next].tabIndex = 0;
        this.buttons[next].focus();
    }

    /**
     * Shows what the message near the pointer carries.
     * @param {number} x
     * @param {number} y
     */
    hover(x, y) {
        const flight = this.loaded && this.scene.messageAt(x, y);
        this.tip.hidden = !flight;
        if (!flight || !this.loaded) return;
        const key = `${flight.from} ${flight.number} ${flight.sent}`;
        const fate = flight.lost ? `lost (${flight.lost})` : `takes ${span(flight.arrives - flight.sent)}`;
        this.tip.replaceChildren(
            h("b", {}, `${flight.kind} from ${flight.from} to ${flight.to}`),
            h("span", {}, this.loaded.carries.get(key) ?? ""),
            h("small", {}, `number ${flight.number}, ${fate}`),
        );
        const left = Math.min(x + 14, this.scene.width - 250);
        this.tip.style.transform = `translate(${Math.max(4, left)}px,${y + 14}px)`;
    }
}

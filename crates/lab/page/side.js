// The column on the left of the stage: the form for a run, or the list of lessons.

import { chooser, fill, h } from "./dom.js";
import { Form } from "./form.js";
import { listLessons, markLesson } from "./lessons.js";

/** @typedef {import("./address.js").Wanted} Wanted */

/**
 * What the column tells the stage.
 * @typedef {{
 *   protocol: (name: string) => void, flags: (values: {[name: string]: any}) => void,
 *   reseed: () => void, edit: () => void, refuse: (error: unknown) => void,
 * }} Wishes
 */

export class Side {
    /**
     * @param {any} table what the server has: protocols with their flags
     * @param {Wishes} wishes
     */
    constructor(table, wishes) {
        this.table = table;
        this.choice = h("select", { id: "protocol" },
            ...table.protocols.map((/** @type {any} */ one) => h("option", { value: one.name }, one.name)));
        this.choice.addEventListener("change", () => wishes.protocol(this.choice.value));
        this.about = h("p", { class: "dim about" });
        const fields = h("div", { id: "flags" });
        this.form = new Form(fields, () => wishes.flags({ ...this.form.values }));
        this.wrong = h("p", { class: "wrong", role: "alert", hidden: true });
        this.edit = h("button", { type: "button", id: "edit-text", onclick: () => wishes.edit(),
            title: "What is shown as a scenario file, with all that can be changed in it" }, "Edit as text…");
        const panel = (/** @type {string} */ name) =>
            ({ id: `side-${name}`, role: "tabpanel", "aria-labelledby": `tab-${name}` });
        this.run = h("div", { class: "run-side", ...panel("run") },
            h("label", { for: "protocol" }, "Protocol"), this.choice, this.about, this.wrong, fields,
            h("div", { class: "row" },
                h("button", { type: "button", id: "dice", title: "The same with other random draws",
                    onclick: () => wishes.reseed() }, "Another seed"),
                h("button", { type: "button", class: "quiet", title: "All values as they were at first",
                    onclick: () => wishes.protocol(this.choice.value) }, "Reset")),
            h("div", { class: "row wrap" },
                ...chooser("stage-file", "Open a file",
                    "A scenario file (.toml), with captions if it has some, or what live members recorded"),
                this.edit));
        this.lessons = h("div", { class: "lesson-side", hidden: true, ...panel("lessons") });
        const tab = (/** @type {string} */ name, /** @type {string} */ label) =>
            h("button", { type: "button", role: "tab", "data-side": name, id: `tab-${name}`,
                "aria-controls": `side-${name}`, onclick: () => this.turn(name) }, label);
        this.tabs = h("div", { class: "segments", role: "tablist", "aria-label": "What to play" },
            tab("run", "Run"), tab("lessons", "Lessons"));
        this.tabs.addEventListener("keydown", (event) => this.step(event));
        this.element = h("aside", { class: "side", "aria-label": "What to play" },
            this.tabs, this.run, this.lessons);
        /** @type {string | undefined} */
        this.lesson = undefined;
        listLessons(this.lessons).then(() => markLesson(this.lessons, this.lesson), wishes.refuse);
    }

    /** @param {string} name `run` or `lessons` */
    turn(name) {
        for (const button of this.tabs.querySelectorAll("button")) {
            const here = button.dataset.side === name;
            button.setAttribute("aria-selected", String(here));
            // The tabulator goes to the chosen one, and the arrows from one to the other.
            button.tabIndex = here ? 0 : -1;
        }
        this.run.hidden = name !== "run";
        this.lessons.hidden = name !== "lessons";
    }

    /**
     * Turns to another tab with the keyboard, as tabs do everywhere.
     * @param {KeyboardEvent} event
     */
    step(event) {
        const all = [...this.tabs.querySelectorAll("button")];
        const now = all.findIndex((button) => button === document.activeElement);
        const ways = /** @type {{[key: string]: number}} */ ({ ArrowLeft: now - 1, ArrowRight: now + 1,
            Home: 0, End: all.length - 1 });
        const next = all[(ways[event.key] + all.length) % all.length];
        if (now < 0 || !next) return;
        event.preventDefault();
        event.stopPropagation(); // they are keys of the player, too
        this.turn(next.dataset.side ?? "run");
        next.focus();
    }

    /**
     * The row of a protocol; of the first one if there is none of this name.
     * @param {string | undefined} name
     */
    protocol(name) {
        const { protocols } = this.table;
        return protocols.find((/** @type {any} */ one) => one.name === name) ?? protocols[0];
    }

    /**
     * Shows what is wanted.
     * @param {Wanted} wanted
     */
    show(wanted) {
        const scenario = wanted.lesson ?? wanted.toml ?? wanted.scenario;
        if (!scenario) {
            const protocol = this.protocol(wanted.protocol);
            this.choice.value = protocol.name;
            fill(this.about, `${protocol.summary}. `, h("b", {}, `Promise: ${protocol.promise}.`));
            this.form.show(protocol.stage, wanted.flags ?? {});
            this.edit.hidden = false;
        }
        this.lesson = wanted.lesson;
        this.turn(wanted.lesson ? "lessons" : "run");
        markLesson(this.lessons, wanted.lesson);
    }

    /**
     * Says what is shown that did not come from the form: a lesson, a file, a recorded trace.
     * @param {{[key: string]: any}} head
     */
    tell(head) {
        this.choice.value = this.protocol(head.protocol).name;
        fill(this.about, head.about || "A scenario file.", " ", h("b", {}, `Promise: ${head.promise}.`));
        // A form has the flags of a command; this has more, or other things.
        this.form.show([], {});
        this.edit.hidden = Boolean(head.recorded);
    }

    /**
     * Says what is wrong, next to the flag that it names if there is one.
     * @param {string | null} text
     */
    refuse(text) {
        const named = this.form.wrong(text);
        this.wrong.hidden = text === null || named;
        this.wrong.textContent = text;
    }
}

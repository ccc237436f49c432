// Judge: tries to break what a protocol promises, with random faults. A violation opens on the stage,
// shrunk to the few faults that it needs.

import { addressOf } from "./address.js";
import { stream } from "./api.js";
import { copy, fill, h, reveal } from "./dom.js";
import { count, trim } from "./format.js";
import { Form } from "./form.js";

/** @typedef {{[key: string]: any}} Line */

export class Judge {
    /**
     * @param {HTMLElement} element
     * @param {any} table
     */
    constructor(element, table) {
        this.table = table;
        this.asking = new AbortController();
        this.choice = h("select", { id: "judge-protocol" },
            ...table.protocols.map((/** @type {Line} */ one) => h("option", { value: one.name }, one.name)));
        this.choice.addEventListener("change", () => this.fillForm({}));
        this.about = h("p", { class: "dim about" });
        this.promise = h("select", { id: "judge-promise" },
            h("option", { value: "" }, "its own"),
            ...table.promises.map((/** @type {Line} */ { name, text }) =>
                h("option", { value: name }, text)));
        this.budget = h("input", { type: "number", id: "judge-schedules", min: 1, value: 2000 });
        const fields = h("div", { id: "judge-flags" });
        this.form = new Form(fields, () => {});
        this.wrong = h("p", { class: "wrong", role: "alert", hidden: true });
        this.start = h("button", { type: "button", class: "main", id: "judge-start",
            onclick: () => this.check() }, "Try to break it");
        this.stop = h("button", { type: "button", id: "judge-stop", hidden: true,
            onclick: () => this.asking.abort() }, "Stop");
        this.sheet = h("div", { class: "center flow" },
            h("p", { class: "dim" }, "The judge runs the protocol with random faults, and looks at every step whether " +
                "what it promises holds. What it finds is shrunk, and can be played."));
        fill(element,
            h("aside", { class: "side", "aria-label": "What to judge" },
                h("label", { for: "judge-protocol" }, "Protocol"), this.choice, this.about,
                h("label", { for: "judge-promise" }, "Promise"), this.promise,
                h("label", { for: "judge-schedules" }, "Schedules of faults"), this.budget,
                this.wrong, h("div", { class: "row" }, this.start, this.stop), fields),
            this.sheet);
        this.fillForm({});
    }

    open() {}

    close() {
        this.asking.abort();
    }

    /** @param {{[name: string]: any}} values */
    fillForm(values) {
        const { protocols } = this.table;
        const row = protocols.find((/** @type {Line} */ one) => one.name === this.choice.value);
        fill(this.about, `${row.summary}. `, h("b", {}, `Promise: ${row.promise}.`));
        this.form.show(row.check, values);
    }

    async check() {
        this.asking.abort();
        const { signal } = (this.asking = new AbortController());
        this.wrong.hidden = true;
        this.form.wrong(null);
        const bar = h("progress", { max: 1, value: 0, "aria-label": "Schedules tried" });
        const state = h("p", { class: "state", role: "status" }, "beginning…");
        const faults = h("div", { class: "bars" });
        const found = h("div", { id: "judge-found" });
        let told = "";
        fill(this.sheet, h("h2", {}, this.choice.value), bar, state, found, faults);
        this.running(true);
        reveal(this.sheet);
        const body = { protocol: this.choice.value, flags: this.form.values,
            schedules: Number(this.budget.value), promise: this.promise.value || null };
        try {
            await stream("check", { body, signal }, (line) => {
                if (line.schedules !== undefined) told = this.progress(line, bar, state, faults);
                if (line.lab === "shrinking") state.textContent = `${told}; ${line.invariant} is broken: shrinking…`;
                if (line.lab === "violation") {
                    state.textContent = told;
                    this.violation(line, found);
                }
                if (line.lab === "held") {
                    found.className = "notice good";
                    found.textContent = `It holds, in ${count(line.schedules, "schedule")}.`;
                }
            });
        } catch (error) {
            if (signal.aborted) state.textContent += " (stopped)";
            else {
                const text = error instanceof Error ? error.message : String(error);
                this.form.wrong(text);
                this.wrong.textContent = text;
                this.wrong.hidden = false;
                fill(this.sheet, h("p", { class: "wrong" }, text));
            }
        } finally {
            if (this.asking.signal === signal) this.running(false);
        }
    }

    /** @param {boolean} on */
    running(on) {
        this.start.disabled = on;
        this.stop.hidden = !on;
        if (on) document.body.dataset.busy = "judge";
        else delete document.body.dataset.busy;
    }

    /**
     * @param {Line} line
     * @param {HTMLProgressElement} bar
     * @param {HTMLElement} state
     * @param {HTMLElement} faults
     */
    progress(line, bar, state, faults) {
        bar.value = line.of ? line.schedules / line.of : 0;
        state.textContent = `${count(line.schedules, "schedule")} of ${(line.of ?? 0).toLocaleString("en")}, ` +
            `${Number(trim(line.per_second ?? 0, 3)).toLocaleString("en")} a second`;
        const told = state.textContent;
        const rows = Object.entries(line.faults ?? {}).sort(([, a], [, b]) => b - a);
        const most = rows[0]?.[1] || 1;
        fill(faults, ...rows.map(([name, number]) =>
            h("div", { class: "bar-row" }, h("span", {}, name),
                h("meter", { min: 0, max: most, value: number, "aria-label": name }),
                h("span", { class: "dim" }, number.toLocaleString("en")))));
        return told;
    }

    /**
     * @param {Line} line
     * @param {HTMLElement} found
     */
    violation(line, found) {
        const command = h("button", { type: "button",
            onclick: () => copy(line.command ?? "", command) }, "Copy the command");
        const at = `${(line.at / 1e9).toFixed(9)}s`;
        found.className = "notice bad";
        fill(found,
            h("p", {}, h("b", {}, `${line.invariant} is broken`), `: ${line.text}`),
            h("p", { class: "dim" },
                `Schedule ${line.schedule}; shrunk from ${count(line.before, "fault")} to ${line.after}.`),
            h("div", { class: "row wrap" },
                h("a", { class: "button main", id: "judge-open",
                    href: `${addressOf(line.what)}&at=${at}` }, "Open on the stage"),
                command));
    }
}

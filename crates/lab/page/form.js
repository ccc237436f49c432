// A form made from the descriptions of flags that the server sends: the same that make the flags of
// the command line. Only what differs from the default is asked for.

import { h, fill } from "./dom.js";

/**
 * A flag, as the server describes it.
 * @typedef {{
 *   name: string, heading: string, help: string,
 *   kind: "length" | "count" | "number" | "switch" | "choice" | "text",
 *   default: string | null, choices: {name: string, help?: string}[], multiple: boolean,
 *   unit: string, range: string,
 *   only_with: {flag: string, values: string[]} | null, parameter: boolean,
 *   usually: string | null, first: number | null, usual?: [number | null, number],
 * }} Flag
 * `usually` is the choice that the default is as a rule, where it is another one elsewhere. `first` is
 * the place among the flags that one changes first, which stand above the others. `usual` is what a
 * parameter is in a simulation that nothing is said about (null if that is never), and what a slider
 * has in its middle.
 */

/** What the server leaves out of a flag. */
const NOTHING = { default: null, choices: [], multiple: false, unit: "", range: "", only_with: null,
    parameter: false, usually: null, first: null };

/**
 * The table of protocols, each with its flags in place of their numbers.
 * @param {any} table
 */
export function unfold(table) {
    for (const protocol of table.protocols) {
        for (const command of ["stage", "measure", "check"]) {
            protocol[command] = protocol[command].map((/** @type {number} */ number) => {
                const flag = { ...NOTHING, ...table.flags[number] };
                return flag.parameter ? { ...flag, usual: protocol.usual[flag.name] } : flag;
            });
        }
    }
    return table;
}

/** Behind all flags that have a place. */
const BEHIND = 1000;

/**
 * The place of a flag among those that one changes first; behind them if it is none of them.
 * @param {Flag} flag
 */
export const place = ({ first }) => first ?? BEHIND;

export class Form {
    /**
     * @param {HTMLElement} element
     * @param {() => void} changed called a moment after the last change
     */
    constructor(element, changed) {
        this.element = element;
        this.changed = changed;
        /** @type {Flag[]} */
        this.flags = [];
        /** @type {{[name: string]: any}} */
        this.values = {};
        /** @type {Map<string, {row: HTMLElement, control: any, error: HTMLElement}>} */
        this.rows = new Map();
        this.pending = 0;
        /** What flags are that nothing is said about, as far as that is known. */
        this.resolved = /** @type {{[name: string]: any}} */ ({});
        // What a mouse sees when it rests on a field, for those who have none.
        this.help = h("p", { class: "form-help", "aria-hidden": "true", hidden: true });
    }

    /**
     * Shows these flags, with these values.
     * @param {Flag[]} flags
     * @param {{[name: string]: any}} values
     */
    show(flags, values) {
        this.flags = flags;
        this.values = { ...values };
        this.resolved = {};
        this.help.hidden = true;
        this.rows.clear();
        const first = flags.filter((flag) => flag.first !== null)
            .sort((a, b) => place(a) - place(b));
        const rest = flags.filter((flag) => flag.first === null);
        /** @type {Map<string, Flag[]>} */
        const groups = new Map();
        for (const flag of rest) groups.set(flag.heading, [...(groups.get(flag.heading) ?? []), flag]);
        const open = (/** @type {Flag[]} */ group) =>
            group.some((flag) => values[flag.name] !== undefined);
        fill(
            this.element,
            h("div", { class: "fields" }, ...first.map((flag) => this.row(flag))),
            ...[...groups].map(([heading, group]) =>
                h(
                    "details",
                    { class: "fold", open: open(group) },
                    h("summary", {}, heading),
                    h("div", { class: "fields" }, ...group.map((flag) => this.row(flag))),
                ),
            ),
            this.help,
        );
        this.hideUseless();
    }

    /** @param {Flag} flag */
    row(flag) {
        const id = `${this.element.id}-${flag.name}`;
        const control = this.control(flag, id);
        const help = helpOf(flag);
        const error = h("p", { class: "wrong", id: `${id}-error`, role: "alert", hidden: true });
        const name = flag.name.replaceAll("-", " ");
        const row =
            flag.kind === "switch"
                ? h("div", { class: "field check", title: help }, control,
                    h("label", { for: id }, name), error)
                : h("div", { class: "field", title: help },
                    h("label", { for: id }, name), control, error);
        control.setAttribute("aria-description", help);
        control.addEventListener("focus", () => {
            this.help.textContent = `${name}: ${help}`;
            this.help.hidden = false;
        });
        this.rows.set(flag.name, { row, control, error });
        return row;
    }

    /**
     * @param {Flag} flag
     * @param {string} id
     * @returns {HTMLElement}
     */
    control(flag, id) {
        const value = this.values[flag.name];
        const set = (/** @type {any} */ next) => this.set(flag.name, next);
        if (flag.kind === "switch") {
            const usual = flag.default === "true";
            const box = h("input", { type: "checkbox", id, checked: value ?? usual });
            box.addEventListener("change", () => set(box.checked === usual ? undefined : box.checked));
            return box;
        }
        if (flag.kind === "choice" && !flag.multiple) {
            const none = flag.usually ? `${flag.usually} (default)` : (flag.default ?? "—");
            const select = h(
                "select",
                { id },
                h("option", { value: "", title: flag.default ?? "" }, none),
                // One that the default is only as a rule can also be asked for.
                ...flag.choices
                    .filter(({ name }) => name !== flag.default)
                    .map(({ name, help }) => h("option", { value: name, title: help }, name)),
            );
            select.value = value && value !== flag.default ? value : "";
            select.addEventListener("change", () => set(select.value || undefined));
            return select;
        }
        const whole = flag.name === "nodes" || flag.name === "seed";
        const field = h("input", {
            id,
            type: whole ? "number" : "text",
            min: flag.name === "nodes" ? 2 : null,
            inputmode: flag.kind === "count" || flag.kind === "number" ? "decimal" : null,
            placeholder: flag.default ?? "",
            value: Array.isArray(value) ? value.join(", ") : (value ?? ""),
            spellcheck: "false",
            autocomplete: "off",
        });
        field.addEventListener("input", () => {
            const text = field.value.trim();
            const many = flag.multiple && text.includes(",");
            set(many ? text.split(",").map((one) => one.trim()) : text || undefined);
        });
        return field;
    }

    /**
     * @param {string} name
     * @param {any} value undefined for the default
     */
    set(name, value) {
        if (value === undefined) delete this.values[name];
        else this.values[name] = value;
        this.hideUseless();
        clearTimeout(this.pending);
        this.pending = setTimeout(() => this.changed(), 300);
    }

    /**
     * Writes a value into its field.
     * @param {string} name
     * @param {string} value
     */
    write(name, value) {
        const row = this.rows.get(name);
        if (row) row.control.value = value;
        this.values[name] = value;
    }

    /** Hides flags that have no effect because of the value of another. */
    hideUseless() {
        for (const flag of this.flags) {
            const row = this.rows.get(flag.name)?.row;
            if (row) row.hidden = !this.isUseful(flag);
        }
    }

    /**
     * Whether a flag has an effect beside the values of the others.
     * @param {Flag} flag
     */
    isUseful({ only_with: only }) {
        if (!only) return true;
        const other = this.flags.find(({ name }) => name === only.flag);
        const usual = this.resolved[only.flag] ?? other?.usually ?? other?.default;
        return only.values.includes(String(this.values[only.flag] ?? usual ?? ""));
    }

    /**
     * Says what is wrong next to the flag that the message names. Returns whether there is one.
     * @param {string | null} message
     */
    wrong(message) {
        let named = null;
        for (const [name, { error, control, row }] of this.rows) {
            const mine =
                message !== null && named === null && new RegExp(`--${name}(?![a-z-])`).test(message);
            error.hidden = !mine;
            error.textContent = mine ? message : "";
            control.toggleAttribute("aria-invalid", mine);
            if (!mine) continue;
            named = name;
            const fold = row.closest("details");
            if (fold) fold.open = true;
        }
        return named !== null;
    }
}

/**
 * What a flag is for, with its unit and its rule.
 * @param {Flag} flag
 */
export function helpOf({ help, unit, range }) {
    const more = [unit, range].filter(Boolean).join("; ");
    return more ? `${help} (${more})` : help;
}

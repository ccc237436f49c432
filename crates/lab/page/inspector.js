// The column beside the stage: what the selected processes believe, what can be done to them at the
// cursor's time, which faults there are, and what happens around the cursor.

import { fill, h } from "./dom.js";
import { clock } from "./format.js";
import { cutsAt } from "./load.js";
import { isQuiet, kindColour, kindLook, shape, solid, soft, theme } from "./palette.js";
import { factRows, faultWords, recordWords, stateWords } from "./words.js";

/** @typedef {import("./load.js").Loaded} Loaded */
/** @typedef {import("./types.js").ProcessState} ProcessState */
/**
 * The processes whose details are shown: in which run, at which of its positions, and whether faults
 * can be added to it.
 * @typedef {{
 *   loaded: Loaded, name: string, position: number, ids: number[], selected: boolean, ours: boolean,
 * }} Shown
 */
/** @typedef {(fault: {what: string, [key: string]: any}[]) => void} Strike */

/** Milliseconds between two drawings while it plays. */
const REST = 120;

/** Events shown before and after the cursor. */
const AROUND = 5;

/**
 * A fault that can be done to one process: its name on the button, when it is possible, and what it
 * is in the scenario.
 * @type {{label: string, help: string, can: (state: ProcessState) => boolean,
 *   what: string, more?: {[key: string]: any}, ask?: {key: string, text: string, usual: string}}[]}
 */
const ACTIONS = [
    { label: "Crash", help: "It stops without notice.", can: up, what: "crash" },
    { label: "Restart", help: "It starts again with what it stored.", can: down, what: "restart" },
    {
        label: "Restart without memory",
        help: "It starts again and has lost what it stored.",
        can: down,
        what: "restart",
        more: { disk: "lost" },
    },
    { label: "Pause", help: "It is suspended; messages to it wait.", can: up, what: "pause" },
    { label: "Go on", help: "It continues, and handles what waited.", can: paused, what: "resume" },
    { label: "Resign", help: "It is asked to stop leading.", can: up, what: "resign" },
    { label: "Call an election", help: "It is asked to campaign.", can: up, what: "campaign" },
    {
        label: "Slow…",
        help: "From now on it reacts late.",
        can: up,
        what: "slow",
        ask: { key: "by", text: "It reacts late, by at most (0s ends it):", usual: "100ms" },
    },
    {
        label: "Drift…",
        help: "From now on its clock runs fast, or slow.",
        can: up,
        what: "drift",
        ask: {
            key: "parts-per-billion",
            text: "Its clock runs fast by so many parts per 10⁹ (negative: slow):",
            usual: "50000000",
        },
    },
];

/** @param {ProcessState} state */
function up(state) {
    return state.phase === "up";
}
/** @param {ProcessState} state */
function down(state) {
    return state.phase === "down";
}
/** @param {ProcessState} state */
function paused(state) {
    return state.phase === "paused";
}

/**
 * A line of a list: when, what, and a button that removes it.
 * @param {string} at
 * @param {string} text
 * @param {() => void} remove
 */
const row = (at, text, remove) =>
    h("li", {}, h("span", { class: "at" }, at), h("span", {}, text),
        h("button", { class: "quiet", type: "button", title: "Remove this", "aria-label": `Remove: ${text}`,
            onclick: remove }, "×"));

export class Inspector {
    /**
     * @param {HTMLElement} element
     * @param {{strike: Strike, seek: (position: number) => void, remove: (index: number) => void,
     *   writing: import("./writing.js").Writing,
     *   ask: (text: string, usual: string) => Promise<string | null>}} stage
     */
    constructor(element, stage) {
        this.stage = stage;
        this.card = h("section", { class: "card who", "aria-label": "Selection" });
        this.faults = h("section", { class: "card faults", "aria-label": "Faults" });
        this.captions = h("section", { class: "card captioning", "aria-label": "Captions" });
        this.events = h("ol", { class: "events" });
        this.legend = h("section", { class: "card legend", "aria-label": "Legend" });
        fill(
            element,
            this.card,
            this.faults,
            this.captions,
            h("section", { class: "card", "aria-label": "Events" }, h("h3", {}, "Events"), this.events),
            this.legend,
        );
        this.shown = "";
        this.drawn = 0;
    }

    /**
     * @param {Loaded} loaded
     * @param {number} t
     * @param {number} position
     * @param {Shown} shown
     * @param {boolean} playing
     */
    draw(loaded, t, position, shown, playing) {
        // While it plays nobody can read faster than this.
        const now = performance.now();
        if (playing && now - this.drawn < REST) return;
        this.drawn = now;
        const { ids, selected, ours } = shown;
        const key = `${loaded.run.digest} ${t} ${position} ${ids} ${selected} ${ours}`;
        if (key === this.shown) return;
        this.shown = key;
        this.who(shown, t);
        this.happens(loaded, position);
    }

    /**
     * @param {Shown} shown
     * @param {number} t
     */
    who({ loaded, name, position, ids, selected, ours }, t) {
        const states = loaded.run.states(position).filter((state) => ids.includes(state.id));
        if (!states.length) {
            const hint = loaded.head.recorded
                ? "Point at a process to see what it believes."
                : "Point at a process to see what it believes. Select it to break it; select two, with Shift " +
                  "or “Select several”, for the link between them; drag a line through the group to split it.";
            fill(this.card, h("h3", {}, "Break it"), h("p", { class: "dim" }, hint));
            return;
        }
        const [state] = states;
        const head =
            states.length > 1
                ? [h("h3", {}, `Processes ${ids.join(", ")}`)]
                : [
                      h("h3", {}, `Process ${state.id}`),
                      name ? h("p", { class: "dim" }, name) : null,
                      h("p", { class: "belief" }, stateWords(state, t)),
                      h("dl", { class: "facts" },
                          ...factRows(state, t).flatMap(([name, value]) => [
                              h("dt", {}, name),
                              h("dd", {}, value),
                          ])),
                  ];
        const deeds = !selected || loaded.head.recorded ? []
            : ours ? this.deeds(loaded, states, t)
                : [h("p", { class: "dim" }, "Only the first group can be broken.")];
        // While it plays the card is drawn often; a focused button must stay.
        const focused = document.activeElement?.getAttribute("data-deed");
        fill(this.card, ...head, ...deeds);
        if (focused) {
            /** @type {HTMLElement | null} */ (
                this.card.querySelector(`[data-deed="${CSS.escape(focused)}"]`)
            )?.focus();
        }
    }

    /**
     * The buttons for the selection.
     * @param {Loaded} loaded
     * @param {ProcessState[]} states
     * @param {number} t
     */
    deeds(loaded, states, t) {
        const at = h("p", { class: "dim" }, `At ${clock(t, loaded.run.to)}:`);
        const ids = states.map(({ id }) => id);
        const others = loaded.run.ids.filter((id) => !ids.includes(id));
        const button = (/** @type {string} */ label, /** @type {string} */ help,
            /** @type {() => void} */ act) =>
            h("button", { type: "button", title: help, "data-deed": label, onclick: act }, label);
        const each = ACTIONS.filter(({ can }) => states.some(can)).map((action) =>
            button(action.label, action.help, () => this.act(action, states)),
        );
        const cut = (/** @type {number[]} */ from, /** @type {number[]} */ to) => ({
            what: "cut", from, to,
        });
        const cuts = cutsAt(loaded, t);
        /** @type {HTMLElement[]} */
        const links = [];
        if (ids.length === 2) {
            const [a, b] = ids;
            links.push(...this.linkDeeds(a, b, cuts, button));
            if (loaded.places.layout === "graph" || loaded.places.layout === "plane") {
                const joined = loaded.places.linksAt(t).some((link) => ids.every((id) => link.includes(id)));
                links.push(
                    button(joined ? "Remove the link" : "Add a link", "Both ends are told.", () =>
                        this.stage.strike([{ what: "link", ends: [a, b], up: !joined }])),
                );
            }
        }
        if (others.length) {
            links.push(
                button("Split off", "Cuts the selection off from all others, both ways.", () =>
                    this.stage.strike([cut(ids, others), cut(others, ids)])),
            );
        }
        if (cuts.length) {
            links.push(button("Heal all cuts", "All cuts end.", () => this.stage.strike([{ what: "heal" }])));
        }
        return [at, h("div", { class: "deeds" }, ...each), h("div", { class: "deeds" }, ...links)];
    }

    /**
     * The buttons for one link: to cut it both ways or one way, and to heal what is cut of it.
     * @param {number} a
     * @param {number} b
     * @param {[number, number][]} cuts
     * @param {(label: string, help: string, act: () => void) => HTMLElement} button
     */
    linkDeeds(a, b, cuts, button) {
        const ways = [[a, b], [b, a]];
        const gone = ways.filter(([from, to]) => cuts.some(([x, y]) => x === from && y === to));
        const there = ways.filter((way) => !gone.includes(way));
        const deed = (/** @type {string} */ what, /** @type {number[][]} */ which) => () =>
            this.stage.strike(which.map(([from, to]) => ({ what, from: [from], to: [to] })));
        const found = [];
        if (there.length === 2) {
            found.push(button(`Cut ${a} – ${b}`, "Nothing passes between them.", deed("cut", ways)));
        }
        if (gone.length === 2) {
            found.push(button(`Heal ${a} – ${b}`, "Messages pass between them again.", deed("heal", ways)));
        }
        found.push(...there.map((way) =>
            button(`Cut ${way.join(" → ")}`, "Nothing passes one way.", deed("cut", [way]))));
        found.push(...gone.map((way) =>
            button(`Heal ${way.join(" → ")}`, "Messages pass this way again.", deed("heal", [way]))));
        return found;
    }

    /**
     * @param {typeof ACTIONS[number]} action
     * @param {ProcessState[]} states
     */
    async act(action, states) {
        const more = { ...action.more };
        if (action.ask) {
            const answer = await this.stage.ask(action.ask.text, action.ask.usual);
            if (!answer) return;
            more[action.ask.key] = /^-?\d+$/.test(answer) ? Number(answer) : answer;
        }
        const able = states.filter(action.can);
        this.stage.strike(able.map(({ id }) => ({ what: action.what, node: id, ...more })));
    }

    /**
     * The list of faults that were added, each with a button that removes it.
     * @param {import("./address.js").Fault[]} faults
     * @param {HTMLElement[]} buttons undo and redo
     */
    listFaults(faults, buttons) {
        const rows = faults.map((fault, index) =>
            row(fault.at, faultWords(fault), () => this.stage.remove(index)));
        // A button that is put elsewhere loses the focus.
        const focused = buttons.find((button) => button === document.activeElement);
        fill(
            this.faults,
            h("div", { class: "row" }, h("h3", {}, "Faults"), h("span", { class: "grow" }), ...buttons),
            rows.length
                ? h("ul", { class: "fault-list" }, ...rows)
                : h("p", { class: "dim" }, "None of yours."),
        );
        focused?.focus({ preventScroll: true });
    }

    /**
     * What a reader is told, each with a button that removes it, and the ways to say more.
     * @param {import("./address.js").Caption[]} captions
     * @param {string | undefined} outcome
     */
    listCaptions(captions, outcome) {
        const { writing } = this.stage;
        const rows = captions.map(({ at, text }, index) =>
            row(at, text, () => writing.silence(index)));
        if (outcome) rows.push(row("end", outcome, () => writing.silence(captions.length)));
        const button = (/** @type {string} */ id, /** @type {string} */ label, /** @type {() => void} */ onclick) =>
            h("button", { type: "button", class: "quiet", id, onclick }, label);
        const deeds = [button("caption-here", "Caption here…", () => writing.caption()),
            button("conclude", "Outcome…", () => writing.conclude()),
            button("edit-here", "Edit as text…", () => writing.edit())];
        fill(this.captions, h("h3", {}, "Captions"),
            ...(rows.length ? [h("ul", { class: "word-list" }, ...rows)] : []),
            h("div", { class: "deeds" }, ...deeds));
    }

    /**
     * @param {Loaded} loaded
     * @param {number} position
     */
    happens(loaded, position) {
        const { run } = loaded;
        const low = Math.min(run.stepAt(position), run.steps.length - 1);
        const rows = [];
        for (let at = low - AROUND; at < low + AROUND; at += 1) {
            const [begin, end] = [run.steps[at], run.steps[at + 1]];
            if (begin === undefined || end === undefined) continue;
            const words = [];
            for (let index = begin; index < end; index += 1) {
                const record = run.records[index];
                if (record.kind !== "fact" && record.kind !== "store") words.push(recordWords(record));
            }
            const now = end === position;
            const record = run.records[begin];
            rows.push(
                h("li", { class: end > position ? "later" : now ? "now" : null, "aria-current": now },
                    h("button", { type: "button", tabindex: -1, onclick: () => this.stage.seek(end) },
                        h("span", { class: "at" }, clock(record.t, run.to)),
                        h("b", {}, String(record.node)),
                        h("span", {}, shorten(words),
                            now ? carries(carried(loaded, begin, end)) : null))),
            );
        }
        fill(this.events, ...rows);
    }

    /**
     * @param {Loaded} loaded
     */
    explain(loaded) {
        const { run } = loaded;
        const sample = (/** @type {(context: CanvasRenderingContext2D) => void} */ paint) => {
            const canvas = h("canvas", { width: 32, height: 32, class: "sample", "aria-hidden": "true" });
            const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
            context.scale(2, 2);
            paint(context);
            return canvas;
        };
        const kinds = [...run.kinds.numbers].map(([kind, index]) =>
            h("li", {}, sample((context) => {
                context.fillStyle = kindColour(index, kind);
                context.beginPath();
                shape(context, kindLook(index, kind)[1], 8, 8, isQuiet(kind) ? 2.6 : 5);
                context.fill();
            }), kind),
        );
        const disc = (/** @type {string} */ fillStyle, /** @type {string} */ edge) =>
            sample((context) => {
                context.fillStyle = fillStyle;
                context.strokeStyle = edge;
                context.beginPath();
                context.arc(8, 8, 6, 0, 7);
                context.fill();
                context.stroke();
            });
        const states = [
            h("li", {}, disc(solid(0), solid(0)), "leads"),
            h("li", {}, disc(soft(0), solid(0)), "follows it"),
            h("li", {}, disc(theme().undecided, theme().dim), "undecided"),
        ];
        const arcs = loaded.head.leases
            ? [
                  h("li", {}, sample((context) => ring(context, 6, 3)), "lease, running out"),
                  h("li", {}, sample((context) => ring(context, 6, 1.5)), "lock, running out"),
              ]
            : [];
        fill(this.legend, h("h3", {}, "Legend"),
            h("ul", { class: "legend-list" }, ...states, ...arcs, ...kinds));
    }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} radius
 * @param {number} width
 */
function ring(context, radius, width) {
    context.strokeStyle = solid(0);
    context.lineWidth = width;
    context.beginPath();
    context.arc(8, 8, radius, -1.57, 3);
    context.stroke();
}

/**
 * What the messages of an event carry: the one that came, or those that it sends.
 * @param {Loaded} loaded
 * @param {number} begin
 * @param {number} end
 */
function carried({ run, carries }, begin, end) {
    const texts = run.records.slice(begin, end).map(({ kind, node, from, number, sent, t }) =>
        kind === "send" ? carries.get(`${node} ${number} ${t}`)
            : kind === "recv" || kind === "drop" ? carries.get(`${from} ${number} ${sent}`) : "");
    return [...new Set(texts.filter(Boolean))].slice(0, 2).join("; ");
}

/**
 * What messages carry, in a few lines; all of it where it is pointed at.
 * @param {string} text
 */
const carries = (text) => h("small", { class: "carries", title: text }, text);

/**
 * The first few effects of an event, in one line.
 * @param {string[]} words
 */
function shorten(words) {
    const shown = words.slice(0, 3).join("; ");
    return words.length > 3 ? `${shown}; …` : shown;
}


// The stage: one run, played. It keeps what is wanted (protocol, flags, faults), asks the server for
// the run after every change, and lets all parts draw the cursor.

import { readAddress, readWanted, writeWanted } from "./address.js";
import { askFor } from "./dialog.js";
import { by, fill, h, isNarrow, reveal } from "./dom.js";
import { Captions } from "./captions.js";
import { Diagram } from "./diagram.js";
import { clock, exact } from "./format.js";
import { Inspector } from "./inspector.js";
import { lesson } from "./lessons.js";
import { extend, load } from "./load.js";
import { Pane } from "./pane.js";
import { Player } from "./player.js";
import { shareMenu } from "./share.js";
import { Side } from "./side.js";
import { Transport } from "./transport.js";
import { faultWords, leaderWords } from "./words.js";
import { Writing } from "./writing.js";

/** @typedef {import("./address.js").Wanted} Wanted */
/** @typedef {import("./address.js").Fault} Fault */
/** @typedef {import("./load.js").Loaded} Loaded */

export class Stage {
    /**
     * @param {HTMLElement} element
     * @param {any} table what the server has: protocols with their flags
     */
    constructor(element, table) {
        /** @type {Wanted} */
        this.wanted = { faults: [] };
        /** @type {Fault[][]} */
        this.undone = [];
        /** @type {Fault[][]} */
        this.done = [];
        /** @type {Loaded | null} */
        this.loaded = null;
        /** @type {Set<number>} */
        this.selected = new Set();
        /** The pane that the selected processes are in: two lessons side by side have two groups. */
        this.chosen = 0;
        /** @type {{pane: number, id: number} | null} */
        this.pointed = null;
        this.asking = new AbortController();
        this.told = "";
        /** The address of what is shown. */
        this.opened = "";
        /** @type {any} The lesson that is shown, if it is one. */
        this.lesson = null;
        this.player = new Player(() => this.draw());
        this.writing = new Writing(this);
        this.side = new Side(table, this.sideWishes());
        this.panes = [new Pane(this.paneWishes(0))];
        this.headline = h("p", { class: "headline" });
        this.notice = h("p", { class: "notice", hidden: true, role: "status" });
        this.differs = h("p", { class: "notice bad", id: "differs", hidden: true, role: "status" },
            "This is another run than the one that was shared: the address is that of a run with " +
            "other records. Defaults or rules may differ there; a saved scenario has all parameters.");
        this.paneBox = h("div", { class: "panes" }, this.panes[0].element);
        const captions = h("div", { class: "captions", hidden: true });
        const transport = h("div", { class: "transport", role: "toolbar", "aria-label": "Playing" });
        const canvas = h("canvas", { class: "lanes-canvas", "aria-hidden": "true" });
        const share = shareMenu(() => ({ loaded: this.loaded, what: this.what() }),
            (error) => this.refuse(error));
        /** Whether each click or tap adds to the selection: a phone has no key to hold. */
        this.several = h("button", { type: "button", class: "quiet", id: "several", "aria-pressed": "false",
            title: "Each click adds to the selection, as with Shift", onclick: () => {
                this.several.setAttribute("aria-pressed", String(!this.selectsMore));
            } }, "Select several");
        this.center = h("div", { class: "center" },
            h("div", { class: "top row" }, this.headline, h("span", { class: "grow" }), this.several, share),
            this.notice, this.differs, this.paneBox, captions, transport,
            h("div", { class: "lanes", tabindex: -1 }, canvas));
        const inspect = h("aside", { class: "inspect", "aria-label": "Details" });
        fill(element, this.side.element, this.center, inspect);
        this.diagram = new Diagram(canvas, (t) => {
            this.player.pause();
            this.player.seek(t);
        });
        this.transport = new Transport(transport, this.player, (by) => {
            this.diagram.zoomBy(by, this.player.t);
            this.draw();
        });
        this.captions = new Captions(captions, this.player);
        this.inspector = new Inspector(inspect, {
            strike: (faults) => this.strike(faults),
            seek: (position) => this.goto(position),
            remove: (index) => this.attempt(this.wanted.faults.filter((_, at) => at !== index)),
            writing: this.writing,
            ask: askFor,
        });
        const deed = (/** @type {string} */ id, /** @type {string} */ title, /** @type {string} */ label,
            /** @type {() => void} */ onclick) =>
            h("button", { type: "button", class: "quiet", id, title, onclick }, label);
        this.undoButton = deed("undo", "Undo (Ctrl Z)", "Undo", () => this.undo());
        this.redoButton = deed("redo", "Redo (Ctrl Shift Z)", "Redo", () => this.redo());
        const sizes = new ResizeObserver(() => this.measure());
        // The room for the group also changes with what is shown around it.
        for (const box of [this.center, this.paneBox]) sizes.observe(box);
    }

    /** What happens when the reader changes something in the column on the left. */
    sideWishes() {
        return {
            protocol: (/** @type {string} */ protocol) => {
                this.wanted = { protocol, flags: {}, faults: [] };
                this.complete();
                this.forgetHistory();
                this.side.show(this.wanted);
                this.navigate(0);
            },
            flags: (/** @type {{[name: string]: any}} */ flags) => {
                // Typing into the form leaves a lesson for a run of one's own.
                const { lesson: name, toml, scenario } = this.wanted;
                const own = !name && !toml && !scenario;
                const protocol = this.side.choice.value;
                const { faults, captions, outcome } = this.wanted;
                this.wanted = { protocol, flags, ...(own ? { faults, captions, outcome } : { faults: [] }) };
                this.navigate();
            },
            reseed: () => this.reseed(),
            edit: () => this.writing.edit(),
            refuse: (/** @type {unknown} */ error) => this.refuse(error),
        };
    }

    /**
     * What happens when the reader points at, selects or cuts something in a pane. Faults are those
     * of the first one's run: the run beside it is a lesson as it is.
     * @param {number} pane
     */
    paneWishes(pane) {
        return {
            select: (/** @type {number} */ id, /** @type {boolean} */ more) =>
                this.select(pane, id, more),
            link: (/** @type {[number, number] | null} */ ends) => {
                this.chosen = pane;
                this.selected = new Set(ends ?? []);
                this.draw();
            },
            split: (/** @type {[number[], number[]]} */ [a, b]) => {
                if (pane || !a.length || !b.length) return;
                this.strike([{ what: "cut", from: a, to: b }, { what: "cut", from: b, to: a }]);
            },
            point: (/** @type {number | null} */ id) => {
                this.pointed = id === null ? null : { pane, id };
                this.draw();
            },
        };
    }

    /** Another seed: the next one, so that "another" and back is predictable. */
    reseed() {
        const { lesson: name, toml, scenario, flags } = this.wanted;
        const file = name ?? toml ?? scenario;
        const now = (file ? this.wanted.seed : flags?.seed) ?? this.loaded?.head.seed ?? 1;
        const seed = String(BigInt(now) + 1n);
        if (file) this.wanted = { ...this.wanted, seed };
        else {
            this.side.form.write("seed", seed);
            this.wanted = { ...this.wanted, flags: { ...flags, seed } };
        }
        this.navigate();
    }

    forgetHistory() {
        this.done = [];
        this.undone = [];
        this.choose(0);
    }

    /**
     * Begins a selection in a pane.
     * @param {number} pane
     */
    choose(pane) {
        this.chosen = pane;
        this.selected = new Set();
    }

    /**
     * Writes what is wanted into the address, and shows it.
     * @param {number} [at]
     */
    navigate(at) {
        this.wanted.at = this.wanted.digest = undefined;
        this.complete();
        this.opened = writeWanted(this.wanted);
        if (this.opened !== location.hash) history.pushState(null, "", this.opened);
        this.load(at);
    }

    /**
     * Shows what an address says.
     * @param {string} hash
     */
    open(hash) {
        if (hash === this.opened && this.loaded) return;
        this.wanted = readWanted(readAddress(hash).query);
        const { at } = this.wanted;
        this.complete();
        this.opened = writeWanted(this.wanted);
        history.replaceState(null, "", this.opened);
        this.forgetHistory();
        this.side.show(this.wanted);
        this.player.pause();
        reveal(this.center);
        return this.load(at ? Math.round(Number.parseFloat(at) * 1e9) : 0);
    }

    /**
     * Says which protocol, how many processes and which seed, if that is left open: these are the
     * page's own choices. Other parameters have the defaults of the program; a copied address has the
     * digest of its run, so that the page elsewhere can say whether those made another run.
     */
    complete() {
        const { lesson: name, toml, scenario, protocol, flags } = this.wanted;
        if (name || toml || scenario) return;
        const row = this.side.protocol(protocol);
        this.wanted.protocol = row.name;
        const { default: seed } = row.stage.find((/** @type {any} */ flag) => flag.name === "seed");
        this.wanted.flags = { nodes: String(row.nodes.stage), seed, ...flags };
    }

    /** What is asked of the server. */
    what() {
        const { protocol, flags, toml, scenario, lesson: name, seed, promise, faults, captions, outcome } =
            this.wanted;
        const sorted = [...faults].sort((a, b) => Number.parseFloat(a.at) - Number.parseFloat(b.at));
        const more = { captions, outcome, ...(sorted.length ? { faults: sorted } : {}) };
        const drawn = { ...(seed === undefined ? {} : { seed }), ...(promise ? { promise } : {}) };
        if (name) return { toml: this.lesson?.toml, ...drawn, ...more };
        if (toml) return { toml, ...drawn, ...more };
        if (scenario) return { scenario, ...drawn, ...more };
        return { protocol: this.side.protocol(protocol).name, flags: flags ?? {}, ...more };
    }

    /**
     * Asks for the run, and shows it.
     * @param {number} [at]
     * @returns {Promise<boolean | null>} whether it could be shown; null if something else was wanted
     *   before it came
     */
    async load(at = this.player.t) {
        this.asking.abort();
        const { signal } = (this.asking = new AbortController());
        document.body.dataset.busy = "run";
        const began = performance.now();
        try {
            const name = this.wanted.lesson;
            this.lesson = name ? await lesson(name) : null;
            const beside = this.lesson?.beside ? await lesson(this.lesson.beside) : null;
            const [loaded, other] = await Promise.all([
                load("run", this.what(), signal),
                beside ? load("run", { toml: beside.toml }, signal) : null,
            ]);
            if (signal.aborted) return null;
            if (other) extend(loaded, other.run.to);
            this.show(loaded, at, other && { loaded: other, title: beside.title });
            document.body.dataset.took = String(performance.now() - began);
            return true;
        } catch (error) {
            if (signal.aborted) return null;
            this.refuse(error);
            return false;
        } finally {
            if (this.asking.signal === signal) delete document.body.dataset.busy;
        }
    }

    /**
     * Plays a recorded trace that was dropped on the page.
     * @param {Blob} trace
     */
    async judge(trace) {
        this.asking.abort();
        const { signal } = (this.asking = new AbortController());
        try {
            const loaded = await load("judge", trace, signal);
            loaded.head.recorded = true;
            this.wanted = { faults: [] };
            this.lesson = null;
            this.opened = "";
            this.forgetHistory();
            this.show(loaded, 0, null);
        } catch (error) {
            if (!signal.aborted) this.refuse(error);
        }
    }

    /**
     * @param {Loaded} loaded
     * @param {number} at
     * @param {{loaded: Loaded, title: string} | null} beside
     */
    show(loaded, at, beside) {
        this.loaded = loaded;
        this.side.refuse(null);
        if (!this.wanted.protocol) this.side.tell(loaded.head);
        const panes = beside ? 2 : 1;
        while (this.panes.length < panes) {
            this.panes.push(new Pane(this.paneWishes(this.panes.length)));
        }
        this.panes.length = panes;
        if (this.chosen >= panes) this.choose(0);
        if (this.pointed && this.pointed.pane >= panes) this.pointed = null;
        fill(this.paneBox, ...this.panes.map((pane) => pane.element));
        this.panes[0].show(loaded, beside ? this.lesson.title : "");
        if (beside) this.panes[1].show(beside.loaded, beside.title);
        const marks = (loaded.head.faults ?? []).map((/** @type {any} */ fault) => ({
            t: fault.at, text: faultWords(fault), bad: false,
        }));
        const { violations } = loaded;
        marks.push(...violations.map(({ t, invariant }) => ({ t, text: invariant, bad: true })));
        this.diagram.show(loaded.run, marks);
        this.inspector.explain(loaded);
        this.inspector.listFaults(this.wanted.faults, [this.undoButton, this.redoButton]);
        this.undoButton.disabled = !this.done.length;
        this.redoButton.disabled = !this.undone.length;
        const { outcome } = this.wanted.outcome === undefined && this.lesson || loaded.head;
        const changed = this.wanted.faults.length || this.wanted.seed !== undefined;
        const mine = changed && !this.wanted.outcome;
        // A recorded run cannot be made again with other captions.
        if (loaded.head.recorded) fill(this.inspector.captions);
        else this.inspector.listCaptions(this.writing.captions, loaded.head.outcome?.text);
        this.captions.show(loaded.head.captions ?? [], mine ? "" : (outcome?.text ?? ""),
            loaded.end?.as_stated ?? null);
        this.say(loaded);
        const { digest } = this.wanted;
        this.differs.hidden = digest === undefined || digest === loaded.run.digest;
        document.body.dataset.digest = loaded.run.digest;
        this.measure();
        this.player.show(loaded.run, loaded.head.scales?.delay ?? loaded.run.flights.usual, at);
    }

    /**
     * Says what the judge found.
     * @param {Loaded} loaded
     */
    say({ violations, end, verdict, run }) {
        const bad = violations.length > 0;
        this.notice.hidden = !bad && !verdict && end?.complete !== false;
        this.notice.classList.toggle("bad", bad);
        if (bad) {
            fill(this.notice, ...violations.map(({ t, invariant, text }, index) =>
                h("span", { class: index ? "broken" : "broken first", "data-invariant": invariant },
                    h("b", {}, `${invariant} is broken`), index ? "" : `: ${text}`, " ",
                    h("button", { type: "button", class: "quiet", title: text,
                        "aria-label": `Show when ${invariant} is broken`,
                        onclick: () => this.player.seek(t) }, `Show at ${clock(t, run.to)}`))));
        } else if (verdict) {
            const held = Object.keys(verdict.invariants ?? {}).length;
            fill(this.notice, h("b", {}, `A recorded trace: ${verdict.verdict}. `),
                `${held} invariants, ${run.records.length} records. ${(verdict.notes ?? []).join(" ")}`);
        } else if (end?.complete === false) fill(this.notice, `Not the whole run: ${end.limit}`);
    }

    /** @param {unknown} error */
    refuse(error) {
        const text = error instanceof Error ? error.message : String(error);
        this.side.refuse(text);
        this.notice.hidden = false;
        this.notice.classList.add("bad");
        fill(this.notice, text);
    }

    /**
     * Adds faults at the cursor, and shows the run that they make.
     * @param {{what: string, [key: string]: any}[]} faults
     */
    async strike(faults) {
        if (!this.loaded || this.loaded.head.recorded) return;
        this.player.pause();
        const at = exact(this.player.t);
        await this.attempt([...this.wanted.faults, ...faults.map((fault) => ({ ...fault, at }))]);
    }

    /**
     * Shows the run with these faults instead. If the server refuses them, those that were there
     * before stay.
     * @param {Fault[]} faults
     */
    async attempt(faults) {
        const before = this.wanted.faults;
        if (await this.change(faults) !== false) return;
        this.done.pop();
        this.takeBack({ ...this.wanted, faults: before });
    }

    /**
     * Shows the run with these faults instead.
     * @param {Fault[]} faults
     */
    change(faults) {
        this.done.push(this.wanted.faults);
        this.undone = [];
        return this.apply(faults);
    }

    /** @param {Fault[]} faults */
    apply(faults) {
        return this.put({ ...this.wanted, faults });
    }

    /**
     * Shows this instead, at the same moment.
     * @param {Wanted} wanted
     */
    put(wanted) {
        this.wanted = { ...wanted, at: undefined, digest: undefined };
        this.opened = writeWanted(this.wanted);
        history.replaceState(null, "", this.opened);
        return this.load(this.player.t);
    }

    /**
     * Takes back what the server has refused: the run that is shown stays.
     * @param {Wanted} wanted what was wanted before
     */
    takeBack(wanted) {
        this.wanted = wanted;
        this.opened = writeWanted(wanted);
        history.replaceState(null, "", this.opened);
    }

    /**
     * Shows a scenario that was written as text, at the same moment.
     * @param {string} toml
     */
    openText(toml) {
        this.wanted = { toml, faults: [] };
        this.forgetHistory();
        this.side.show(this.wanted);
        this.navigate();
    }

    undo() {
        const faults = this.done.pop();
        if (!faults) return;
        this.undone.push(this.wanted.faults);
        this.apply(faults);
    }

    redo() {
        const faults = this.undone.pop();
        if (!faults) return;
        this.done.push(this.wanted.faults);
        this.apply(faults);
    }

    get selectsMore() {
        return this.several.getAttribute("aria-pressed") === "true";
    }

    /**
     * @param {number} pane
     * @param {number} id
     * @param {boolean} shift whether it is added to the selection
     */
    select(pane, id, shift) {
        const more = shift || this.selectsMore;
        if (pane !== this.chosen) this.choose(pane);
        const was = this.selected.has(id);
        if (!more) {
            const only = was && this.selected.size === 1;
            this.selected = new Set(only ? [] : [id]);
        } else if (was) this.selected.delete(id);
        else this.selected.add(id);
        this.draw();
    }

    /** @param {number} position */
    goto(position) {
        const run = this.loaded?.run;
        if (!run) return;
        this.player.pause();
        this.player.t = run.records[position - 1]?.t ?? run.from;
        this.player.position = position;
        this.draw();
    }

    measure() {
        for (const pane of this.panes) pane.measure();
        // On a phone the page scrolls; elsewhere the diagram takes its share of the window.
        const whole = isNarrow() ? 640 : this.center.clientHeight;
        this.diagram.measure(whole * 0.4);
        this.draw();
    }

    draw() {
        const { loaded, player } = this;
        if (!loaded || player.run !== loaded.run) return;
        const { t, position, playing } = player;
        /** @type {Set<number>} */
        const none = new Set();
        const selected = this.panes.map((_, pane) => (pane === this.chosen ? this.selected : none));
        this.panes.forEach((pane, index) =>
            pane.draw(t, this.positionIn(index), selected[index], !playing));
        this.diagram.draw(t, selected[0]);
        this.transport.draw();
        this.captions.draw();
        this.inspector.draw(loaded, t, position, this.shown(), playing);
        const words = leaderWords(loaded.run.leadersAt(position, t));
        if (words === this.told) return;
        this.told = words;
        this.headline.textContent = words;
        by("announcer").textContent = words;
    }

    /**
     * How many records of a pane's run there are up to the cursor.
     * @param {number} pane
     */
    positionIn(pane) {
        const run = this.panes[pane].loaded?.run;
        return pane && run ? run.positionAt(this.player.t) : this.player.position;
    }

    /** Of which processes the details are shown: the selected ones, or the one that is pointed at. */
    shown() {
        const pane = this.selected.size ? this.chosen : (this.pointed?.pane ?? 0);
        const ids = this.selected.size ? [...this.selected] : this.pointed ? [this.pointed.id] : [];
        const { loaded, name } = this.panes[pane];
        return {
            loaded: /** @type {Loaded} */ (loaded), name, position: this.positionIn(pane), ids,
            selected: this.selected.size > 0, ours: pane === 0,
        };
    }

    /**
     * @param {KeyboardEvent} event
     * @returns {boolean} whether the key was taken
     */
    key(event) {
        const { player } = this;
        const ctrl = event.ctrlKey || event.metaKey;
        if (ctrl && event.key.toLowerCase() === "z") {
            if (event.shiftKey) this.redo();
            else this.undo();
            return true;
        }
        if (ctrl || event.altKey) return false;
        switch (event.key) {
            case " ":
                player.toggle();
                return true;
            case "ArrowRight":
                if (event.shiftKey) player.change(1);
                else player.step(1);
                return true;
            case "ArrowLeft":
                if (event.shiftKey) player.change(-1);
                else player.step(-1);
                return true;
            case "Home":
                player.seek(0);
                return true;
            case "End":
                player.seek(Infinity);
                return true;
            case "+":
            case "=":
                player.faster(1);
                return true;
            case "-":
                player.faster(-1);
                return true;
            case ".":
                this.captions.step(1);
                return true;
            case ",":
                this.captions.step(-1);
                return true;
            case "Escape":
                this.selected.clear();
                this.draw();
                return true;
            default:
                return false;
        }
    }
}

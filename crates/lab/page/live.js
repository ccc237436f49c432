// Live: members that run now. Their status streams in; each has a lane that grows in real time. The
// demo group is five real processes on this machine that can be killed, paused and so on.

import { ask, askText, stream } from "./api.js";
import { confirmed } from "./dialog.js";
import { by, chooser, fill, h, openFiles } from "./dom.js";
import { count, trim } from "./format.js";
import { LiveLanes } from "./live_lanes.js";

/** @typedef {{[key: string]: any}} Row */

/** How late this page may see a change, in milliseconds. */
const LATE = 500;

/** What can be done to a member of the demo, and in which states. */
const DEEDS = /** @type {[string, string, string, string[]][]} */ ([
    ["kill", "kill -9", "It ends at once, without a word.", ["running", "paused"]],
    ["pause", "Pause", "It stands still (SIGSTOP).", ["running"]],
    ["continue", "Go on", "It goes on (SIGCONT).", ["paused"]],
    ["resign", "Resign", "It is asked to stop leading.", ["running"]],
    ["restart", "Restart", "It is started again.", ["dead"]],
]);

export class Live {
    /** @param {HTMLElement} element */
    constructor(element) {
        this.asking = new AbortController();
        this.lanes = new LiveLanes();
        /** @type {Row[]} Changes of leader that this page has seen, the latest first. */
        this.history = [];
        this.leaders = new Map();
        /** @type {Map<number, Row>} By group: its reigns, as its members remember them. */
        this.pasts = new Map();
        /** @type {Map<number, string>} What groups are called. */
        this.names = new Map();
        this.headline = h("p", { class: "headline", id: "live-leader" }, "Looking for members…");
        this.start = h("button", { type: "button", class: "main", id: "demo-start",
            onclick: () => this.demo("start") }, "Start a demo group");
        this.stop = h("button", { type: "button", id: "demo-stop", hidden: true,
            onclick: () => this.demo("stop") }, "End the demo");
        this.trace = h("button", { type: "button", id: "demo-trace", hidden: true,
            title: "What its members recorded, played on the stage and judged",
            onclick: () => this.judge() }, "Judge what happened");
        this.complaint = h("p", { class: "warning", id: "demo-complaint", role: "status", hidden: true });
        this.problem = h("p", { class: "wrong", role: "alert", hidden: true });
        this.crowd = h("p", { class: "warning", id: "left-out", role: "status", hidden: true });
        this.people = h("div", { class: "members", id: "demo-members" });
        this.failovers = h("div", { class: "table-box", id: "failovers" });
        this.details = h("div", { class: "cards" });
        this.past = h("ol", { class: "events past" });
        this.nobody = h("div", { class: "nobody", hidden: true },
            h("p", {}, "Start a demo group: five real processes on this machine. Kill its leader, and see " +
                "who leads next, and how long that takes."),
            h("p", {}, "Members that run on this machine appear here by themselves (", h("code", {}, "bellwether run"),
                "). Members on other machines are named when the lab is started: ",
                h("code", {}, "bellwether lab --member http://10.0.0.2:7480"), "."),
            h("p", {}, "What members recorded can be opened, or dropped on the page: it is played on the stage, " +
                "and judged."));
        this.running = h("div", { class: "live-lanes" }, this.lanes.canvas);
        fill(element,
            h("div", { class: "center flow" },
                h("div", { class: "row wrap" }, this.headline, h("span", { class: "grow" }),
                    this.trace, ...chooser("trace-file", "Open a trace", "What live members recorded"),
                    this.start, this.stop),
                this.problem, this.complaint, this.crowd, this.nobody, this.people, this.failovers, this.running, this.details),
            h("aside", { class: "inspect", "aria-label": "History" },
                h("section", { class: "card" }, h("h3", {}, "Leaders"), this.past)));
    }

    open() {
        this.asking.abort();
        this.asking = new AbortController();
        this.lanes.start();
        this.listen(this.asking.signal);
    }

    close() {
        this.asking.abort();
        this.lanes.stop();
    }

    measure() {
        this.lanes.measure();
    }

    /**
     * Reads the stream until the view is left; begins again if it ends.
     * @param {AbortSignal} signal
     */
    async listen(signal) {
        while (!signal.aborted) {
            // Each answer numbers the groups anew.
            for (const known of [this.leaders, this.pasts, this.names]) known.clear();
            this.history = [];
            try {
                await stream("live", { signal }, (line) => {
                    if (line.lab === "members") this.see(line);
                    if (line.lab === "past") this.remember(line);
                });
            } catch (error) {
                if (signal.aborted) return;
                this.refuse(error);
            }
            await new Promise((resolve) => setTimeout(resolve, 1000));
        }
    }

    /** @param {unknown} error */
    refuse(error) {
        this.problem.textContent = error instanceof Error ? error.message : String(error);
        this.problem.hidden = false;
    }

    /** @param {Row} line */
    see(line) {
        this.call(line.members);
        this.lanes.see(line);
        this.leads(line);
        this.crowd.hidden = !line.left_out;
        if (line.left_out) {
            this.crowd.textContent = `${count(line.left_out, "member")} more than can be asked. ` +
                "Those that --member names come first; --dir names one directory.";
        }
        const demo = line.demo ?? {};
        this.start.hidden = Boolean(demo.running);
        this.stop.hidden = this.trace.hidden = !demo.running;
        this.complaint.hidden = !demo.complaint;
        if (this.complaint.textContent !== demo.complaint) this.complaint.textContent = demo.complaint;
        const empty = !line.members.length && !this.lanes.lanes.size;
        if (this.nobody.hidden === empty) {
            this.nobody.hidden = !empty;
            this.running.hidden = empty;
            this.lanes.measure();
        }
        this.members(demo);
        this.table(demo);
        this.cards(line.members);
        document.body.dataset.members = String(line.members.length);
    }

    /**
     * Gives groups their names: two that are there may have one name, and are then numbered.
     * @param {Row[]} members
     */
    call(members) {
        const here = new Set(members.map(({ home }) => home));
        for (const member of members) {
            const { group, home } = member;
            if (home !== null && !this.names.has(home)) {
                const taken = [...this.names].filter(([other]) => here.has(other)).map(([, name]) => name);
                let [name, number] = [group, 1];
                while (taken.includes(name)) name = `${group} (${(number += 1)})`;
                this.names.set(home, name);
            }
            member.name = this.names.get(home) ?? group;
        }
    }

    /**
     * Who leads in each group, and since when.
     * @param {Row} line
     */
    leads(line) {
        const now = new Map();
        for (const { home, status, error } of line.members) {
            if (!status) continue;
            if (!now.has(home)) now.set(home, []);
            // With an error the status is what it said last.
            if (!error && status.role === "leader") now.get(home).push(status);
        }
        for (const [home, leaders] of now) now.set(home, current(leaders));
        const name = (/** @type {number} */ home) => this.names.get(home) ?? "";
        let news = false;
        for (const [home, ids] of now) {
            const words = list(ids);
            const before = this.leaders.get(home);
            if (before?.words === words) continue;
            const lasted = before ? trim((line.t_ms - before.since) / 1000, 3) : "";
            const led = before ? `; before that ${before.words.replace("–", "nobody")} for ${lasted} s` : "";
            this.leaders.set(home, { words, since: line.t_ms });
            const text = `${ids.length ? "leads" : "nobody leads"}${led}`;
            this.history.unshift({ wall: Date.now(), home, ids, text });
            news = true;
            this.history.length = Math.min(this.history.length, 100);
            by("announcer").textContent = told(name(home), ids);
        }
        const groups = [...now].map(([home, ids]) => told(name(home), ids));
        const headline = groups.join(" · ") || "No member runs here";
        if (this.headline.textContent !== headline) this.headline.textContent = headline;
        if (news) this.tell();
    }

    /**
     * What members remember takes the place of what this page has seen: it is exact, and goes back to
     * before the page was opened.
     * @param {Row} past
     */
    remember(past) {
        this.pasts.set(past.group, { ...past, came: Date.now() });
        this.tell();
    }

    /** Writes the list of leaders, the latest first. */
    tell() {
        const known = [...this.pasts].flatMap(([home, { reigns }]) => reigns.map((/** @type {Row} */ reign) => ({
            home, wall: reign.wall_ms, ids: [reign.leader], text: reignWords(reign) })));
        // What is seen soon after it came happened before: members are looked at a few times a second.
        const newer = this.history.filter(({ home, wall }) =>
            wall > (this.pasts.get(home)?.came ?? -LATE) + LATE);
        const rows = [...known, ...newer].sort((a, b) => b.wall - a.wall).slice(0, 100);
        fill(this.past, ...rows.map(({ wall, home, ids, text }) =>
            h("li", {}, h("span", { class: "at" }, wall === null ? "–" : new Date(wall).toLocaleTimeString("en-GB")),
                h("b", {}, list(ids)), h("span", {}, `${this.names.get(home) ?? ""}: ${text}`))));
    }

    /**
     * The members of the demo with their buttons. Kept from line to line, so that a click does not
     * miss a button that is being replaced.
     * @param {Row} demo
     */
    members(demo) {
        const members = demo.running ? (demo.members ?? []) : [];
        const key = JSON.stringify([members.map((/** @type {Row} */ one) => [one.id, one.state]), demo.leader]);
        if (this.people.dataset.key === key) return;
        this.people.dataset.key = key;
        const focused = document.activeElement?.getAttribute("data-deed");
        fill(this.people, ...members.map((/** @type {Row} */ one) => this.member(one, demo.leader)));
        if (focused) {
            const found = this.people.querySelector(`[data-deed="${CSS.escape(focused)}"]`);
            /** @type {HTMLElement | null} */ (found)?.focus();
        }
    }

    /**
     * @param {Row} one
     * @param {number | null} leader
     */
    member(one, leader) {
        const leading = one.id === leader;
        const deeds = DEEDS.map(([deed, label, help, states]) =>
            h("button", { type: "button", title: help, "data-deed": `${one.id}-${deed}`,
                disabled: !states.includes(one.state) || (deed === "resign" && !leading),
                onclick: () => this.demo(`${one.id}/${deed}`) }, label));
        const state = leading ? "leads" : one.state === "running" ? "follows" : one.state;
        return h("section", { class: `member card ${one.state}${leading ? " leading" : ""}`,
            "data-member": one.id, "aria-label": `Member ${one.id}` },
            h("h3", {}, `Member ${one.id}`),
            h("p", { class: "dim" }, `${state}${one.pid ? `, process ${one.pid}` : ""}`),
            h("div", { class: "deeds" }, ...deeds));
    }

    /** @param {Row} demo */
    table(demo) {
        const rows = demo.failovers ?? [];
        const key = JSON.stringify(rows);
        if (this.failovers.dataset.key === key) return;
        this.failovers.dataset.key = key;
        if (!rows.length) return fill(this.failovers);
        const cells = (/** @type {any[]} */ values) => values.map((value) => h("td", {}, String(value ?? "–")));
        fill(this.failovers,
            h("table", {},
                h("caption", {}, "Failovers, the latest first"),
                h("thead", {}, h("tr", {}, ...["what", "old leader", "new leader", "took", "at most"].map(
                    (name) => h("th", { scope: "col" }, name)))),
                h("tbody", {}, ...[...rows].reverse().slice(0, 8).map((/** @type {Row} */ row) =>
                    h("tr", { "data-what": row.what }, ...cells([row.what, row.old, row.new,
                        row.ms === null || row.ms === undefined ? "…" : `${trim(row.ms, 4)} ms`,
                        row.bound_ms ? `${trim(row.bound_ms, 4)} ms` : "at once"]))))));
    }

    /**
     * One card for each member: lease, delays, datagrams, warnings. Its button stays from line to
     * line.
     * @param {Row[]} members
     */
    cards(members) {
        const known = new Map([...this.details.children].map((card) =>
            [card.getAttribute("data-key"), /** @type {HTMLElement} */ (card)]));
        const cards = members.map((member) => {
            const card = known.get(member.key) ?? this.card(member);
            fill(/** @type {HTMLElement} */ (card.firstElementChild), ...statusRows(member));
            const leads = !member.error && member.status?.role === "leader";
            /** @type {HTMLElement} */ (card.lastElementChild).hidden = !(leads && member.resigns);
            return card;
        });
        const same = cards.length === this.details.childElementCount &&
            cards.every((card, index) => card === this.details.children[index]);
        if (!same) fill(this.details, ...cards);
    }

    /** @param {Row} member */
    card({ key, group, name: called, id }) {
        const name = group ? `${called}/${id}` : key;
        const resign = h("button", { type: "button", "data-resign": key,
            title: "It hands over to another member, and stays.",
            onclick: () => this.resign(key, name) }, "Ask it to resign");
        return h("section", { class: "card status", "data-key": key, "aria-label": name },
            h("div", { class: "card" }), h("div", { class: "deeds", hidden: true }, resign));
    }

    /**
     * @param {string} member
     * @param {string} name what the reader calls it
     */
    async resign(member, name) {
        if (!(await confirmed(`Ask ${name} to stop leading? Another member takes over.`))) return;
        this.problem.hidden = true;
        try {
            await ask("live/resign", { body: { member } });
        } catch (error) {
            this.refuse(error);
        }
    }

    /** @param {string} path */
    async demo(path) {
        this.problem.hidden = true;
        this.start.disabled = this.stop.disabled = true;
        try {
            await ask(`demo/${path}`, { method: "POST" });
        } catch (error) {
            this.refuse(error);
        } finally {
            this.start.disabled = this.stop.disabled = false;
        }
    }

    async judge() {
        try {
            openFiles([new Blob([await askText("demo/trace")])]);
        } catch (error) {
            this.refuse(error);
        }
    }
}

/**
 * Who leads by what members said a moment ago. Where never two lead, a leader of an earlier term has
 * been replaced since it was asked. A member that is asked in two ways counts once.
 * @param {Row[]} leaders
 * @returns {number[]}
 */
function current(leaders) {
    const latest = Math.max(...leaders.map(({ term }) => term ?? 0));
    const ids = leaders
        .filter(({ promise, term }) => promise !== "never two" || (term ?? 0) === latest)
        .map(({ id }) => id);
    return [...new Set(ids)].sort((a, b) => a - b);
}

/** @param {number[]} ids */
const list = (ids) => ids.join(", ") || "–";

/**
 * A reign in words: how long nobody led before it, how long it lasted, and why it ended.
 * @param {Row} reign
 */
function reignWords({ lasted_ms: lasted, without_ms: without, end, why }) {
    const time = (/** @type {number} */ ms) => (ms < 1000 ? `${trim(ms, 3)} ms` : `${trim(ms / 1000, 3)} s`);
    const led = end === "leads" ? "leads" : `led for ${time(lasted)}; ${why}`;
    return without === null ? led : `${led}. Nobody led for ${time(without)} before`;
}

/**
 * @param {string} group
 * @param {number[]} ids
 */
function told(group, ids) {
    if (!ids.length) return `${group}: nobody leads`;
    return `${group}: ${ids.join(" and ")} ${ids.length > 1 ? "lead" : "leads"}`;
}

/** @param {Row} member */
function statusRows({ group, name: called, id, status, error, ended, from }) {
    const remote = from.startsWith("http://");
    const place = group !== null && (remote || called !== group);
    const name = h("h3", {}, group === null ? from : `${called} / ${id}`,
        place ? h("small", { class: "dim" }, ` ${from.replace("http://", "")}`) : null);
    if (!status || error) {
        // The path of its socket says nothing to who watches.
        if (ended) return [name, h("p", { class: "belief dim" }, "has ended")];
        const why = error ?? "does not answer";
        return [name, h("p", { class: "wrong" }, why), remote ? null : h("p", { class: "dim" }, from)];
    }
    const row = (/** @type {string} */ label, /** @type {string | null} */ value) =>
        value === null ? [] : [h("dt", {}, label), h("dd", {}, value)];
    const ms = (/** @type {number | null | undefined} */ value) =>
        value === null || value === undefined ? null : `${trim(value, 3)} ms`;
    const took = (/** @type {Row | undefined} */ it) =>
        it ? `${ms(it.last_ms)} (mean ${ms(it.mean_ms)})` : null;
    const refused = Object.entries(status.traffic?.refused ?? {}).filter(([, number]) => number > 0);
    const heard = (status.members ?? []).filter((/** @type {Row} */ one) => !one.me)
        .map((/** @type {Row} */ one) => `${one.id}: ${ms(one.heard_ms) ?? "never"}`);
    const lease = status.lease_ends_ms ?? null;
    const meter = lease !== null && status.lease_duration_ms
        ? h("meter", { min: 0, max: status.lease_duration_ms, value: lease, "aria-label": "Lease" })
        : null;
    const settled = status.role === "leader" || status.role === "follower";
    const allowed = ms(status.scheduling_allowed_ms);
    return [
        name,
        h("p", { class: "belief" }, status.role === "leader" ? "leads" :
            status.role === "follower" ? `follows ${status.leaders.join(", ")}` : status.role),
        meter,
        ...(settled ? [] : (status.why ?? []).slice(0, 2)
            .map((/** @type {string} */ text) => h("p", { class: "dim" }, text))),
        h("dl", { class: "facts" },
            ...row("term", status.term === null ? null : String(status.term)),
            ...row("lease ends in", ms(lease)),
            ...row("round trip", took(status.round_trip)),
            ...row("delay, at most", took(status.delay_bound)),
            ...row("machine late by", allowed ? `${ms(status.scheduling_delay_ms)} of ${allowed}` :
                ms(status.scheduling_delay_ms)),
            ...row("datagrams", `${status.traffic?.sent ?? 0} sent, ${status.traffic?.received ?? 0} received`),
            ...row("last heard", heard.length ? heard.join(", ") : null),
            ...row("refused", refused.length ? count(refused.reduce((sum, [, one]) => sum + one, 0), "datagram") : null),
            ...refused.flatMap(([reason, number]) => row(`– ${reason}`, String(number)))),
        ...(status.warnings ?? []).map((/** @type {string} */ text) => h("p", { class: "warning" }, text)),
    ];
}

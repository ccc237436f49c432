// Measures how long the script takes for a frame of the stage with 64 processes and 300 messages on
// their way (the group, the diagram, the details, the controls), and prints it on the page.

import { fill, h } from "./dom.js";
import { Run } from "./run.js";
import { Places } from "./places.js";
import { Stage } from "./stage.js";

const PROCESSES = 64;
const IN_FLIGHT = 300;
const FRAMES = 240;
const EVENTS = 100_000;

/** A run in which so many messages are on their way at any time. */
function busy() {
    /** @type {import("./types.js").TraceRecord[]} */
    const records = [];
    const kinds = ["ask", "answer", "announce", "stamp"];
    for (let node = 0; node < PROCESSES; node += 1) {
        records.push({ t: 0, node, kind: "start", incarnation: 1 });
        const leaders = [node % 5];
        records.push({ t: 0, node, kind: "leadership", leaders, until: 1e12, stage: "decided" });
        records.push({ t: 0, node, kind: "fact", fact: "locked", to: node % 5, until: 1e12 });
    }
    // Every message takes 100 ms, so one is sent every 100 ms / 300.
    const delay = 1e8;
    for (let number = 0; records.length < EVENTS; number += 1) {
        const [from, sent] = [number % PROCESSES, Math.round((number * delay) / IN_FLIGHT)];
        const to = (from + 1 + ((number * 7) % (PROCESSES - 1))) % PROCESSES;
        const message = kinds[number % kinds.length];
        records.push({ t: sent, node: from, kind: "send", to, message, number });
        records.push({ t: sent + delay, node: to, kind: "recv", from, message, number, sent });
    }
    return records;
}

/**
 * @param {number[]} values
 * @param {number} share
 */
const part = (values, share) => values.sort((a, b) => a - b)[Math.floor(values.length * share)];

/**
 * @param {HTMLElement} element
 * @param {any} table what the server has: protocols with their flags
 */
export function benchmark(element, table) {
    const box = h("div", { class: "view stage" });
    const result = h("pre", { id: "bench-result" }, "measuring…");
    fill(element, result, box);
    const records = busy();
    const text = records.map((record) => JSON.stringify(record)).join("\n");
    let began = performance.now();
    const run = new Run(text.split("\n").map((line) => JSON.parse(line)));
    const loading = performance.now() - began;
    const head = { nodes: PROCESSES, leases: true, promise: "none", about: "A benchmark." };
    const stage = new Stage(box, table);
    stage.show({ head, run, places: new Places(head), lines: [], carries: new Map(), violations: [],
        end: null, verdict: null, cuts: [] }, 0, null);
    stage.selected = new Set([3]);
    const { player } = stage;
    // As while it plays; the cursor is moved here.
    player.playing = true;
    /** @type {number[]} All frames, and those that also bring the details up to date. */
    const took = [];
    /** @type {number[]} */
    const detailed = [];
    const frame = () => {
        const { drawn } = stage.inspector;
        began = performance.now();
        player.seek(1e9 + took.length * 2e7);
        took.push(performance.now() - began);
        if (stage.inspector.drawn !== drawn) detailed.push(took[took.length - 1]);
        if (took.length < FRAMES) {
            requestAnimationFrame(frame);
            return;
        }
        player.playing = false;
        const [middle, worst, details] = [part(took, 0.5), part(took, 0.99), part(detailed, 0.5)];
        const flying = stage.panes[0].scene.drawn.length;
        result.textContent = [
            `${PROCESSES} processes, ${flying} messages on their way`,
            `script for a frame: ${middle.toFixed(2)} ms (median), ${worst.toFixed(2)} ms (99 %)`,
            `${detailed.length} of ${FRAMES} frames with the details: ${details.toFixed(2)} ms (median)`,
            `${records.length} records read and indexed in ${loading.toFixed(0)} ms`,
        ].join("\n");
        Object.assign(result.dataset, { median: middle, worst, details, loading, flying });
    };
    requestAnimationFrame(frame);
}

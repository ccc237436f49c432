// Measures how long the script takes to draw a frame with 64 processes and 300 messages on their
// way, and prints it on the page.

import { fill, h } from "./dom.js";
import { Run } from "./run.js";
import { Places } from "./places.js";
import { Scene } from "./scene.js";
import { Diagram } from "./diagram.js";

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

/** @param {HTMLElement} element */
export function benchmark(element) {
    const canvas = h("canvas", { class: "bench-canvas" });
    const lanes = h("canvas", { class: "bench-lanes" });
    const result = h("pre", { id: "bench-result" }, "measuring…");
    fill(element, h("h1", {}, "Benchmark"), canvas, h("div", { class: "bench-box" }, lanes), result);
    const records = busy();
    const text = records.map((record) => JSON.stringify(record)).join("\n");
    let began = performance.now();
    const run = new Run(text.split("\n").map((line) => JSON.parse(line)));
    const loading = performance.now() - began;
    const scene = new Scene(canvas);
    scene.show(run, new Places({ nodes: PROCESSES }));
    const diagram = new Diagram(lanes, () => {});
    diagram.show(run, []);
    /** @type {number[]} */
    const took = [];
    let flying = 0;
    const frame = () => {
        const t = 1e9 + took.length * 2e7;
        const position = run.positionAt(t);
        began = performance.now();
        scene.draw(t, position, { selected: new Set([3]) });
        diagram.draw(t, new Set([3]));
        took.push(performance.now() - began);
        flying = scene.drawn.length;
        if (took.length < FRAMES) {
            requestAnimationFrame(frame);
            return;
        }
        took.sort((a, b) => a - b);
        const middle = took[took.length >> 1];
        const worst = took[Math.floor(took.length * 0.99)];
        result.textContent = [
            `${PROCESSES} processes, ${flying} messages on their way`,
            `script for a frame: ${middle.toFixed(2)} ms (median), ${worst.toFixed(2)} ms (99 %)`,
            `${records.length} records read and indexed in ${loading.toFixed(0)} ms`,
        ].join("\n");
        Object.assign(result.dataset, { median: middle, worst, loading, flying });
    };
    requestAnimationFrame(frame);
}

// Share a run: its address, its command line, and files of it.

import { askText } from "./api.js";
import { copy, h, save } from "./dom.js";

/** @typedef {import("./load.js").Loaded} Loaded */

/**
 * The address of what is shown, with the digest of its records: opened elsewhere, the page says if the
 * run is another one there.
 * @param {string} digest
 */
function addressWith(digest) {
    const [page, fragment = ""] = location.href.split(/#(.*)/s);
    const plain = fragment.replace(/&digest=[^&]*/, "");
    return plain.includes("?") ? `${page}#${plain}&digest=${digest}` : location.href;
}

/** @param {Loaded} loaded */
function hasAddress({ head }) {
    if (head.recorded) throw new Error("a recorded trace has no address: save its records");
}

/**
 * The menu of what can be done with the run that is shown.
 * @param {() => {loaded: Loaded | null, what: unknown}} shown
 * @param {(error: unknown) => void} failed
 */
export function shareMenu(shown, failed) {
    const item = (/** @type {string} */ label, /** @type {string} */ name,
        /** @type {(loaded: Loaded, button: HTMLElement) => unknown} */ act) => {
        const button = h("button", { type: "button", "data-share": name }, label);
        button.addEventListener("click", async () => {
            const { loaded } = shown();
            if (!loaded) return;
            try {
                await act(loaded, button);
            } catch (error) {
                failed(error);
            }
        });
        return button;
    };
    // The server names the file, because the command that it tells reads it.
    const named = (/** @type {Loaded} */ { head }, /** @type {string} */ end) =>
        (head.file ?? "run.toml").replace(/toml$/, end);
    const digest = h("p", { class: "dim digest" });
    const needs = h("p", { class: "dim digest", id: "needs-file" });
    const menu = h(
        "details",
        { class: "menu" },
        h("summary", { class: "button" }, "Share"),
        h("div", { class: "menu-list" },
            item("Copy the address", "address", (loaded, button) => {
                hasAddress(loaded);
                return copy(addressWith(loaded.run.digest), button);
            }),
            item("Copy the command", "command", ({ head }, button) => copy(head.command ?? "", button)),
            item("Save the scenario", "scenario", (loaded) =>
                save(named(loaded, "toml"), loaded.head.toml ?? "")),
            item("Save a picture", "picture", async (loaded) =>
                save(named(loaded, "svg"), await askText("diagram", { body: shown().what }),
                    "image/svg+xml")),
            item("Save the records", "records", (loaded) =>
                save(named(loaded, "jsonl"), `${loaded.lines.join("\n")}\n`, "application/x-ndjson")),
            needs, digest),
    );
    menu.addEventListener("toggle", () => {
        const { run, head } = shown().loaded ?? {};
        const reads = head?.file && head.command?.endsWith(head.file);
        needs.textContent = reads ? `The command reads ${head.file}: save the scenario, too.` : "";
        digest.textContent = run ? `${run.records.length} records, digest ${run.digest}` : "";
    });
    // A menu closes when the reader goes elsewhere.
    menu.addEventListener("focusout", (event) => {
        if (event.relatedTarget && !menu.contains(/** @type {Node} */ (event.relatedTarget))) {
            menu.open = false;
        }
    });
    document.addEventListener("pointerdown", (event) => {
        if (!menu.contains(/** @type {Node} */ (event.target))) menu.open = false;
    });
    menu.addEventListener("keydown", (event) => {
        if (event.key === "Escape") menu.open = false;
    });
    return menu;
}

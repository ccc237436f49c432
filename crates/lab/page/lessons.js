// The list of lessons, and one lesson as the server keeps it.

import { ask } from "./api.js";
import { fill, h, isNarrow } from "./dom.js";

/** @typedef {{name: string, title: string, about: string, protocol: string, captions: number}} Row */

/** @type {Map<string, Promise<any>>} */
const known = new Map();

/**
 * A lesson by its name, asked for once.
 * @param {string} name
 * @returns {Promise<any>}
 */
export function lesson(name) {
    let found = known.get(name);
    if (!found) {
        found = ask(`lessons/${encodeURIComponent(name)}`);
        found.catch(() => known.delete(name));
        known.set(name, found);
    }
    return found;
}

/**
 * Fills the list.
 * @param {HTMLElement} element
 */
export async function listLessons(element) {
    const { lessons } = await ask("lessons");
    fill(
        element,
        ...lessons.map((/** @type {Row} */ row) =>
            h("a", { class: "lesson", href: `#stage?lesson=${encodeURIComponent(row.name)}`,
                "data-lesson": row.name },
                h("b", {}, row.title), h("span", {}, row.about),
                h("small", {}, `${row.protocol} · ${row.captions} steps`)),
        ),
    );
}

/**
 * Marks the lesson that is open.
 * @param {HTMLElement} element
 * @param {string | undefined} name
 */
export function markLesson(element, name) {
    for (const link of element.querySelectorAll("a")) {
        const here = link.dataset.lesson === name;
        if (here) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
        // On a phone the list is below the picture, which must stay in sight.
        if (here && !isNarrow()) link.scrollIntoView({ block: "nearest" });
    }
}

// Asks in a dialog of the page: for one value, or whether something shall be done.

import { h } from "./dom.js";

/**
 * @param {string} text
 * @param {string} usual
 * @returns {Promise<string | null>} null if the reader closes it
 */
export async function askFor(text, usual) {
    const field = h("input", { type: "text", value: usual, id: "asked", autocomplete: "off" });
    const done = await shown(text, field);
    return done ? field.value.trim() : null;
}

/**
 * @param {string} text
 * @returns {Promise<boolean>} false if the reader closes it
 */
export const confirmed = (text) => shown(text, null);

/**
 * @param {string} text
 * @param {HTMLInputElement | null} field
 * @returns {Promise<boolean>}
 */
function shown(text, field) {
    return new Promise((resolve) => {
        const label = field ? h("label", { for: field.id, id: "asked-label" }, text)
            : h("p", { id: "asked-label" }, text);
        const dialog = h(
            "dialog",
            { "aria-labelledby": "asked-label" },
            h("form", { method: "dialog", class: "asking" },
                label,
                field,
                h("div", { class: "row" }, h("span", { class: "grow" }),
                    h("button", { type: "button", onclick: () => dialog.close("") }, "Cancel"),
                    h("button", { class: "main", value: "yes" }, "Do it"))),
        );
        dialog.addEventListener("close", () => {
            resolve(dialog.returnValue === "yes");
            dialog.remove();
        });
        document.body.append(dialog);
        dialog.showModal();
        field?.select();
    });
}

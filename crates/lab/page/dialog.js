// Asks in a dialog of the page: for one value, for a text, or whether something shall be done.

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
 * Asks for a text of several lines, until it is good.
 * @param {string} text
 * @param {string} usual
 * @param {(given: string) => Promise<unknown>} check fails if it is not good, and says why
 * @returns {Promise<string | null>} null if the reader closes it
 */
export async function askForText(text, usual, check) {
    const field = h("textarea", { id: "asked", rows: 24, cols: 90, spellcheck: "false", autocomplete: "off" });
    field.value = usual;
    const done = await shown(text, field, () => check(field.value));
    return done ? field.value : null;
}

/**
 * @param {string} text
 * @returns {Promise<boolean>} false if the reader closes it
 */
export const confirmed = (text) => shown(text, null);

/**
 * @param {string} text
 * @param {HTMLInputElement | HTMLTextAreaElement | null} field
 * @param {() => Promise<unknown>} [check] before the dialog closes; if it fails, it says why and stays
 * @returns {Promise<boolean>}
 */
function shown(text, field, check) {
    return new Promise((resolve) => {
        const wrong = h("p", { class: "wrong", role: "alert", hidden: true });
        const button = h("button", { class: "main", value: "yes" }, "Do it");
        const label = field ? h("label", { for: field.id, id: "asked-label" }, text)
            : h("p", { id: "asked-label" }, text);
        const dialog = h(
            "dialog",
            { "aria-labelledby": "asked-label" },
            h("form", { method: "dialog", class: "asking" },
                label,
                field,
                wrong,
                h("div", { class: "row" }, h("span", { class: "grow" }),
                    h("button", { type: "button", onclick: () => dialog.close("") }, "Cancel"),
                    button)),
        );
        if (check) {
            dialog.addEventListener("submit", (event) => {
                event.preventDefault();
                button.disabled = true;
                check().then(() => dialog.close("yes"), (error) => {
                    if (!dialog.open) return;
                    wrong.textContent = error.message;
                    wrong.hidden = false;
                    button.disabled = false;
                    field?.focus(); // a button that was disabled has lost it
                });
            });
        }
        dialog.addEventListener("close", () => {
            resolve(dialog.returnValue === "yes");
            dialog.remove();
        });
        document.body.append(dialog);
        dialog.showModal();
        if (check) field?.setSelectionRange(0, 0);
        else field?.select();
    });
}

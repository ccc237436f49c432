// Makes and finds elements. Text is always set as text, so nothing a server or a file says is run.

/**
 * An element with attributes and children. A property that begins with `on` is a listener; `null`
 * and `false` leave an attribute out.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {{[name: string]: any}} [attributes]
 * @param {...(Node | string | null)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (value === null || value === undefined || value === false) continue;
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else if (name === "value") /** @type {any} */ (element).value = value;
        else element.setAttribute(name, value === true ? "" : String(value));
    }
    element.append(...present(children));
    return element;
}

/**
 * @param {(Node | string | null)[]} children
 * @returns {(Node | string)[]}
 */
const present = (children) =>
    /** @type {(Node | string)[]} */ (children.filter((child) => child !== null));

/**
 * The element with this id, which the page has.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function by(id) {
    const element = document.getElementById(id);
    if (!element) throw new Error(`the page has no element '${id}'`);
    return element;
}

/**
 * Replaces all children. If one of them had the focus, the new one with its id has it.
 * @param {Element} element
 * @param {...(Node | string | null)} children
 */
export function fill(element, ...children) {
    const focused = document.activeElement;
    const id = focused && element.contains(focused) ? focused.id : "";
    element.replaceChildren(...present(children));
    if (id) document.getElementById(id)?.focus({ preventScroll: true });
}

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element of an SVG picture.
 * @param {string} tag
 * @param {{[name: string]: string | number}} [attributes]
 * @param {...(Node | string)} children
 * @returns {SVGElement}
 */
export function svg(tag, attributes = {}, ...children) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) {
        element.setAttribute(name, String(value));
    }
    element.append(...children);
    return /** @type {SVGElement} */ (element);
}

/**
 * Saves a text or bytes as a file of the reader.
 * @param {string} name
 * @param {string | Blob} content
 * @param {string} [type]
 */
export function save(name, content, type = "text/plain") {
    const blob = content instanceof Blob ? content : new Blob([content], { type });
    const link = h("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/**
 * A button that lets the reader choose files, which are opened as those that are dropped on the page.
 * @param {string} id of the field behind it
 * @param {string} label
 * @param {string} title
 */
export function chooser(id, label, title) {
    const field = h("input", { type: "file", multiple: true, hidden: true, id });
    field.addEventListener("change", () => {
        openFiles([...(field.files ?? [])]);
        // The same file may be chosen again.
        field.value = "";
    });
    return [h("button", { type: "button", title, onclick: () => field.click() }, label), field];
}

/** @param {Blob[]} files scenario files or traces, to be played on the stage */
export function openFiles(files) {
    dispatchEvent(new CustomEvent("bellwether-files", { detail: files }));
}

/**
 * Copies a text, and says so for a moment in the button that was pressed.
 * @param {string} text
 * @param {HTMLElement} button
 */
export async function copy(text, button) {
    const before = button.textContent;
    try {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
    } catch {
        // Without permission: show it, selected, to be copied by hand.
        prompt("Copy this:", text);
        return;
    }
    setTimeout(() => (button.textContent = before), 1200);
}

/** Whether the page is as narrow as a phone, so that all columns stand below each other. */
export const isNarrow = () => matchMedia("(max-width: 720px)").matches;

/**
 * On a phone, brings what was asked for into sight: it stands below what it was asked with.
 * @param {Element} element
 */
export function reveal(element) {
    if (isNarrow()) element.scrollIntoView({ block: "start" });
}

// Requests to the server. The token comes with the first address, in its fragment, and is kept for
// the life of this tab only; it never stays in the address bar, so a shared address does not have it.
// Who opens a shared address is asked for the address that the server printed.

import { askFor } from "./dialog.js";

/** What the server answers instead of a result: one line for people. */
export class Refused extends Error {
    /**
     * @param {string} message
     * @param {number} status
     */
    constructor(message, status) {
        super(message);
        this.status = status;
    }
}

const KEY = "bellwether-lab-token";

/** Takes the token out of the address, if it is there. */
export function takeToken() {
    const found = /([#&?])token=([^&]+)(&?)/.exec(location.hash);
    if (!found) return;
    const [whole, before, token, after] = found;
    sessionStorage.setItem(KEY, decoded(token));
    // What stood before it now stands before what comes after it.
    const rest = location.hash.replace(whole, after || before === "#" ? before : "");
    history.replaceState(null, "", rest.length > 1 ? rest : location.pathname);
}

/**
 * A part of an address as text. One that is not written as it should be is taken as it is.
 * @param {string} part
 */
function decoded(part) {
    try {
        return decodeURIComponent(part);
    } catch {
        return part;
    }
}

/** @type {Promise<boolean> | null} */
let pasting = null;

/**
 * Asks for the address that the server printed, and keeps its token; the address of this page stays.
 * @returns {Promise<boolean>} false if the reader closes it
 */
function pasteToken() {
    const text = "This tab has no token of this server. Paste the address that `bellwether lab` printed:";
    pasting ??= askFor(text, "").then((pasted) => {
        if (pasted === null) return false;
        const [, token = pasted] = /token=([^&\s]+)/.exec(pasted) ?? [];
        // Headers have no other characters.
        sessionStorage.setItem(KEY, decoded(token).replace(/[^\x21-\x7e]/g, ""));
        return true;
    }).finally(() => {
        pasting = null;
    });
    return pasting;
}

/** The header that every request has. */
const authorization = () => ({ Authorization: `Bearer ${sessionStorage.getItem(KEY) ?? ""}` });

/**
 * @param {string} path
 * @param {{body?: unknown, signal?: AbortSignal, method?: string}} [how]
 * @returns {Promise<Response>}
 */
async function request(path, how = {}) {
    const { body, signal, method } = how;
    /** @type {{[name: string]: string}} */
    const headers = authorization();
    /** @type {BodyInit | undefined} */
    let content;
    if (body instanceof Blob) content = body;
    else if (body !== undefined) {
        headers["Content-Type"] = "application/json";
        content = JSON.stringify(body);
    }
    const verb = method ?? (body === undefined ? "GET" : "POST");
    let response;
    try {
        response = await fetch(`/api/${path}`, { method: verb, headers, body: content, signal });
    } catch (error) {
        if (signal?.aborted) throw error;
        throw new Refused("the server does not answer: is `bellwether lab` still running?", 0);
    }
    if (response.ok) return response;
    const answer = await response.json().catch(() => null);
    if (response.status === 401 && !signal?.aborted) {
        if (await pasteToken()) return request(path, how);
        throw new Refused("this tab has no token: open the address that `bellwether lab` printed", 401);
    }
    throw new Refused(answer?.error ?? `${response.status} ${response.statusText}`, response.status);
}

/**
 * One JSON answer.
 * @param {string} path
 * @param {{body?: unknown, signal?: AbortSignal, method?: string}} [how]
 * @returns {Promise<any>}
 */
export const ask = async (path, how) => (await request(path, how)).json();

/**
 * One answer as text.
 * @param {string} path
 * @param {{body?: unknown, signal?: AbortSignal}} [how]
 */
export const askText = async (path, how) => (await request(path, how)).text();

/** The last line of a whole answer is one of these. */
const ENDS = ["end", "figure"];

/**
 * A stream of lines: `see` is called with each object and the text that it was read from.
 * @param {string} path
 * @param {{body?: unknown, signal?: AbortSignal, method?: string}} how
 * @param {(line: any, text: string) => void} see
 */
export async function stream(path, how, see) {
    const { signal } = how;
    const response = await request(path, how);
    const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
    const decoder = new TextDecoder();
    let [rest, kind] = ["", ""];
    const take = (/** @type {string} */ text) => {
        if (!text) return;
        const line = JSON.parse(text);
        if (line.lab === "error") throw new Refused(line.error, response.status);
        kind = line.lab ?? "";
        see(line, text);
    };
    const cutOff = () => new Refused("the answer was cut off: is `bellwether lab` still running?", 0);
    for (;;) {
        const { done, value } = await reader.read().catch((error) => {
            throw signal?.aborted ? error : cutOff();
        });
        rest += decoder.decode(value, { stream: !done });
        const lines = rest.split("\n");
        rest = lines.pop() ?? "";
        lines.forEach(take);
        if (done) break;
    }
    if (rest || !ENDS.includes(kind)) throw cutOff();
}

// The shapes of what the server sends and what the page keeps. Types only: nothing runs here, and
// no other module loads it at run time.

/**
 * One line of a trace; docs/traces.md lists the kinds and their fields.
 * @typedef {{
 *   t: number, node: number, kind: string,
 *   to?: any, from?: any, message?: string, number?: number, sent?: number, why?: string,
 *   timer?: string, bytes?: number, incarnation?: number, command?: string, taken?: boolean,
 *   reads?: number, members?: number[], peer?: number, up?: boolean,
 *   leaders?: any, term?: number, until?: number, stage?: string, fact?: string,
 *   [key: string]: any,
 * }} TraceRecord
 */

/**
 * What a process is and believes at one position of a run.
 * @typedef {{
 *   id: number,
 *   phase: "absent" | "up" | "paused" | "down",
 *   life: number,
 *   leaders: number[],
 *   term: number | null,
 *   stage: string,
 *   until: number,
 *   since: number,
 *   hold: Hold | null,
 *   ahead: number,
 *   facts: TraceRecord[],
 *   told: number,
 * }} ProcessState
 */

/**
 * A lock: whom it supports (nobody if `to` is null), and from when until when in record time.
 * @typedef {{to: number | null, from: number, until: number}} Hold
 */

/**
 * Something that holds from one time to another.
 * @template T
 * @typedef {{from: number, to: number, what: T}} Span
 */

/**
 * A message on its way to one receiver.
 * @typedef {{
 *   from: number, to: number, kind: string, number: number,
 *   sent: number, arrives: number, lost: string | null,
 *   sendAt: number, endAt: number,
 * }} Flight
 */

/**
 * The history of one process, for the space-time diagram.
 * @typedef {{
 *   id: number,
 *   phases: Span<string>[],
 *   beliefs: Span<{leaders: number[], term: number | null, stage: string}>[],
 *   holds: Span<number | null>[],
 * }} Lane
 */

/**
 * A place of a process, in the unit square.
 * @typedef {{x: number, y: number}} Place
 */

export {};

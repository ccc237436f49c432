// Times, numbers and names as people read them.

const UNITS = /** @type {[number, string][]} */ ([
    [60e9, "min"],
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "µs"],
    [1, "ns"],
]);

/**
 * A length of time in nanoseconds, with at most `digits` digits: `1.25 s`, `40 ms`.
 * @param {number} nanos
 * @param {number} [digits]
 */
export function span(nanos, digits = 4) {
    if (!Number.isFinite(nanos)) return "for ever";
    if (nanos === 0) return "0 s";
    const size = Math.abs(nanos);
    const [unit, name] = UNITS.find(([least]) => size >= least && least < 60e9) ?? [1, "ns"];
    return `${trim(nanos / unit, digits)} ${name}`;
}

/**
 * A point of time as a scenario file writes it, exact to the nanosecond: `1.250000001s`.
 * @param {number} nanos
 */
export function exact(nanos) {
    const whole = Math.round(nanos);
    const seconds = Math.floor(whole / 1e9);
    const rest = String(whole - seconds * 1e9).padStart(9, "0").replace(/0+$/, "");
    return rest ? `${seconds}.${rest}s` : `${seconds}s`;
}

/**
 * A time of the clock at the cursor, always in one unit so that digits do not jump.
 * @param {number} nanos
 * @param {number} whole the length of the run, which chooses the unit
 */
export function clock(nanos, whole) {
    if (whole < 1e9) return `${(nanos / 1e6).toFixed(whole < 2e8 ? 3 : 2)} ms`;
    return `${(nanos / 1e9).toFixed(whole < 2e10 ? 4 : 3)} s`;
}

/**
 * A number with at most `digits` significant digits and no trailing zeros.
 * @param {number} value
 * @param {number} [digits]
 */
export function trim(value, digits = 4) {
    if (!Number.isFinite(value)) return String(value);
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-4 || size >= 1e9)) return value.toExponential(digits - 1);
    if (size >= 10 ** digits) return String(Math.round(value));
    return String(Number(value.toPrecision(digits)));
}

/**
 * `1 message`, `2 messages`.
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export function count(count, one, many = `${one}s`) {
    return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/**
 * Steps of 1, 2 or 5 times a power of ten, of which about `wanted` cover `extent`.
 * @param {number} extent
 * @param {number} wanted
 */
export function roundStep(extent, wanted) {
    const rough = extent / Math.max(1, wanted);
    const power = 10 ** Math.floor(Math.log10(rough));
    const factor = [1, 2, 5, 10].find((times) => times * power >= rough) ?? 10;
    return factor * power;
}

// Finds the last of a list.

/**
 * The index of the last element that fits, or -1.
 * @template T
 * @param {T[]} list
 * @param {(one: T) => boolean} fits
 */
export function lastIndex(list, fits) {
    let index = list.length - 1;
    while (index >= 0 && !fits(list[index])) index -= 1;
    return index;
}

/**
 * The last element that fits.
 * @template T
 * @param {T[]} list
 * @param {(one: T) => boolean} fits
 * @returns {T | undefined}
 */
export const last = (list, fits) => list[lastIndex(list, fits)];

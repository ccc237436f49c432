// Messages on their way: every sending with each of its receptions and losses, found by time.

/** @typedef {import("./types.js").TraceRecord} TraceRecord */
/** @typedef {import("./types.js").Flight} Flight */

/** How many stretches of time have a list of their own. */
const BUCKETS = 512;

/** A lost message whose loss is recorded when it was sent is shown for this share of the way. */
export const LOST_AT = 0.55;

/** All flights of a run. */
export class Flights {
    /**
     * @param {TraceRecord[]} records in order of time
     * @param {number} from
     * @param {number} to
     */
    constructor(records, from, to) {
        this.from = from;
        this.width = Math.max(1, (to - from) / BUCKETS);
        /** @type {Flight[]} */
        this.all = collect(records);
        /** How long a message takes, in the middle; lost ones fade within that. */
        this.usual = middle(this.all.filter((one) => !one.lost).map((one) => one.arrives - one.sent));
        /** @type {Flight[][]} */
        this.buckets = Array.from({ length: BUCKETS + 1 }, () => []);
        for (const flight of this.all) {
            const last = this.bucket(this.end(flight));
            for (let at = this.bucket(flight.sent); at <= last; at += 1) this.buckets[at].push(flight);
        }
    }

    /** @param {number} t */
    bucket(t) {
        return Math.min(BUCKETS, Math.max(0, Math.floor((t - this.from) / this.width)));
    }

    /**
     * Until when it is shown.
     * @param {Flight} flight
     */
    end(flight) {
        return flight.lost ? Math.max(flight.arrives, flight.sent + this.usual) : flight.arrives;
    }

    /**
     * Calls `see` for every message on its way at a time and position, with the share of its way
     * that it has gone, and how much of it has faded.
     * @param {number} t
     * @param {number} position
     * @param {(flight: Flight, share: number, faded: number) => void} see
     */
    each(t, position, see) {
        for (const flight of this.buckets[this.bucket(t)]) {
            if (flight.sendAt >= position || flight.sent > t) continue;
            if (!flight.lost) {
                if (flight.endAt < position || flight.arrives < t) continue;
                const whole = flight.arrives - flight.sent;
                see(flight, whole > 0 ? (t - flight.sent) / whole : 1, 0);
            } else if (t <= this.end(flight)) {
                const whole = Math.max(1, this.end(flight) - flight.sent);
                const done = (t - flight.sent) / whole;
                const share = flight.arrives > flight.sent ? done : Math.min(done, LOST_AT);
                see(flight, share, done < LOST_AT ? 0 : (done - LOST_AT) / (1 - LOST_AT));
            }
        }
    }
}

/**
 * @param {TraceRecord[]} records
 * @returns {Flight[]}
 */
function collect(records) {
    /** @type {Map<string, number>} */
    const sends = new Map();
    /** @type {Flight[]} */
    const flights = [];
    records.forEach((record, index) => {
        if (record.kind === "send") {
            sends.set(`${record.node} ${record.number} ${record.t}`, index);
            sends.set(`${record.node} ${record.number}`, index);
        } else if (record.kind === "recv" || record.kind === "drop") {
            const { from, number = 0 } = record;
            // A live receiver does not know when it was sent: then it is the last of this number.
            const sendAt =
                sends.get(`${from} ${number} ${record.sent}`) ?? sends.get(`${from} ${number}`);
            if (sendAt === undefined) return;
            const sent = records[sendAt].t;
            flights.push({
                from,
                to: record.node,
                kind: record.message ?? "",
                number,
                sent,
                arrives: record.t,
                lost: record.kind === "drop" ? (record.why ?? "lost") : null,
                sendAt,
                endAt: index,
            });
        }
    });
    return flights;
}

/** @param {number[]} values */
function middle(values) {
    if (!values.length) return 1e8;
    values.sort((a, b) => a - b);
    return Math.max(1, values[values.length >> 1]);
}

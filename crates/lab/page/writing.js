// What a reader writes about the run that is shown: captions, what it comes to, and the whole scenario
// as text. All of it becomes part of the address.

import { ask } from "./api.js";
import { askFor, askForText } from "./dialog.js";
import { exact } from "./format.js";

/** @typedef {import("./address.js").Wanted} Wanted */
/** @typedef {import("./address.js").Caption} Caption */
/** @typedef {import("./address.js").Outcome} Outcome */

export class Writing {
    /**
     * @param {{
     *   wanted: Wanted, loaded: import("./load.js").Loaded | null, player: import("./player.js").Player,
     *   put: (wanted: Wanted) => Promise<boolean | null>, takeBack: (wanted: Wanted) => void,
     *   openText: (toml: string) => void,
     * }} stage
     */
    constructor(stage) {
        this.stage = stage;
    }

    /**
     * The captions of the run that is shown, as an address has them.
     * @returns {Caption[]}
     */
    get captions() {
        const { wanted, loaded } = this.stage;
        const told = loaded?.head.captions ?? [];
        return wanted.captions ?? told.map((/** @type {{at: number, text: string}} */ { at, text }) =>
            ({ at: exact(at), text }));
    }

    /**
     * Writes captions, or what the run comes to, in place of those that it has. If the server refuses
     * them they are taken back.
     * @param {{captions?: Caption[], outcome?: Outcome | null}} words
     */
    async tell(words) {
        const before = this.stage.wanted;
        if (await this.stage.put({ ...before, ...words }) === false) this.stage.takeBack(before);
    }

    /** Asks for a caption, which is shown from the cursor on. */
    async caption() {
        const { player } = this.stage;
        player.pause();
        const at = exact(player.t);
        const same = this.captions.find((caption) => caption.at === at);
        const text = await askFor("What is said from here on:", same?.text ?? "");
        if (!text) return;
        const captions = [...this.captions.filter((caption) => caption !== same), { at, text }];
        captions.sort((a, b) => Number.parseFloat(a.at) - Number.parseFloat(b.at));
        this.tell({ captions });
    }

    /** Asks for what the run comes to; it states who leads at the end, and what is broken first. */
    async conclude() {
        const { player, loaded } = this.stage;
        player.pause();
        const text = await askFor("What the run comes to:", loaded?.head.outcome?.text ?? "");
        const { leaders, broken } = loaded?.end ?? {};
        if (text) this.tell({ outcome: { leaders: leaders ?? [], broken, text } });
    }

    /** @param {number} index of a caption, or after all of them of the outcome */
    silence(index) {
        const { captions } = this;
        this.tell(index === captions.length ? { outcome: null }
            : { captions: captions.filter((_, at) => at !== index) });
    }

    /** Asks for the whole scenario as text: its title, parameters and all else. */
    async edit() {
        const { player, loaded } = this.stage;
        player.pause();
        const toml = await askForText("The scenario, as a file has it:", loaded?.head.toml ?? "",
            (toml) => ask("command", { body: { toml } }));
        if (toml) this.stage.openText(toml);
    }
}

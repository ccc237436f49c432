//! `docs/scenarios.md` lists every key, fault and value of a scenario file, and nothing else.
//!
//! The reader itself says what it knows: it names all keys when it refuses an unknown one.

use bellwether_sim::ScenarioFile;
use std::collections::BTreeSet;
use std::path::Path;

const HEAD: &str = "protocol = 'ad-hoc'\nnodes = 3\nuntil = '8s'\n";

/// Why a file with this text is refused, if it is.
fn refusal(text: &str) -> Option<String> {
    ScenarioFile::parse(&format!("{HEAD}{text}\n")).err().map(|bad| bad.to_string())
}

/// The words between backticks, without former spellings.
fn words(text: &str) -> BTreeSet<String> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| !word.contains('_'))
        .map(str::to_owned)
        .collect()
}

/// What the reader expects where this text has something unknown: words between backticks, or for a
/// table that belongs to a name, between commas.
fn expected(text: &str) -> BTreeSet<String> {
    let refusal = refusal(text).unwrap_or_else(|| panic!("{text} is read"));
    let said = refusal.split(" (in ").next().unwrap_or_default();
    if let Some((_, keys)) = said.split_once("available keys: ") {
        return keys.split(", ").map(str::to_owned).collect();
    }
    words(said.split_once("expected ").unwrap_or_else(|| panic!("{refusal}")).1)
}

/// The tables of the page, each as its rows of cells, by the text before them.
struct Page(String);

impl Page {
    /// The rows of the first table after this text.
    fn table(&self, after: &str) -> Vec<Vec<String>> {
        let (_, rest) = self.0.split_once(after).unwrap_or_else(|| panic!("no '{after}'"));
        let rows = rest.lines().skip_while(|line| !line.starts_with('|'));
        let rows = rows.take_while(|line| line.starts_with('|')).skip(2);
        let cells = |row: &str| row.split('|').skip(1).map(|cell| cell.trim().to_owned()).collect();
        rows.map(cells).collect()
    }

    /// The words in the first cells of that table.
    fn keys(&self, after: &str) -> BTreeSet<String> {
        self.table(after).iter().flat_map(|row| words(&row[0])).collect()
    }

    /// The words in the second cell of the row of this key.
    fn values(&self, after: &str, key: &str) -> BTreeSet<String> {
        let table = self.table(after);
        let row = table.iter().find(|row| words(&row[0]).contains(key));
        words(&row.unwrap_or_else(|| panic!("no row for {key}"))[1])
    }
}

const NETWORK: &str = "Keys of `[network]`";
const DELAY: &str = "A delay is one of";
const LOSS: &str = "A loss is one of";
const FAULTS: &str = "## Faults";
const KEYS: &str = "| `network` | `network` |";

fn page() -> Page {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scenarios.md");
    Page(std::fs::read_to_string(path).expect("it is part of the project"))
}

#[test]
fn the_reference_of_scenario_files_lists_every_key() {
    let page = page();
    let link = "network.links = [{ zzz = 1 }]";
    for (after, text) in [
        ("## The file", "zzz = 1"),
        ("Keys of a `[[caption]]`", "caption = [{ zzz = 1 }]"),
        ("Keys of the `[outcome]`", "outcome.zzz = 1"),
        (NETWORK, "network.zzz = 1"),
        (DELAY, "network.multicast.delay = { zzz = 1 }"),
        (LOSS, "network.unicast.loss = { zzz = 1 }"),
        ("Keys of a link", link),
        (FAULTS, "faults = [{ at = 1, what = 'zzz' }]"),
        (KEYS, "faults = [{ zzz = 1 }]"),
    ] {
        assert_eq!(page.keys(after), expected(text), "the table after '{after}'");
    }
    let channel = page.0.lines().find(|line| line.starts_with("Keys of a channel"));
    assert_eq!(channel.map(words), Some(expected("network.multicast.zzz = 1")));
}

#[test]
fn the_reference_of_scenario_files_lists_every_value() {
    let page = page();
    for (after, key, text) in [
        ("## The file", "ranks", "ranks = 'zzz'"),
        (DELAY, "uniform", "network.multicast.delay.uniform = { zzz = 1 }"),
        (DELAY, "exponential", "network.multicast.delay.exponential = { zzz = 1 }"),
        (DELAY, "log-normal", "network.multicast.delay.log-normal = { zzz = 1 }"),
        (LOSS, "bursts", "network.multicast.loss.bursts = { zzz = 1 }"),
        (KEYS, "disk", "faults = [{ at = 1, what = 'crash', disk = 'zzz' }]"),
        (KEYS, "life", "faults = [{ at = 1, what = 'crash', life = 'zzz' }]"),
    ] {
        assert_eq!(page.values(after, key), expected(text), "{key}");
    }
    // Two have a value that is more than a word.
    for (after, key, text) in [
        ("## The file", "order", "order = 'zzz'"),
        (NETWORK, "topology", "network.topology = 'zzz'"),
    ] {
        let listed: Vec<String> = page.values(after, key).into_iter().collect();
        for value in expected(text) {
            let opens = format!("{{ {value} = ");
            let named = |word: &String| *word == value || word.starts_with(&opens);
            assert!(listed.iter().any(named), "{key}: {value}");
        }
    }
}

/// A fault has the keys that remain when those are left out that it must not have.
#[test]
fn the_reference_of_scenario_files_lists_the_keys_of_every_fault() {
    let page = page();
    let all = [
        ("node", "1"),
        ("nominee", "0"),
        ("voter", "0"),
        ("with", "2"),
        ("lock", "'1s'"),
        ("drift-ppm", "5"),
        ("disk", "'kept'"),
        ("reboot", "true"),
        ("life", "'same'"),
        ("release", "'1s'"),
        ("by", "'1s'"),
        ("parts-per-billion", "5"),
        ("ends", "[0, 1]"),
        ("up", "true"),
        ("from", "[0]"),
        ("to", "[1]"),
        ("network", "{}"),
    ];
    for what in expected("faults = [{ at = 1, what = 'zzz' }]") {
        let mut keys = all.to_vec();
        loop {
            let fields: String =
                keys.iter().map(|(key, value)| format!(", {key} = {value}")).collect();
            let said = refusal(&format!("faults = [{{ at = '1s', what = '{what}'{fields} }}]"));
            let superfluous = said.as_deref().and_then(|said| said.split_once(" has no key `"));
            let Some((_, rest)) = superfluous else { break };
            keys.retain(|(key, _)| !rest.starts_with(&format!("{key}`")));
        }
        let keys: BTreeSet<String> = keys.iter().map(|(key, _)| (*key).to_owned()).collect();
        assert_eq!(page.values(FAULTS, &what), keys, "{what}");
    }
}

#[test]
fn the_former_spelling_of_a_key_is_still_read() {
    let with =
        |key| format!("{HEAD}faults = [{{ at = '1s', what = 'drift', node = 1, {key} = 7 }}]");
    let [now, before] = ["parts-per-billion", "parts_per_billion"]
        .map(|key| ScenarioFile::parse(&with(key)).expect("it is read").plan);
    assert_eq!(now, before);
    let missing = refusal("faults = [{ at = '1s', what = 'drift', node = 1 }]").unwrap();
    assert!(missing.contains("needs the key `parts-per-billion`"), "{missing}");
}

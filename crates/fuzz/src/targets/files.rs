//! Files and texts that people and members write.

use bellwether::analysis::sweep::piece::Key;
use bellwether::check::live::{Trace, judge};
use bellwether::check::replay::replay;
use bellwether::net::Peers;
use bellwether::sim::{Part, ScenarioFile};
use bellwether_net::Keyring;

/// The text, if it is one.
fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

fn assert_one_line(problem: &str) {
    assert!(!problem.is_empty() && !problem.contains('\n'), "an error is one line: {problem:?}");
}

/// A key file.
pub(super) fn key(bytes: &[u8]) -> bool {
    let Some(text) = text(bytes) else { return false };
    match Keyring::parse(text) {
        Ok(keyring) => {
            assert!(Keyring::parse(&keyring.to_text()).is_ok_and(|again| again == keyring));
            let shown = format!("{keyring:?}");
            let secret = |word: &&str| word.len() >= 64 && shown.contains(&word[..16]);
            assert!(!keyring.to_text().split("bwk1-").any(|word| secret(&word)), "{shown}");
            true
        }
        Err(bad) => {
            let problem = bad.to_string();
            assert_one_line(&problem);
            let secret = |word: &&str| word.len() >= 16 && problem.contains(*word);
            assert!(!text.split_whitespace().any(|word| secret(&word)), "an error shows a secret");
            false
        }
    }
}

pub(super) fn key_seeds() -> Vec<Vec<u8>> {
    let line = |digit: &str| format!("bwk1-{}\n", digit.repeat(64));
    let two = format!(
        "# the next one\n{}{} # and the former\n",
        line("1").trim(),
        line("ab")[..69].trim()
    );
    vec![
        line("5").into_bytes(),
        format!("{}{}", line("1"), line("2")).into_bytes(),
        two.into_bytes(),
    ]
}

/// A list of members.
pub(super) fn peers(bytes: &[u8]) -> bool {
    let Some(text) = text(bytes) else { return false };
    match text.parse::<Peers>() {
        Ok(peers) => {
            let again = peers.to_string().parse::<Peers>();
            assert!(again.is_ok_and(|again| again == peers), "{peers} comes back");
            true
        }
        Err(bad) => {
            assert_one_line(&bad.to_string());
            false
        }
    }
}

pub(super) fn peers_seeds() -> Vec<Vec<u8>> {
    let all = [
        "1=10.0.0.1:7400,2=10.0.0.2:7400,3=10.0.0.3:7400",
        "1=a.example:7400,2=[fd00::2]:7400",
        "dns:web.example:7400",
        "multicast:239.7.0.1:7400@eth0",
        "multicast:[ff02::77]:7400@eth0",
    ];
    all.map(|text| text.as_bytes().to_vec()).to_vec()
}

/// A file with settings of `bellwether run`.
pub(super) fn config(bytes: &[u8]) -> bool {
    let Some(text) = text(bytes) else { return false };
    let checked = bellwether::cli::check_settings(text);
    checked.as_ref().err().into_iter().for_each(|problem| assert_one_line(problem));
    checked.is_ok()
}

pub(super) fn config_seeds() -> Vec<Vec<u8>> {
    let all = [
        "group = \"web\"\nid = 1\npeers = [\"1=10.0.0.1:7400\", \"2=10.0.0.2:7400\"]\n\
         key = \"web.key\"\n[params]\npreset = \"fast\"\n",
        "group = \"web\"\ninsecure = true\npeers = \"1=10.0.0.1:7400\"\nvoters = [1]\n\
         on-change = [\"/x\", \"/y\"]\nhook-timeout = \"2s\"\ncommand = [\"sleep\", \"9\"]\n\
         grace = \"5ms\"\nmargin = \"3ms\"\n[params]\ntokens = \"durable\"\n",
        "group = \"a\"\nprotocol = \"bully\"\npeers = \"dns:x:1\"\nonce = true\nrank = 4\n\
         [params]\ndetector = \"heartbeats\"\nbeat = \"1s\"\n",
        "group = \"a\"\nprotocol = \"le-s\"\npeers = \"multicast:239.7.0.1:7400\"\n\
         [params]\nsuppress = \"200ms\"\nannounce = 1.5\n",
    ];
    all.map(|text| text.as_bytes().to_vec()).to_vec()
}

/// The description of a sweep.
pub(super) fn sweep(bytes: &[u8]) -> bool {
    let Some(text) = text(bytes) else { return false };
    let checked = bellwether::cli::check_sweep(text);
    checked.as_ref().err().into_iter().for_each(|problem| assert_one_line(problem));
    checked.is_ok()
}

pub(super) fn sweep_seeds() -> Vec<Vec<u8>> {
    let all = [
        "sim = \"le-s\"\nruns = 60\npiece = 20\nseed = 7\nmeasures = [\"messages\"]\n[fixed]\n\
         loss-model = \"correlated\"\nbye = true\n[[axis]]\nloss = [0.1, 0.3]\n[[axis]]\n\
         nodes = [5, 20]\nsuppress = [\"1s\", \"2s\"]\n",
        "analyze = [\"le-s.leadership-delay\"]\nconfidence = 0.9\n\
         runs = { relative = 0.1, of = \"messages\", first = 100, most = 1000 }\n[[axis]]\n\
         nodes = { from = 2, to = 9, count = 3, log = true, whole = true }\n[[axis]]\n\
         loss = { from = 0, to = 0.5, step = 0.1 }\n\
         delay = { from = \"1ms\", to = \"6ms\", count = 6 }\n",
    ];
    all.map(|text| text.as_bytes().to_vec()).to_vec()
}

/// A piece of a sweep, whose checksum is right.
pub(super) fn piece(bytes: &[u8]) -> bool {
    let Some(part) = piece_key().read(bytes) else { return false };
    let again = piece_key().decode(&piece_key().encode(&part));
    let values = |part: &Part| part.values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert!(again.is_some_and(|again| values(&again) == values(&part)), "{part:?} comes back");
    true
}

fn piece_key() -> Key {
    Key { command: "bellwether sim le-s".to_owned(), measures: Vec::new(), runs: 3..5 }
}

pub(super) fn piece_seeds() -> Vec<Vec<u8>> {
    let part = |measures: &[&str], values: &[f64]| Part {
        measures: measures.iter().map(ToString::to_string).collect(),
        values: values.to_vec(),
        settled: vec![true, false],
    };
    let all = [part(&["messages", "time"], &[1.5, f64::NAN, 3.0, 0.1]), part(&[], &[])];
    let content = |part: &Part| {
        let mut bytes = piece_key().encode(part);
        bytes.truncate(bytes.len() - 8); // the checksum
        bytes
    };
    all.iter().map(content).collect()
}

/// A scenario file.
pub(super) fn scenario(bytes: &[u8]) -> bool {
    let Some(text) = text(bytes) else { return false };
    match ScenarioFile::parse(text) {
        Ok(_) => true,
        Err(bad) => {
            assert!(!bad.to_string().is_empty());
            false
        }
    }
}

pub(super) fn scenario_seeds() -> Vec<Vec<u8>> {
    let all = [
        include_str!("../../../../scenarios/lease-majority.toml"),
        include_str!("../../../../scenarios/lease-roles.toml"),
        include_str!("../../../../scenarios/members-change.toml"),
        include_str!("../../../../scenarios/partition.toml"),
        include_str!("../../../../scenarios/ad-hoc-6-22.toml"),
        include_str!("../../../../scenarios/probabilistic-round.toml"),
        include_str!("../../../../scenarios/failover.toml"),
    ];
    all.map(|text| text.as_bytes().to_vec()).to_vec()
}

/// The trace of a member: read, replayed and judged.
pub(super) fn trace(bytes: &[u8]) -> bool {
    let Ok(trace) = Trace::parse("a", bytes) else { return false };
    let traces = [trace];
    let replayed = replay(&traces);
    let judged = judge(&traces, None, None);
    let by_faults = judge(&traces, traces.first(), None);
    let any = replayed.is_ok() || judged.is_ok();
    for bad in [replayed.err(), judged.err(), by_faults.err()].into_iter().flatten() {
        assert_one_line(&bad.to_string());
    }
    any
}

/// A member that leads alone, one that follows, and what a guardian wrote.
pub(super) fn trace_seeds() -> Vec<Vec<u8>> {
    let all = [
        &include_bytes!("../../seeds/alone.jsonl")[..],
        &include_bytes!("../../seeds/follower.jsonl")[..],
        &include_bytes!("../../seeds/work.jsonl")[..],
    ];
    all.map(<[u8]>::to_vec).to_vec()
}

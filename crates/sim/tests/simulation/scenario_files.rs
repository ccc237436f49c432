//! Scenario files: errors name the line, the key and the rule, and a written file is read as the
//! same run.

use bellwether_core::Duration;
use bellwether_protocols::promise::Promise;
use bellwether_sim::network::Probability;
use bellwether_sim::{Disk, Fault, Network, Order, Plan, Renumbered, ScenarioFile, Timed, Who};

const HEAD: &str = "protocol = \"le-s\"\nnodes = 3\nuntil = \"8s\"\n";
const RING: &str = "protocol = \"ring\"\nnodes = 3\nuntil = \"8s\"\n";

/// Why a file is refused.
fn refused(text: &str) -> String {
    match ScenarioFile::parse(text) {
        Ok(_) => panic!("this should be refused:\n{text}"),
        Err(bad) => bad.to_string(),
    }
}

/// Why a file with this fault is refused. Its table begins at line 4, its keys at line 5.
fn refused_fault(fault: &str) -> String {
    refused(&format!("{HEAD}[[faults]]\n{fault}\n"))
}

fn is_read(text: &str) {
    ScenarioFile::parse(text).unwrap_or_else(|bad| panic!("{bad}\n{text}"));
}

#[test]
fn what_a_scenario_is_about_need_not_be_said_and_hides_no_other_mistake() {
    is_read(HEAD);
    assert_eq!(refused("nodes = 3\nuntil = \"8s\"\n"), "missing field `protocol`");
    let unknown = refused(&format!("{HEAD}bogus = 1\n"));
    assert!(unknown.starts_with("line 4: unknown field `bogus`"), "{unknown}");
    let protocol = refused(&HEAD.replace("le-s", "le-x"));
    assert!(protocol.starts_with("line 1: protocol = \"le-x\", but no protocol"), "{protocol}");
}

#[test]
fn a_value_that_is_none_is_refused_with_its_line_and_key() {
    for (fault, said) in [
        (
            "at = 1\nwhat = \"crash\"\nnode = -1",
            "line 7: node = -1, but a node is a number from 0 on or the word \"leader\" \
             (in `faults.node`)",
        ),
        (
            "at = 1\nwhat = \"crash\"\nnode = \"chief\"",
            "line 7: node = \"chief\", but a node is a number from 0 on or the word \"leader\" \
             (in `faults.node`)",
        ),
        (
            "at = 1\nwhat = \"crash\"\nnode = 7",
            "line 7: process 7 is named, but with nodes = 3 ids end at 2 (in `faults.node`)",
        ),
    ] {
        assert_eq!(refused_fault(fault), said);
    }
    for (fault, start, end) in [
        ("at = 1\nwhat = \"explode\"", "line 6: unknown variant `explode`", "(in `faults.what`)"),
        ("at = \"soon\"\nwhat = \"heal\"", "line 5: ", "(in `faults.at`)"),
        ("at = 1\nwhat = \"crash\"\nnode = true", "line 7: invalid type", "(in `faults.node`)"),
        ("at = 1\nwhat = \"slow\"\nnode = 1\nby = -3", "line 8: ", "(in `faults.by`)"),
    ] {
        let said = refused_fault(fault);
        assert!(said.starts_with(start) && said.ends_with(end), "{said}");
    }
    let loss = refused(&format!("{HEAD}[network.multicast]\nloss = {{ uncorrelated = 2 }}\n"));
    assert!(loss.starts_with("line 5: '2' breaks the rule"), "{loss}");
    assert!(loss.contains("(in `network.multicast.loss"), "{loss}");
    let listen = refused(&format!("{HEAD}[params]\nlisten = \"x\"\n"));
    assert!(listen.starts_with("line 5: ") && listen.ends_with("(in `params.listen`)"), "{listen}");
    let rule = refused(&format!("{HEAD}[params]\nannounce = 0\n"));
    assert!(rule.starts_with("line 4: ") && rule.ends_with("(in `params`)"), "{rule}");
}

#[test]
fn a_key_that_a_fault_does_not_have_is_refused_and_so_is_one_that_is_missing() {
    assert_eq!(
        refused_fault("at = 1\nwhat = \"heal\"\nnode = 1"),
        "line 7: what = \"heal\" has no key `node`; leave it out (in `faults.node`)"
    );
    assert_eq!(
        refused_fault("at = 1\nwhat = \"crash\"\nnode = 1\nreboot = true"),
        "line 8: what = \"crash\" has no key `reboot`; leave it out (in `faults.reboot`)"
    );
    let unknown = refused_fault("at = 1\nwhat = \"heal\"\nall = true");
    assert!(unknown.starts_with("line 7: unknown field `all`"), "{unknown}");
    assert_eq!(
        refused_fault("at = 1\nwhat = \"slow\"\nnode = 1"),
        "line 4: what = \"slow\" needs the key `by`; add it (in `faults.by`)"
    );
}

#[test]
fn faults_that_can_have_no_effect_are_refused() {
    for (fault, said) in [
        (
            "at = \"9s\"\nwhat = \"crash\"\nnode = 1",
            "line 5: at = 9s, but the run ends before that, at until = 8s; make `until` later, \
             or leave the fault out (in `faults.at`)",
        ),
        (
            "at = 1\nwhat = \"restart\"\nnode = 1",
            "line 7: process 1 is running already, because no fault before this stops it; crash \
             it first, or name it in `absent` (in `faults.node`)",
        ),
        (
            "at = 1\nwhat = \"resume\"\nnode = 1",
            "line 7: process 1 is not paused, because no fault before this pauses it; pause it \
             first (in `faults.node`)",
        ),
    ] {
        assert_eq!(refused_fault(fault), said);
    }
    for what in ["join", "renumber"] {
        let life = if what == "renumber" { "life = \"same\"" } else { "" };
        let said = refused_fault(&format!("at = 1\nwhat = \"{what}\"\nnode = 1\n{life}"));
        assert!(said.contains("process 1 is running already"), "{said}");
    }
    let link = refused_fault("at = 1\nwhat = \"link\"\nends = [0, 1]\nup = false");
    assert!(link.starts_with("line 7: ") && link.contains("graph"), "{link}");
}

#[test]
fn what_a_fault_before_it_makes_possible_is_read() {
    let fault = |what: &str, node: &str| format!("[[faults]]\nat = 1\n{what}\nnode = {node}\n");
    let [crash, restart] = ["what = \"crash\"", "what = \"restart\""];
    let [pause, resume] = ["what = \"pause\"", "what = \"resume\""];
    for (before, then) in [(crash, restart), (pause, resume), ("what = \"leave\"", restart)] {
        is_read(&format!("{HEAD}{}{}", fault(before, "1"), fault(then, "1")));
        // The leader at that time is not known before the run.
        is_read(&format!("{HEAD}{}{}", fault(before, "\"leader\""), fault(then, "1")));
        is_read(&format!("{HEAD}{}{}", fault(before, "1"), fault(then, "\"leader\"")));
        let other = refused(&format!("{HEAD}{}{}", fault(before, "1"), fault(then, "2")));
        assert!(other.starts_with("line 11: process 2 is"), "{other}");
    }
    is_read(&format!("{HEAD}absent = [1]\n{}", fault("what = \"join\"", "1")));
}

#[test]
fn a_fault_that_nothing_before_it_makes_possible_is_refused() {
    let fault = |what: &str| format!("[[faults]]\nat = 1\n{what}\n");
    let [crash, other] = ["what = \"crash\"\nnode = 1", "what = \"crash\"\nnode = 2"].map(fault);
    let restart = fault("what = \"restart\"\nnode = 1");
    let leave = fault("what = \"leave\"\nnode = 1");
    let [slow, fast] =
        ["5ms", "0s"].map(|by| fault(&format!("what = \"slow\"\nnode = 1\nby = \"{by}\"")));
    let cut = fault("what = \"cut\"\nfrom = [0]\nto = [1]");
    let heal = fault("what = \"heal\"");
    let mend = fault("what = \"heal\"\nfrom = [0]\nto = [1]");
    for (faults, why) in [
        ([&crash, &crash], "process 1 is stopped already"),
        ([&leave, &crash], "process 1 is stopped already"),
        ([&other, &fast], "process 1 is not slow"),
        ([&crash, &heal], "nothing is cut"),
        ([&crash, &mend], "nothing is cut"),
    ] {
        let told = refused(&format!("{HEAD}{}{}", faults[0], faults[1]));
        assert!(told.contains(why), "{told}");
    }
    for faults in [[&cut, &heal], [&cut, &mend], [&slow, &fast], [&other, &crash]] {
        is_read(&format!("{HEAD}{}{}", faults[0], faults[1]));
    }
    is_read(&format!("{HEAD}{crash}{restart}{crash}"));
    let pause = fault("what = \"pause\"\nnode = 1");
    is_read(&format!("{HEAD}{pause}{leave}{crash}"));
}

#[test]
fn keys_that_the_protocol_has_no_use_for_are_refused() {
    is_read(&format!("{RING}order = \"random\"\ndetection = \"0s\"\n"));
    assert_eq!(
        refused(&format!("{HEAD}order = \"random\"\n")),
        "line 4: this has no effect, because le-s has no ring; leave it out (in `order`)"
    );
    let told = refused(&format!("{HEAD}detection = \"1s\"\n"));
    assert!(told.starts_with("line 4: this has no effect, because le-s is not told"), "{told}");
    for (key, why) in [
        ("ranks = \"random\"", "chooses by something else with these parameters"),
        ("view = 0.5", "keeps no list of the others, and hears whoever speaks"),
    ] {
        let unused = refused(&format!("{HEAD}{key}\n"));
        let told = format!("line 4: this has no effect, because le-s {why}; leave it out");
        assert!(unused.starts_with(&told), "{unused}");
    }
    is_read(&format!("{HEAD}ranks = \"random\"\nparams.criterion = \"rank\"\n"));
    let told = refused(&format!("{HEAD}unknown-first-lives = true\n"));
    let why = "line 4: this has no effect, because le-s has no leases, and begins every life alike";
    assert!(told.starts_with(why), "{told}");
    let variant = refused(&format!("{HEAD}[params]\nvariant = \"le-a\"\n"));
    assert!(variant.starts_with("line 5: unknown field `variant`"), "{variant}");
}

/// One fault of every kind.
fn all_faults() -> Vec<Timed> {
    let (node, by) = (Who::Node(1), Duration::from_millis(5));
    let faults = [
        Fault::Slow { node, by },
        Fault::Drift { node, parts_per_billion: -200 },
        Fault::Jump { node, by },
        Fault::Pause { node },
        Fault::Resume { node },
        Fault::Resign { node: Who::Leader },
        Fault::Transfer { node: Who::Leader, nominee: 2 },
        Fault::Campaign { node },
        Fault::Add { node, voter: 2 },
        Fault::Remove { node: Who::Leader, voter: 0 },
        Fault::Replace { node, voter: 0, with: 2 },
        Fault::Link { ends: (0, 2), up: false },
        Fault::Cut { from: vec![0], to: vec![1, 2] },
        Fault::Heal,
        Fault::Mend { from: vec![0], to: vec![2] },
        Fault::Network { network: Box::default() },
        Fault::Crash { node },
        Fault::Renumber { node, life: Renumbered::Lower },
        Fault::Restart { node, disk: Disk::Torn, reboot: true },
        Fault::Kill { node, release: Duration::from_millis(3) },
        Fault::Release { node },
        Fault::Leave { node: Who::Node(0) },
        Fault::Join { node: Who::Node(2) },
    ];
    let at = |(number, fault)| Timed { at: Duration::from_millis(number), fault };
    (1..).zip(faults).map(at).collect()
}

#[test]
fn what_is_written_is_read_as_the_same_plan() {
    let mut network = Network::default();
    network.topology =
        bellwether_sim::network::Topology::Graph { links: vec![(0, 1), (1, 2), (0, 2)] };
    let horizon = Duration::from_secs(8);
    let ring = Plan {
        order: Order::Listed(vec![2, 0, 1]),
        processing: Duration::from_millis(3),
        detection: Some(Duration::from_millis(7)),
        drift: 9,
        offset: Duration::from_secs(2),
        horizon,
        ..Plan::new(3)
    };
    let graph = Plan { absent: vec![2], network, faults: all_faults(), horizon, ..Plan::new(3) };
    let seen = Plan { view: Probability::try_from(0.5).unwrap(), horizon, ..Plan::new(3) };
    let roles = Plan { priorities: vec![0, 5], witnesses: vec![2], horizon, ..Plan::new(3) };
    for (protocol, plan) in
        [("ring", ring), ("ad-hoc", graph), ("probabilistic", seen), ("local-leader", roles)]
    {
        let none = toml::Table::new();
        let text = ScenarioFile::write("all of it", protocol, &none, &plan, 5).unwrap();
        let file = ScenarioFile::parse(&text).unwrap_or_else(|bad| panic!("{bad}\n{text}"));
        assert_eq!((file.plan, file.seed, file.about.as_str()), (plan, 5, "all of it"));
    }
}

#[test]
fn a_file_says_by_which_promise_its_run_is_judged() {
    let (none, plan, promise) = (toml::Table::new(), Plan::new(3), Some(Promise::NeverTwo));
    let text = ScenarioFile::write_judged("", "le-s", &none, &plan, 1, promise).unwrap();
    let file = ScenarioFile::parse(&text).unwrap_or_else(|bad| panic!("{bad}\n{text}"));
    assert_eq!(file.promise, promise);
    assert_eq!(file.to_toml(&none), Ok(text.clone()));
    let own = text.replace("promise = \"never-two\"\n", "");
    assert_eq!(ScenarioFile::parse(&own).unwrap().promise, None);
    let bad = ScenarioFile::parse(&text.replace("never-two", "zzz")).unwrap_err().to_string();
    assert!(bad.contains("'zzz' is no promise") && bad.ends_with("(in `promise`)"), "{bad}");
}

#[test]
fn roles_of_whom_there_is_not_or_without_effect_or_of_all_are_refused() {
    for (protocol, written, why) in [
        ("local-leader", "witnesses = [3]", "process 3 is named, but with nodes = 3 ids end at 2"),
        ("local-leader", "witnesses = [0, 1, 2]", "all 3 processes are witnesses"),
        ("local-leader", "priorities = [1, 2, 3, 4]", "more priorities than nodes = 3"),
        ("local-leader", "params.mode = 'local'\npriorities = [1]", "has no priorities"),
        ("le-s", "witnesses = [0]", "le-s has no priorities and witnesses"),
    ] {
        let text = format!("protocol = '{protocol}'\nnodes = 3\nuntil = '1s'\n{written}\n");
        let bad = ScenarioFile::parse(&text).expect_err(written).to_string();
        assert!(bad.contains(why), "{written}: {bad}");
    }
}

#[test]
fn faults_without_effect_are_not_written() {
    let resume = Timed { at: Duration::ZERO, fault: Fault::Resume { node: Who::Node(0) } };
    let plan = Plan { faults: vec![resume], ..Plan::new(3) };
    let text = ScenarioFile::write("", "le-s", &toml::Table::new(), &plan, 1).unwrap();
    assert_eq!(ScenarioFile::parse(&text).unwrap().plan, Plan::new(3));
}

/// As `check le-s --promise never-two` of an earlier release wrote it: with a patience and a spread
/// of replies, which le-s does not have.
const EARLIER: &str = include_str!("earlier.toml");

#[test]
fn a_file_that_an_earlier_release_wrote_is_read() {
    let file = ScenarioFile::parse(EARLIER).unwrap_or_else(|bad| panic!("{bad}"));
    assert!(EARLIER.contains("patience = \"0.300000001s\""));
    let own = EARLIER.replace("patience = \"0.300000001s\"\nreply-spread = \"0.1s\"\n", "");
    assert_eq!(ScenarioFile::parse(&own).unwrap().choice, file.choice, "it has no effect");
    // Whoever writes a file by hand does not spell out all that has its default.
    let told = refused(&own.replace("timer = \"uniform\"", "patience = \"1s\""));
    assert!(told.contains("patience has no effect with protocol = le-s"), "{told}");
}

#[test]
fn a_fault_that_one_added_later_has_made_idle_is_left_out() {
    let crash = |at: u32| format!("[[faults]]\nat = {at}\nwhat = \"crash\"\nnode = 1\n");
    let restart = "[[faults]]\nat = 3\nwhat = \"restart\"\nnode = 1\n";
    let text = format!("{HEAD}{}{}{restart}", crash(1), crash(2));
    let times = |added: &[usize]| -> Result<Vec<Duration>, String> {
        let read = ScenarioFile::parse_added(&text, added).map_err(|bad| bad.to_string())?;
        Ok(read.plan.faults.iter().map(|timed| timed.at).collect())
    };
    let [one, three] = [1, 3].map(Duration::from_secs);
    assert_eq!(times(&[2, 0, 0]), Ok(vec![one, three]));
    assert_eq!(times(&[2, 0, 1]), Ok(vec![one, three]));
    for idle_from_the_beginning in [&[][..], &[0, 1, 2], &[0, 2, 1]] {
        let told = times(idle_from_the_beginning).unwrap_err();
        assert!(told.contains("process 1 is stopped already"), "{told}");
    }
}

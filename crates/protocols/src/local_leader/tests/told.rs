//! What a process tells of its votes and requests.

use super::*;

/// Its facts of votes and requests.
fn told(process: &Process) -> Vec<Fact> {
    process.facts().into_iter().filter(Fact::is_of_votes).collect()
}

const LIFE: Fact = Fact::Life { number: 1 };

fn record(highest: u64, granted: Option<u64>) -> Fact {
    Fact::Record { highest, granted: granted.map(|node| (NodeId(node), 1)) }
}

#[test]
fn a_voter_tells_what_it_granted_and_stored() {
    let mut process = start(3, majority());
    assert_eq!(told(&process), [LIFE, record(0, None)]);
    until(&mut process, 10);
    hear(&mut process, 1, in_term(4, ask(5)));
    let granted = Fact::Granted { life: 1, sent: at(5) };
    assert_eq!(told(&process), [LIFE, record(4, Some(1)), granted]);
    until(&mut process, 161);
    assert_eq!(told(&process), [LIFE, record(4, Some(1))], "its lock has lapsed");
}

#[test]
fn a_candidate_tells_its_last_request_and_what_it_gave_up() {
    let mut process = leader(majority());
    let request = |sent| Fact::Request { sent: at(sent), term: 1 };
    let granted = Fact::Granted { life: 1, sent: at(25) };
    assert_eq!(told(&process), [LIFE, record(1, Some(1)), granted, request(25)]);
    assert!(process.command(Command::Resign).is_ok());
    assert_eq!(told(&process), [LIFE, record(1, Some(1)), Fact::GaveUp { sent: at(25) }]);
}

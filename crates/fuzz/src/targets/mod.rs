//! The targets.

mod files;
mod frames;
mod messages;
mod requests;
mod story;

use crate::Target;
use bellwether_net::fuzzing;

/// All targets.
pub fn targets() -> Vec<Target> {
    let mut all = vec![
        Target::new("frame", "a datagram, as it comes", frames::raw, frames::raw_seeds()),
        Target::new(
            "frame-sealed",
            "authentic frames with any header and body",
            frames::sealed,
            frames::sealed_seeds(),
        ),
        Target::new(
            "bodies",
            "beacons, address books and requests to join",
            fuzzing::bodies::read,
            fuzzing::bodies::seeds(),
        ),
        Target::new("state", "the state file", fuzzing::state::read, fuzzing::state::seeds()),
        Target::new("book", "the address book", fuzzing::book::read, fuzzing::book::seeds()),
        Target::new(
            "control",
            "questions and answers at the control socket",
            fuzzing::control::read,
            fuzzing::control::seeds(),
        ),
        Target::new(
            "guardian",
            "what member, guardian and watchdog tell each other",
            fuzzing::guardian::read,
            fuzzing::guardian::seeds(),
        ),
        Target::new(
            "keys",
            "what members say to each other about keys",
            fuzzing::keys::read,
            fuzzing::keys::seeds(),
        ),
        Target::new("key", "a key file", files::key, files::key_seeds()),
        Target::new("peers", "a list of members", files::peers, files::peers_seeds()),
        Target::new(
            "config",
            "a file with settings of `run`",
            files::config,
            files::config_seeds(),
        ),
        Target::new("sweep", "the description of a sweep", files::sweep, files::sweep_seeds()),
        Target::new("piece", "a piece of a sweep", files::piece, files::piece_seeds()),
        Target::new("scenario", "a scenario file", files::scenario, files::scenario_seeds()),
        Target::new("trace", "a recorded trace", files::trace, files::trace_seeds()),
        Target::new(
            "requests",
            "what pages ask of the laboratory",
            requests::read,
            requests::seeds(),
        ),
    ];
    all.extend(messages::targets());
    all
}

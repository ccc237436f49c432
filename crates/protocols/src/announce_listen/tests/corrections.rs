//! Where the handlers depart from the printed programs, one test for each point of the list in the
//! [module's page](super::super). Each fails when its correction is undone.

use super::*;

/// Departs from Program 5.1, lines 6-8, and Program 5.2, lines 6-8: as printed only a *greater*
/// address sets the listen timer, never the leader's own.
#[test]
fn the_leader_s_own_announcements_renew_the_trust_in_it() {
    for variant in [Variant::LeA, Variant::LeS] {
        let mut process = follower(5, 9, config(variant), &[luck(300)]);
        hear(process.wait(ms(1000)), 9);
        process.expect(&[arm(Timer::Listen, 4000)], &[9], Stage::Decided);
        hear(process.wait(ms(2000)), 9);
        process.expect(&[arm(Timer::Listen, 6000)], &[9], Stage::Decided);
        process.timeout();
        process.expect(&[], &[9], Stage::Decided);
    }
    // Program 5.1, line 6; Program 5.2, line 6.
}

/// The same programs to the letter, to show the effect of the correction.
#[test]
fn as_printed_trust_ends_though_the_leader_announces() {
    let printed = |variant| Config { as_printed: true, ..config(variant) };
    let mut process = follower(5, 9, printed(Variant::LeS), &[luck(300)]);
    hear(process.wait(ms(1000)), 9);
    process.expect(&[], &[9], Stage::Decided);
    process.draws(&[luck(300)]).ring();
    process.expect(&[arm(Timer::Wake, 3300), disarm(Timer::Listen)], &[5], Stage::Undecided);
}

/// Departs from Program 5.1, lines 10-14, and Program 5.2, lines 11-18: as printed, by their
/// indentation, they belong to the receive branch of line 5.
#[test]
fn timers_run_out_though_no_message_ever_arrives() {
    let mut announcing = start(5, config(Variant::LeA), &[]);
    announcing.ring();
    announcing.expect(&[say(5), arm(Timer::Announce, 2000)], &[5], Stage::Decided);

    let mut suppressing = start(5, config(Variant::LeS), &[luck(300)]);
    suppressing.ring();
    suppressing.expect(&[say(5), arm(Timer::Announce, 1300)], &[5], Stage::Decided);

    let mut listening = follower(5, 9, config(Variant::LeA), &[]);
    listening.ring();
    let effects = [say(5), arm(Timer::Announce, 4000), disarm(Timer::Listen)];
    listening.expect(&effects, &[5], Stage::Decided);
    // Program 5.1, lines 10-14; Program 5.2, lines 11-18.
}

/// Settles Program 5.2, line 6, against the suppression of the earlier chapters, where any message
/// suppresses: the comparison is with the process itself while it waits, also when it waits anew
/// after lines 11-14.
#[test]
fn a_smaller_address_suppresses_nobody() {
    let mut process = start(5, config(Variant::LeS), &[luck(300)]);
    process.wait(ms(100)).ignores(4, Message::Announce(plain(4)));
    process.expect(&[], &[5], Stage::Undecided);

    let mut again = follower(5, 9, config(Variant::LeS), &[luck(300)]);
    again.draws(&[luck(300)]).ring();
    again.ignores(4, Message::Announce(plain(4)));
    again.expect(&[], &[5], Stage::Undecided);
    // Program 5.2, lines 1, 6 and 12; section 5.1.2, last paragraph.
}

/// Settles what Program 5.1, lines 5-14, and Program 5.2, lines 5-18, leave to the order of their
/// tests: a message that arrives at the very end of trust still counts. The driver hands it in
/// first; the handler must not look at the clock before it.
#[test]
fn a_message_at_the_very_end_of_trust_comes_before_the_timer() {
    let mut process = follower(5, 9, config(Variant::LeS), &[luck(300)]);
    hear(process.wait(ms(3000)), 9);
    process.expect(&[arm(Timer::Listen, 6000)], &[9], Stage::Decided);
    process.timeout();
    process.expect(&[], &[9], Stage::Decided);

    let mut suppressing = start(5, config(Variant::LeS), &[luck(300)]);
    hear(suppressing.wait(ms(300)), 9);
    let effects = [disarm(Timer::Wake), arm(Timer::Listen, 3300)];
    suppressing.expect(&effects, &[9], Stage::Decided);
    suppressing.timeout();
    suppressing.expect(&[], &[9], Stage::Decided);
    // Program 5.1, lines 5 and 10-11; Program 5.2, lines 5, 11 and 15.
}

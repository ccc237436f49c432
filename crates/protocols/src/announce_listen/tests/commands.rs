//! Commands of the application: resign, campaign, transfer. Ranks and leaving have their own files.

use super::*;

fn retired(standing: u64) -> u64 {
    weigh(Class::Retired, standing)
}

#[track_caller]
fn refuses(process: &mut Process, command: Command, why: Refused) {
    let before = process.node().clone();
    assert_eq!(process.command(command).map(|_| ()), Err(why));
    assert_eq!(*process.node(), before);
}

#[test]
fn nobody_transfers_leadership_to_a_process_of_its_choice() {
    for variant in Variant::ALL {
        let mut process = start(5, config(variant), &[luck(300)]);
        refuses(&mut process, Command::Transfer(NodeId(9)), Refused::Unsupported);
    }
}

#[test]
fn a_leader_that_resigns_says_so_and_stands_with_the_lowest_claim() {
    let mut process = start(5, config(Variant::LeA), &[]);
    process.wait(ms(400)).command(Command::Resign).unwrap();
    let effects = [
        bye(),
        disarm(Timer::Announce),
        say_weight(retired(5)),
        arm(Timer::Announce, 1400),
        disarm(Timer::Listen),
    ];
    process.expect(&effects, &[5], Stage::Decided);
}

#[test]
fn a_leader_of_le_s_that_resigns_waits_before_it_stands_again() {
    let mut process = start(5, config(Variant::LeS), &[luck(300), luck(600)]);
    process.ring().command(Command::Resign).unwrap();
    let effects = [bye(), disarm(Timer::Announce), arm(Timer::Wake, 900), disarm(Timer::Listen)];
    process.expect(&effects, &[5], Stage::Undecided);
}

#[test]
fn a_resigned_leader_gives_way_to_anyone_who_did_not_resign() {
    let mut process = start(5, config(Variant::LeA), &[]);
    process.command(Command::Resign).unwrap();
    process.ignores(3, Message::Announce(retired(3)));
    hear(&mut process, 1);
    let effects = [disarm(Timer::Announce), arm(Timer::Listen, 3000)];
    process.expect(&effects, &[1], Stage::Decided);
    process.ring();
    let effects = [say_weight(retired(5)), arm(Timer::Announce, 4000), disarm(Timer::Listen)];
    process.expect(&effects, &[5], Stage::Decided);
}

#[test]
fn resigning_says_as_many_goodbyes_as_leaving_and_at_least_one() {
    for (copies, said) in [(0, 1), (1, 1), (3, 3)] {
        let config = Config { bye_copies: copies, ..config(Variant::LeA) };
        let mut process = start(5, config, &[]);
        process.command(Command::Resign).unwrap();
        let byes = process.effects().iter().filter(|effect| **effect == bye()).count();
        assert_eq!(byes, said);
    }
}

#[test]
fn only_a_leader_can_resign() {
    refuses(&mut follower(5, 9, config(Variant::LeA), &[]), Command::Resign, Refused::NotLeading);
    refuses(
        &mut start(5, config(Variant::LeS), &[luck(300)]),
        Command::Resign,
        Refused::NotLeading,
    );
    refuses(&mut start(5, config(Variant::Query), &[]), Command::Resign, Refused::NotLeading);
}

#[test]
fn where_no_claim_beats_another_there_is_nothing_to_resign_from_or_campaign_for() {
    use Variant as V;
    for variant in [V::Sup, V::Al, V::SupAlElect, V::SupAlLimit, V::SupAlSpread] {
        let mut process = start(5, config(variant), &[luck(0)]);
        process.draws(&[luck(0)]).ring();
        refuses(&mut process, Command::Resign, Refused::Unsupported);
        refuses(&mut process, Command::Campaign, Refused::Unsupported);
    }
}

#[test]
fn a_follower_that_campaigns_forgets_its_leader_and_stands() {
    let mut process = follower(5, 9, config(Variant::LeA), &[]);
    process.wait(ms(400)).command(Command::Campaign).unwrap();
    let effects = [say(5), arm(Timer::Announce, 1400), disarm(Timer::Listen)];
    process.expect(&effects, &[5], Stage::Decided);
    hear(&mut process, 9);
    let effects = [disarm(Timer::Announce), arm(Timer::Listen, 3400)];
    process.expect(&effects, &[9], Stage::Decided);
}

#[test]
fn a_leader_that_campaigns_begins_anew() {
    let mut process = start(5, config(Variant::LeS), &[luck(300), luck(600)]);
    process.ring().command(Command::Campaign).unwrap();
    let effects = [disarm(Timer::Announce), arm(Timer::Wake, 900), disarm(Timer::Listen)];
    process.expect(&effects, &[5], Stage::Undecided);
}

#[test]
fn a_waiting_process_that_campaigns_draws_again() {
    let mut process = start(5, config(Variant::LeS), &[luck(300), luck(600)]);
    process.command(Command::Campaign).unwrap();
    let effects = [disarm(Timer::Wake), arm(Timer::Wake, 600), disarm(Timer::Listen)];
    process.expect(&effects, &[5], Stage::Undecided);
}

#[test]
fn an_asking_process_that_campaigns_asks_again() {
    let mut process = start(5, config(Variant::Query), &[]);
    process.wait(ms(100)).command(Command::Campaign).unwrap();
    let effects = [disarm(Timer::Wake), ask(5), arm(Timer::Wake, 300), disarm(Timer::Listen)];
    process.expect(&effects, &[5], Stage::Undecided);
}

#[test]
fn campaigning_takes_a_resignation_back() {
    let mut process = start(5, config(Variant::LeA), &[]);
    process.command(Command::Resign).unwrap();
    process.command(Command::Campaign).unwrap();
    let effects =
        [disarm(Timer::Announce), say(5), arm(Timer::Announce, 1000), disarm(Timer::Listen)];
    process.expect(&effects, &[5], Stage::Decided);
}

#[test]
fn one_of_several_leaders_that_campaigns_forgets_the_others() {
    let mut process = start(5, Config { leaders: 3, ..config(Variant::LeA) }, &[]);
    hear(&mut process, 9);
    process.command(Command::Campaign).unwrap();
    let effects =
        [disarm(Timer::Announce), say(5), arm(Timer::Announce, 1000), disarm(Timer::Listen)];
    process.expect(&effects, &[5], Stage::Decided);
}

#[test]
fn one_of_several_leaders_that_resigns_goes_to_the_end_of_the_list() {
    let mut process = start(5, Config { leaders: 3, ..config(Variant::LeA) }, &[]);
    hear(&mut process, 9);
    hear(&mut process, 2);
    process.command(Command::Resign).unwrap();
    let effects = [
        bye(),
        disarm(Timer::Announce),
        say_weight(retired(5)),
        arm(Timer::Announce, 1000),
        arm(Timer::Listen, 3000),
    ];
    process.expect(&effects, &[9, 2, 5], Stage::Decided);
}

//! Terms, and the tokens made of them.

use super::never_two::{config, size};
use super::rules::supports;
use super::world::World;
use super::*;
use bellwether_core::Term;

/// The token of a leader, or the term that a follower knows it by.
pub(super) fn token(process: &Process) -> Option<u64> {
    process.leadership().term.map(Term::number)
}

#[test]
fn a_term_is_granted_to_one_candidate_and_stored_before_the_answer() {
    let mut process = start(3, majority());
    hear(&mut process, 4, ask(0));
    let turn = arm_after(Timer::Ask, 150 + 2 * 40);
    expect(&process, &[store(1, 4), turn.clone(), tell(4, yes(0))], None);
    hear(&mut process, 4, release(0));
    hear(&mut process, 5, ask(0));
    expect(&process, &[tell(5, in_term(1, no(0, Duration::ZERO)))], None);
    assert_eq!(lock_of(&process), None);
    hear(&mut process, 4, ask(0));
    expect(&process, &[turn.clone(), tell(4, yes(0))], None);
    hear(&mut process, 4, release(0));
    hear(&mut process, 5, in_term(2, ask(0)));
    expect(&process, &[store(2, 5), turn, tell(5, in_term(2, yes(0)))], None);
}

#[test]
fn a_term_is_granted_to_one_life_of_a_candidate() {
    let mut process = start(3, majority());
    hear(&mut process, 4, ask(0));
    hear(&mut process, 4, release(0));
    let (request, supporters) = (Request { life: 2, sent: at(0) }, Ids::new());
    let next = Message::Election {
        request,
        term: 1,
        lock: ms(150),
        supporters,
        farewell: None,
        token: None,
        list: None,
        answerers: None,
        tree: None,
    };
    hear(&mut process, 4, next);
    let (support, remaining) = (false, Duration::ZERO);
    let refusal = Message::Reply { request, support, remaining, highest: 1, list: None };
    expect(&process, &[tell(4, refusal)], None);
}

#[test]
fn a_lower_term_is_refused_also_if_it_is_of_whom_it_supports() {
    let mut process = start(3, majority());
    hear(&mut process, 1, in_term(2, renew(5, &[1, 2, 3])));
    assert_eq!(token(&process), Some(2));
    hear(&mut process, 1, ask(0));
    assert_eq!(process.effects().last(), Some(&tell(1, in_term(2, no(0, Duration::ZERO)))));
    assert_eq!(lock_of(&process), Some((1, at(150))), "its lock stays");
}

#[test]
fn a_candidate_that_is_refused_for_its_term_asks_for_a_higher_one_at_once() {
    let mut process = boot(1, 3, 1, majority());
    process.ring();
    until(&mut process, 25);
    hear(&mut process, 2, in_term(7, no(20, Duration::ZERO)));
    expect(&process, &[], None);
    hear(&mut process, 3, in_term(4, no(20, Duration::ZERO)));
    expect(&process, &[disarm(Timer::Count), say(release(20)), arm(Timer::Ask, 25)], None);
    process.ring();
    let request = say(in_term(8, ask(25)));
    expect(&process, &[store(8, 1), request, arm(Timer::Count, 45)], None);
}

#[test]
fn a_candidate_keeps_a_term_that_it_has_not_led_with() {
    let mut process = boot(1, 3, 1, majority());
    process.ring();
    hear(&mut process, 2, no(20, ms(10)));
    hear(&mut process, 3, no(20, ms(10)));
    process.ring();
    expect(&process, &[say(ask(30)), arm(Timer::Count, 50)], None);
}

#[test]
fn a_renewal_keeps_its_term_and_stores_nothing() {
    let mut process = leader(majority());
    assert_eq!(token(&process), Some(1));
    hear(&mut process, 2, yes(25));
    hear(&mut process, 3, yes(25));
    process.ring();
    expect(&process, &[say(renew(75, &[1, 2, 3])), arm(Timer::Count, 95)], Some((1, 175)));
    let mut voter = start(2, majority());
    hear(&mut voter, 1, ask(0));
    until(&mut voter, 50);
    hear(&mut voter, 1, renew(50, &[1, 2, 3]));
    expect(&voter, &[arm_after(Timer::Ask, 200), tell(1, yes(50))], Some((1, 200)));
    assert_eq!(token(&voter), Some(1));
}

/// A leader that a process refuses for its term: that one was a candidate while it was cut off.
fn refused_leader(params: Params) -> Process {
    let mut process = leader(params);
    hear(&mut process, 4, in_term(6, no(25, Duration::ZERO)));
    expect(&process, &[], Some((1, 170)));
    process
}

#[test]
fn a_leader_that_is_refused_for_its_term_raises_its_token() {
    let mut process = refused_leader(majority());
    hear(&mut process, 2, yes(25));
    hear(&mut process, 3, yes(25));
    process.ring();
    let request = say(in_term(7, renew(75, &[1, 2, 3])));
    expect(&process, &[store(7, 1), request, arm(Timer::Count, 95)], Some((1, 175)));
    hear(&mut process, 2, in_term(7, yes(75)));
    // It rests on the votes of 1 and 2 for the seventh term and of 3 for the first.
    assert_eq!((token(&process), led_until(&process)), (Some(1), Some(at(175))));
    hear(&mut process, 4, in_term(7, yes(75)));
    assert_eq!((token(&process), led_until(&process)), (Some(7), Some(at(225))));
    hear(&mut process, 3, yes(75));
    assert_eq!(token(&process), Some(7), "a vote for a lower term takes nothing away");
    assert_eq!(supporters(&process), [1, 2, 4]);
}

/// A leader that raises its token, whose lease ran out, and who is told of votes for two terms.
fn voted_for_in_two_terms(params: Params) -> Process {
    let mut process = refused_leader(params);
    while process.now() < at(165) {
        process.ring();
    }
    until(&mut process, 172);
    assert_eq!(led_until(&process), None);
    hear(&mut process, 2, in_term(7, yes(165)));
    hear(&mut process, 3, yes(165));
    process
}

#[test]
fn a_new_leadership_rests_on_votes_for_one_term_that_was_not_led_with() {
    let mut process = voted_for_in_two_terms(majority());
    expect(&process, &[], None);
    hear(&mut process, 5, in_term(7, yes(165)));
    assert_eq!((token(&process), led_until(&process)), (Some(7), Some(at(315))));
}

#[test]
fn a_leader_that_resigns_keeps_in_mind_what_it_led_with() {
    let mut process = leader(majority().without(Rule::CoolDown));
    process.command(Command::Resign).unwrap();
    process.wait(NANO).command(Command::Campaign).unwrap();
    assert_eq!(process.effects()[1], store(2, 1));
}

#[test]
fn a_candidate_whom_too_few_answer_probes() {
    let mut process = start(1, majority());
    process.ring();
    hear(&mut process, 2, yes(20));
    process.ring().ring();
    expect(&process, &[say(in_term(0, ask(181))), arm(Timer::Count, 201)], None);
    assert_eq!(lock_of(&process), None, "it is free to support another");
    until(&mut process, 190);
    hear(&mut process, 2, in_term(1, no(181, Duration::ZERO)));
    expect(&process, &[], None);
    hear(&mut process, 3, no(181, ms(5)));
    expect(&process, &[disarm(Timer::Count), arm(Timer::Ask, 195)], None);
    process.ring();
    let request = say(in_term(2, ask(195)));
    expect(&process, &[store(2, 1), request, arm(Timer::Count, 215)], None);
}

#[test]
fn a_probe_that_too_few_answer_releases_nobody_and_is_repeated() {
    let mut process = start(1, majority());
    process.ring().ring().ring();
    assert_eq!(process.effects()[0], say(in_term(0, ask(341))));
    hear(&mut process, 2, no(341, Duration::ZERO));
    process.ring();
    expect(&process, &[disarm(Timer::Count), arm(Timer::Ask, 341 + 161)], None);
    process.ring();
    expect(&process, &[say(in_term(0, ask(502))), arm(Timer::Count, 522)], None);
}

#[test]
fn whoever_is_probed_answers_and_is_neither_locked_nor_has_granted_anything() {
    let mut process = start(3, majority());
    hear(&mut process, 4, in_term(0, ask(0)));
    expect(&process, &[tell(4, no(0, Duration::ZERO))], None);
    assert_eq!(lock_of(&process), None);
    hear(&mut process, 1, renew(0, &[1, 2, 3]));
    hear(&mut process, 4, in_term(0, ask(0)));
    expect(&process, &[tell(4, in_term(1, no(0, ms(150) + NANO)))], Some((1, 150)));
}

#[test]
fn what_was_stored_binds_the_next_life() {
    let record = Stored { highest: 7, granted: Some((NodeId(4), 1)) }.encode(None);
    let mut process = boot_with(Memory::Kept(&record), 1, 5, 2, majority());
    assert_eq!(process.effects(), [arm_after(Timer::Ask, 150)]);
    let mut voter = process.clone();
    until(&mut voter, 151);
    hear(&mut voter, 5, in_term(7, ask(150)));
    expect(&voter, &[tell(5, in_term(7, no(150, Duration::ZERO)))], None);
    process.ring();
    let granted = Some((NodeId(1), 2));
    assert_eq!(process.effects()[0], Effect::Store(Stored { highest: 8, granted }.encode(None)));
}

#[test]
fn once_the_numbers_are_used_up_nobody_asks_any_more() {
    let mut process = start(1, majority());
    hear(&mut process, 4, in_term(u64::MAX, ask(0)));
    assert_eq!(process.effects()[0], store(u64::MAX, 4));
    process.ring();
    expect(&process, &[Effect::Arm(Timer::Ask, at(150 + 181) + NANO)], None);
}

#[test]
fn volatile_terms_are_not_stored_and_not_missed() {
    let volatile = Config { tokens: Tokens::Volatile, drift_ppm: Some(0), ..Config::default() };
    let mut process = start(1, valid(volatile.clone()));
    process.ring();
    expect(&process, &[say(ask(20)), arm(Timer::Count, 40)], None);
    let process = boot_with(Memory::Lost, 1, 5, 2, valid(volatile));
    assert!(!process.facts().contains(&Fact::NoRecord));
}

#[test]
fn a_new_group_whose_lives_are_numbered_by_the_wall_clock_counts_from_it() {
    let life = 1_700_000_000_000_000_000;
    let mut process = boot(1, 5, life, majority());
    process.ring();
    let granted = Some((NodeId(1), life));
    let stored = Stored { highest: life / 1_000_000, granted };
    assert_eq!(process.effects()[0], Effect::Store(stored.encode(None)));
}

fn durable(seed: u64) -> Params {
    valid(Config { tokens: Tokens::Durable, ..config(seed) })
}

/// The results with the rule and without.
fn compare<T>(rule: Rule, say: impl FnMut(Params) -> T) -> [T; 2] {
    [majority(), majority().without(rule)].map(say)
}

#[test]
fn without_granting_a_term_once_two_have_the_same() {
    let granted = compare(Rule::TermGrantedOnce, |params| {
        let mut process = start(3, params);
        assert!(supports(&mut process, 4, ask(0)));
        hear(&mut process, 4, release(0));
        supports(&mut process, 5, ask(0))
    });
    assert_eq!(granted, [false, true]);
}

#[test]
fn without_storing_terms_the_next_life_knows_none() {
    let stored = compare(Rule::TermsAreStored, |params| {
        let mut process = start(3, params);
        hear(&mut process, 4, ask(0));
        process.effects().contains(&store(1, 4))
    });
    assert_eq!(stored, [true, false]);
}

#[test]
fn without_a_new_term_a_lease_that_ran_out_is_had_again_with_its_token() {
    let tokens = compare(Rule::NewReignNewTerm, |params| {
        let mut process = leader(params);
        while process.now() < at(165) {
            process.ring();
        }
        until(&mut process, 172);
        hear(&mut process, 2, yes(165));
        hear(&mut process, 3, yes(165));
        token(&process)
    });
    assert_eq!(tokens, [None, Some(1)]);
}

#[test]
fn without_one_term_a_new_leadership_may_rest_on_one_that_was_led_with() {
    let tokens = compare(Rule::OneTermPerReign, |params| token(&voted_for_in_two_terms(params)));
    assert_eq!(tokens, [None, Some(1)]);
}

/// Random faults and lost records until a token is used that did not grow.
fn reused(seed: u64, params: &Params) -> (World, Option<u64>) {
    let mut world = World::new(seed, size(seed), |_| params.clone());
    world.forgetful = true;
    let reused = (0..600).find_map(|_| {
        world.storm(true);
        world.reused
    });
    (world, reused)
}

#[test]
fn in_every_storm_tokens_grow() {
    let mut reigns = 0;
    for seed in 0..10_000 {
        let (world, reused) = reused(seed, &durable(seed));
        assert_eq!(reused, None, "seed {seed}");
        reigns += world.reigns;
    }
    assert!(reigns > 10_000, "there was something to see: {reigns}");
}

/// Random faults find what is wrong without a rule, except one: that a process reads after its
/// quarantine matters if a vote of its former life is counted after it has read, in a group of five
/// or more; the tests of newcomers tell that story.
#[test]
fn without_a_rule_some_storm_uses_a_token_again() {
    for rule in [
        Rule::TermGrantedOnce,
        Rule::TermsAreStored,
        Rule::NewReignNewTerm,
        Rule::OneTermPerReign,
        Rule::LostRecordsAreRead,
        Rule::ReadsEnough,
    ] {
        let found =
            (0..20_000).find(|seed| reused(*seed, &durable(*seed).without(rule)).1.is_some());
        assert!(found.is_some(), "{rule:?} seems to be of no use");
    }
}

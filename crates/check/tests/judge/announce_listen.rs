//! The announce-listen family keeps its own promises, and not those of others; what breaks a
//! promise can be seen again, shrunk and written down.

use bellwether_check::shrink::{shrink_choice, shrink_choice_until};
use bellwether_check::{Judge, Report, Trial, judge_plan_until, scenario};
use bellwether_core::Duration;
use bellwether_protocols::announce_listen::{AnnounceListen, Config, Params, Variant};
use bellwether_protocols::choice::{Choice, Promise};
use bellwether_sim::{ScenarioFile, Tracer, World, trace::digest};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn config(variant: Variant) -> Config {
    Config { listen: Duration::from_secs(3), ..Config::new(variant) }
}

fn params(variant: Variant) -> Params {
    Params::try_from(config(variant)).expect("the family's defaults are valid")
}

fn choice(variant: Variant) -> Choice {
    params(variant).into()
}

fn fuzz(trial: &Trial, variant: Variant, schedules: u64, threads: usize) -> Report {
    crate::fuzz(trial, &choice(variant), 0..schedules, threads)
}

#[test]
fn every_variant_keeps_its_own_promise() {
    for variant in Variant::ALL {
        for (nodes, schedules, seed) in
            [(5, 2_000, 3), (2, 300, 3), (9, 300, 3), (4, 300, 4), (7, 300, 771_000)]
        {
            let trial = Trial::new(&choice(variant), nodes, None, seed);
            let report = fuzz(&trial, variant, schedules, 2);
            let name = variant.name();
            let replay = format!("bellwether check {name} --nodes {nodes} --seed {seed}");
            assert_eq!(report.violation, None, "REPLAY WITH: {replay} --schedule …");
            assert_eq!(report.tally.schedules, schedules);
            for (name, counts) in trial.invariants().iter().zip(&report.tally.checks) {
                assert!(counts.checks > schedules, "{replay}: {name} looked {counts:?}");
            }
        }
    }
}

/// The promise is not kept for trivial reasons: a little less time to settle, and it is broken.
#[test]
fn a_group_cannot_settle_much_faster_than_it_says() {
    let mut trial = Trial::new(&choice(Variant::LeS), 5, None, 1);
    trial.time_scales.settles = Duration::from_secs(3);
    let report = fuzz(&trial, Variant::LeS, 2_000, 2);
    let violation = report.violation.expect("trust alone takes three seconds");
    assert_eq!(violation.breach.invariant, "agreement");
}

#[test]
fn two_lead_at_once_where_nobody_promised_otherwise() {
    for variant in [Variant::LeA, Variant::LeS, Variant::LeM, Variant::Query] {
        let trial = Trial::new(&choice(variant), 5, Some(Promise::NeverTwo), 1);
        let report = fuzz(&trial, variant, 100, 1);
        let violation = report.violation.expect("two lead at once");
        assert_eq!(violation.breach.invariant, "never-two");
        assert!(violation.breach.text.contains("lead at once"), "{}", violation.breach);
    }
}

#[test]
fn whoever_follows_the_first_to_speak_can_deadlock() {
    let variant = Variant::SupAlElect;
    let own = Trial::new(&choice(variant), 5, None, 1);
    assert!(own.invariants().is_empty(), "it promises nothing");
    let trial = Trial::new(&choice(variant), 5, Some(Promise::EventuallyOne), 1);
    let violation = fuzz(&trial, variant, 1_000, 2).violation.expect("it deadlocks");
    assert_eq!(violation.breach.invariant, "agreement");
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_threads() {
    for (variant, promise) in
        [(Variant::LeS, None), (Variant::SupAlElect, Some(Promise::EventuallyOne))]
    {
        let trial = Trial::new(&choice(variant), 5, promise, 1);
        let [one, two, five] = [1, 2, 5].map(|threads| fuzz(&trial, variant, 1_500, threads));
        assert_eq!(one.violation.is_some(), promise.is_some());
        assert!(one == two && one == five, "{}", variant.name());
    }
}

#[test]
fn a_schedule_breaks_the_same_thing_every_time() {
    let trial = Trial::new(&choice(Variant::SupAlElect), 5, Some(Promise::EventuallyOne), 1);
    let report = fuzz(&trial, Variant::SupAlElect, 1_000, 2);
    let violation = report.violation.expect("it deadlocks");
    let mut judge = Judge::<AnnounceListen>::new(&trial, params(Variant::SupAlElect));
    // After other runs too, in the same world.
    for number in [violation.number, violation.number + 1, violation.number] {
        let verdict = judge.run(number);
        if number == violation.number {
            assert_eq!(verdict.breach.as_ref(), Some(&violation.breach));
        }
    }
}

#[test]
fn a_shrunk_schedule_breaks_the_same_invariant_with_less() {
    let choice = choice(Variant::SupAlElect);
    let trial = Trial::new(&choice, 5, Some(Promise::EventuallyOne), 1);
    let mut judge = Judge::<AnnounceListen>::new(&trial, params(Variant::SupAlElect));
    let broken = (0..400).filter_map(|number| Some((number, judge.run(number).breach?)));
    let broken: Vec<_> = broken.take(5).collect();
    assert_eq!(broken.len(), 5, "deadlocks are not rare");
    for (number, breach) in broken {
        let full = trial.schedule(number);
        let (small, shrunk) = shrink_choice(&trial, choice.clone(), full.clone(), breach.clone());
        assert_eq!(shrunk.invariant, breach.invariant);
        let (less, more) = (small.plan.faults.len(), full.plan.faults.len());
        assert!(less <= 8 && less < more, "schedule {number}: from {more} to {less}");
        assert!(small.plan.horizon <= full.plan.horizon && small.is_calm(&trial.time_scales));
        assert_eq!(judge.run_schedule(&small).breach, Some(shrunk), "and does so again");
    }
}

#[test]
fn who_waits_no_longer_ends_the_shrinking_and_the_judging_of_one_run() {
    let choice = choice(Variant::LeS);
    let trial = Trial::new(&choice, 5, Some(Promise::NeverTwo), 1);
    let violation = fuzz(&trial, Variant::LeS, 2_000, 2).violation.expect("two lead at once");
    let full = trial.schedule(violation.number);
    let asked = Arc::new(AtomicU64::new(0));
    let counted = |most: u64| {
        let asked = Arc::clone(&asked);
        asked.store(0, Ordering::Relaxed);
        move || asked.fetch_add(1, Ordering::Relaxed) >= most
    };
    let shrunk = |most| {
        let (full, breach) = (full.clone(), violation.breach.clone());
        shrink_choice_until(&trial, choice.clone(), full, breach, &counted(most))
    };
    assert_eq!(shrunk(0), (full.clone(), violation.breach.clone()), "nothing was tried");
    let (small, breach) = shrunk(20);
    assert_eq!(breach.invariant, violation.breach.invariant, "what was tried is kept");
    assert!(small.plan.horizon < full.plan.horizon, "{}", small.plan.horizon);
    let (plan, promise) = (&full.plan, Some(Promise::NeverTwo));
    let judged = |most| {
        let over = Arc::new(counted(most));
        let judged = judge_plan_until(&choice, plan, promise, full.luck, over).unwrap();
        (judged.breaches.len(), asked.load(Ordering::Relaxed))
    };
    let (breaches, asks) = judged(u64::MAX);
    assert!(breaches > 0 && asks > 100, "it is asked during the run: {asks}");
    assert!(judged(10).1 < 20, "it ends at once");
}

#[test]
fn a_schedule_in_a_file_is_the_very_same_run() {
    for variant in [Variant::LeS, Variant::Query] {
        let choice = choice(variant);
        let trial = Trial::new(&choice, 5, None, 8);
        for number in 0..60 {
            let schedule = trial.schedule(number);
            let text =
                scenario::to_toml(&trial, &schedule, "a test", variant.name(), &config(variant));
            let text = text.expect("it can be written");
            let file = ScenarioFile::parse(&text).unwrap_or_else(|bad| panic!("{bad}:\n{text}"));
            // Faults without effect are left out.
            let mut written = schedule.plan.clone();
            written.faults.retain(|fault| file.plan.faults.contains(fault));
            assert_eq!(file.plan, written, "schedule {number}");
            assert_eq!((&file.choice, file.seed), (&choice, schedule.luck));
            let mut tracer = Tracer::default();
            let mut world = World::<AnnounceListen>::new(params(variant));
            world.run(&schedule.plan, schedule.run_seed(), &mut tracer);
            assert_eq!(digest(&file.trace(file.seed)), digest(&tracer.records));
        }
    }
}

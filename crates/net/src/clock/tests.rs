//! The comparison of clocks, tested with clocks that are steered in many ways.

use super::*;

const SECOND: u64 = 1_000_000_000;
const DRIFT_PPM: u32 = 200;
/// The part of the drift that is left to steering.
const TOLERATED: i64 = 100;
const ERROR: Duration = Duration::from_micros(100);

fn readings(boot: u64, monotonic: u64, raw: u64) -> Readings {
    Readings { boot, monotonic, raw }
}

/// The result of comparing a steered clock.
struct Watched {
    /// The hardware's counter at the first fault.
    found: Option<u64>,
    /// The most that the clock gained or lost beyond ρ/2 between two trusted readings.
    let_through: i128,
}

/// Compares every `interval` a clock whose steering, in millionths, depends on the time.
fn watch(seconds: u64, interval: u64, steered: impl Fn(u64) -> i64) -> Watched {
    let check = CrossCheck::new(DRIFT_PPM, ERROR);
    let (mut raw, mut gained) = (0, 0_i128);
    let mut trusted: Vec<(i128, i128)> = Vec::new();
    let mut watched = Watched { found: None, let_through: 0 };
    while raw < seconds * SECOND {
        // A clock shows whole nanoseconds; the steering is kept in billionths of one.
        let steered_now = gained / 1_000_000;
        let slewed = (SECOND + raw).saturating_add_signed(steered_now as i64);
        if check.look(readings(slewed, slewed, SECOND + raw)).is_err() {
            watched.found.get_or_insert(raw);
            trusted.clear();
        }
        for (then, before) in &trusted {
            let allowed = (i128::from(raw) - then) * i128::from(TOLERATED) / 1_000_000;
            let beyond = (steered_now - before).abs() - allowed;
            watched.let_through = watched.let_through.max(beyond);
        }
        if raw % 20_000_000 < interval {
            trusted.push((raw.into(), steered_now)); // enough of them to compare with
        }
        gained += i128::from(interval) * i128::from(steered(raw));
        raw += interval;
    }
    watched
}

/// A way to steer a clock: its name, and its rate over time.
type Steering = (String, Box<dyn Fn(u64) -> i64>);

/// All ways to steer a clock that are tested.
fn steerings() -> Vec<Steering> {
    let mut all: Vec<Steering> = Vec::new();
    for ppm in [100, 101, 150, 200, 300, 500, 999, 1_000, 1_500, 2_000, 83_333] {
        for sign in [1, -1] {
            let rate = ppm * sign;
            all.push((format!("slewed by {rate} from the start"), Box::new(move |_| rate)));
            all.push((
                format!("slewed by {rate} after 3 s"),
                Box::new(move |at| if at < 3 * SECOND { 0 } else { rate }),
            ));
            all.push((
                format!("a ramp to {rate} in 8 s"),
                Box::new(move |at| rate * (at / 1_000_000) as i64 / 8_000),
            ));
            all.push((
                format!("bursts of {rate}, 20 ms of every 400"),
                Box::new(move |at| if at / 20_000_000 % 20 == 0 { rate } else { 0 }),
            ));
            all.push((
                format!("{rate} by turns with the opposite, every 250 ms"),
                Box::new(move |at| if at / 250_000_000 % 2 == 0 { rate } else { -rate }),
            ));
        }
    }
    // A daemon that corrects an offset: at first fast, then ever more slowly, about the rate that
    // makes up for the hardware.
    for (offset, usual) in [(400, 0), (90, 5), (2_000, -60), (-700, 80)] {
        let rate = move |at: u64| usual + offset / (1 + (at / SECOND) as i64);
        all.push((format!("steered by {offset} about {usual}"), Box::new(rate)));
    }
    all
}

#[test]
fn whatever_steers_the_clock_no_more_than_the_error_is_let_through() {
    for (name, steered) in steerings() {
        for interval in [1_000_000, 7_300_000, 50_000_000] {
            let watched = watch(10, interval, &steered);
            // The rest of ε is for what reading takes; and a whole nanosecond hides something.
            let most = i128::from(ERROR.as_nanos() - READING) + 1;
            assert!(watched.let_through <= most, "{name}: {} ns", watched.let_through);
        }
    }
}

#[test]
fn what_is_steered_within_half_the_drift_is_trusted_and_anything_beyond_is_found_soon() {
    for rate in [-100, -60, 0, 60, 100] {
        assert_eq!(watch(100, 50_000_000, |_| rate).found, None, "{rate}");
    }
    // It is found once it has gained ε beyond what is tolerated.
    for (rate, at_most) in [(150, 2_100), (300, 550), (500, 300), (990, 170), (2_000, 100)] {
        for rate in [rate, -rate] {
            let found = watch(10, 10_000_000, |_| rate).found.expect("it is found");
            assert!(found <= at_most * 1_000_000, "{rate}: after {} ms", found / 1_000_000);
        }
    }
    let late = |at: u64| if at < 50 * SECOND { 0 } else { 80_000 };
    assert_eq!(watch(51, 10_000_000, late).found, Some(50 * SECOND + 10_000_000), "a hurry");
}

#[test]
fn a_step_beyond_the_error_is_found_at_once_and_a_smaller_one_only_once() {
    for (step, found) in [(49_000, false), (51_000, true), (-51_000, true), (-49_000, false)] {
        let check = CrossCheck::new(DRIFT_PPM, ERROR);
        let at = |raw: u64, gained: i64| {
            let slewed = raw.saturating_add_signed(gained);
            readings(slewed, slewed, raw)
        };
        assert_eq!(check.look(at(SECOND, 0)), Ok(()));
        let stepped = check.look(at(SECOND + 1_000_000, step));
        assert_eq!(stepped.is_err(), found, "{step}");
        if !found {
            // All that is tolerated is used up: the same again within so short a time is a fault.
            assert!(check.look(at(SECOND + 2_000_000, 2 * step)).is_err(), "{step}");
        }
    }
}

#[test]
fn sleep_is_no_fault_and_a_clock_that_goes_back_is() {
    let check = CrossCheck::new(DRIFT_PPM, ERROR);
    assert_eq!(check.look(readings(SECOND, SECOND, SECOND)), Ok(()));
    let slept = readings(3600 * SECOND, SECOND + 1_000, SECOND + 1_000);
    assert_eq!(check.look(slept), Ok(()));
    let other_processor = readings(3600 * SECOND - 7, SECOND + 2_000, SECOND + 2_000);
    assert_eq!(check.look(other_processor), Ok(()), "its time may be a little behind");
    let back = readings(3599 * SECOND, SECOND + 3_000, SECOND + 3_000);
    assert!(matches!(check.look(back), Err(ClockFault::Back { .. })));
}

#[test]
fn the_clock_of_this_machine_goes_on() {
    let before = BootTime.now();
    assert!(BootTime.now() >= before && before > Instant::ZERO);
    assert!((0..1000).any(|_| BootTime.readings().is_some()));
}

/// What two comparisons may be off by is what leases pay for.
#[test]
fn the_error_that_leases_pay_for_covers_two_readings() {
    let config = bellwether_protocols::local_leader::Config::default();
    let params = bellwether_protocols::local_leader::Params::try_from(config).unwrap();
    assert!(params.clock_error().as_nanos() >= 2 * READING);
}

/// A clock that a test sets.
#[derive(Default)]
struct ScriptedClock(Mutex<Vec<Option<Readings>>>);

impl Clock for ScriptedClock {
    fn now(&self) -> Instant {
        let next = self.0.lock().unwrap().first().copied().flatten();
        Instant::from_nanos(next.map_or(0, |next| next.boot))
    }

    fn readings(&self) -> Option<Readings> {
        let mut told = self.0.lock().unwrap();
        if told.is_empty() { None } else { told.remove(0) }
    }
}

fn checked(told: Vec<Option<Readings>>) -> CheckedClock {
    let check = CrossCheck::new(DRIFT_PPM, ERROR);
    CheckedClock::new(Arc::new(ScriptedClock(Mutex::new(told))), Some(check))
}

#[test]
fn a_checked_clock_never_goes_back_and_remembers_its_fault_until_it_is_trusted_again() {
    let at = |micros: u64| Some(readings(micros * 1_000, micros * 1_000, micros * 1_000));
    let clock = checked(vec![at(500), at(490), at(400), at(600), at(700)]);
    let micros = |micros: u64| Instant::from_nanos(micros * 1_000);
    assert_eq!(clock.now(), micros(500));
    assert_eq!(clock.now(), micros(500), "as late as it ever was");
    assert_eq!((clock.is_suspect(), clock.fault()), (false, None), "by another processor");
    assert_eq!(clock.now(), micros(500));
    assert!(clock.is_suspect(), "so much back is a fault");
    assert_eq!(clock.now(), micros(600));
    let by = Duration::from_micros(100);
    assert_eq!(clock.fault(), Some(ClockFault::Back { by }));
    clock.trust_again();
    assert_eq!(clock.now(), micros(700));
    assert_eq!((clock.is_suspect(), clock.fault()), (false, None));
}

/// A clock that a test steers. A thread called [`STOPPED`] is stopped after it has read it.
#[derive(Default)]
struct SteeredClock {
    raw: AtomicU64,
    gained: AtomicU64,
    stopped: Mutex<()>,
    is_stopped: AtomicBool,
}

const STOPPED: &str = "stopped";

impl SteeredClock {
    fn read(&self) -> Readings {
        let raw = self.raw.load(Ordering::Acquire);
        let slewed = raw + self.gained.load(Ordering::Acquire);
        readings(slewed, slewed, raw)
    }
}

impl Clock for SteeredClock {
    fn now(&self) -> Instant {
        Instant::from_nanos(self.read().boot)
    }

    fn readings(&self) -> Option<Readings> {
        let read = self.read();
        if std::thread::current().name() == Some(STOPPED) {
            self.is_stopped.store(true, Ordering::Release);
            drop(self.stopped.lock().unwrap());
        }
        Some(read)
    }
}

/// Lets a thread read the clock and stops it before it compares; this thread reads once a
/// millisecond meanwhile, for a second, while the clock gains so many millionths. Then the other
/// thread goes on, and this one reads once more. The first fault.
fn beside_a_stopped_reader(ppm: u64) -> Option<ClockFault> {
    let steered = Arc::new(SteeredClock::default());
    let check = CrossCheck::new(DRIFT_PPM, ERROR);
    let clock = CheckedClock::new(Arc::<SteeredClock>::clone(&steered), Some(check));
    let reads_at = |raw: u64| {
        steered.raw.store(raw, Ordering::Release);
        steered.gained.store((raw - SECOND) * ppm / 1_000_000, Ordering::Release);
        clock.now();
    };
    reads_at(SECOND);
    std::thread::scope(|scope| {
        let stopped = steered.stopped.lock().unwrap();
        let thread = std::thread::Builder::new().name(STOPPED.to_owned());
        let other = thread.spawn_scoped(scope, || clock.now()).unwrap();
        while !steered.is_stopped.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        // The first gap is longer than any usual one between two readings.
        (20..=1_000).for_each(|ms| reads_at(SECOND + ms * 1_000_000));
        drop(stopped);
        other.join().unwrap();
    });
    reads_at(2 * SECOND + 1_000_000);
    clock.fault()
}

#[test]
fn a_reader_that_is_stopped_for_a_second_while_it_compares_is_no_fault_of_the_clock() {
    for ppm in [0, TOLERATED as u64] {
        assert_eq!(beside_a_stopped_reader(ppm), None, "{ppm}");
    }
}

#[test]
fn readers_find_a_fault_of_the_clock_while_another_one_is_stopped() {
    let fault = beside_a_stopped_reader(200).expect("half of it is too much");
    let ClockFault::Rate { watched, off, tolerated } = fault else { panic!("{fault}") };
    assert_eq!(tolerated, 100);
    // 50 µs beyond what is tolerated are gained in half a second.
    assert_eq!((watched, off), (Duration::from_millis(501), Duration::from_nanos(100_200)));
}

#[test]
fn clocks_that_cannot_be_compared_again_and_again_are_not_trusted() {
    let at = |time: u64| Some(readings(time, time, time));
    let clock = checked(vec![at(1), None, None, at(2), None, None]);
    (0..6).for_each(|_| {
        clock.now();
    });
    assert!(!clock.is_suspect(), "a thread may lose its processor");
    clock.now();
    assert_eq!(clock.fault(), Some(ClockFault::Unreadable));
}

#[test]
fn a_fault_is_forgotten_only_when_readings_are_trusted_again() {
    let at = |raw: u64, gained: u64| Some(readings(raw + gained, raw + gained, raw));
    let (second, jump) = (SECOND, 60_000);
    let clock = checked(vec![
        at(second, 0),
        at(second + 1_000, jump),
        at(second + 2_000, jump),
        at(second + 3_000, jump),
        at(second + 4_000, 2 * jump),
    ]);
    clock.now();
    assert_eq!((clock.is_suspect(), clock.faults()), (false, 0));
    clock.now();
    assert_eq!((clock.is_suspect(), clock.faults()), (true, 1));
    clock.now();
    assert_eq!((clock.is_suspect(), clock.faults()), (true, 1), "the same fault");
    clock.trust_again();
    clock.now();
    assert_eq!((clock.is_suspect(), clock.faults()), (false, 1), "compared afresh");
    clock.now();
    assert_eq!((clock.is_suspect(), clock.faults()), (true, 2), "and with that from then on");
}

/// When ρ changes, what was allowed before and what is allowed from then on are added up: a long
/// time under a small ρ is worth no more under a large one, and what was used up of ε is not
/// given again.
#[test]
fn when_the_drift_changes_the_time_before_counts_as_it_was_allowed_then() {
    for (before, after) in [(DRIFT_PPM, 10 * DRIFT_PPM), (10 * DRIFT_PPM, DRIFT_PPM)] {
        for (first, second, found) in [
            (0, 49_000, false),
            (0, 51_000, true),
            (0, -51_000, true),
            (30_000, 19_000, false),
            (30_000, 21_000, true),
            (-30_000, -21_000, true),
            (30_000, -51_000, true),
        ] {
            let check = CrossCheck::new(before, ERROR);
            let at = |raw: u64, gained: i64| {
                let slewed = raw.saturating_add_signed(gained);
                readings(slewed, slewed, raw)
            };
            assert_eq!(check.look(at(SECOND, 0)), Ok(()));
            // The last reading before the change is an hour and some microseconds later.
            let hour = 3_600 * SECOND;
            assert_eq!(check.look(at(hour, 0)), Ok(()));
            assert_eq!(check.look(at(hour + 1_000, first)), Ok(()));
            check.allow(after);
            let jumped = check.look(at(hour + 2_000, first + second));
            assert_eq!(jumped.is_err(), found, "{before} to {after}: {first}, then {second}");
        }
    }
}

/// A clock that runs fast by 150 millionths, of which half of ρ is allowed.
#[test]
fn a_comparison_follows_the_drift_that_is_allowed() {
    let found = |drift_ppm: u32| {
        let check = CrossCheck::new(DRIFT_PPM, ERROR);
        check.allow(drift_ppm);
        let at = |second: u64| SECOND * (1 + second) + 150_000 * second;
        (0..60).any(|second| {
            let fast = at(second);
            check.look(readings(fast, fast, SECOND * (1 + second))).is_err()
        })
    };
    assert_eq!([100, DRIFT_PPM, 300, 400].map(found), [true, true, false, false]);
}

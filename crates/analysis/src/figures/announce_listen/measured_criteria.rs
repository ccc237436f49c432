//! Ours: leaders chosen by what processes have measured (section 5.7).

use super::field::{Elected, Field, Ground, N, Wake};
use crate::figures::evidence::{ABOVE, lies_above, value};
use crate::figures::{Axis, Claim, Curve, Figure, Finding, Law, Pane, Panel, Series, Trial};

/// How many announcements of all are measured.
const SPANS: [u32; 5] = [1, 2, 4, 8, 16];

const MEASURED: &str = "by what was heard";
const ONE_WAY: &str = "by what was heard, one-way losses";
const BY_ID: &str = "greatest id";
const BEST: &str = "best possible";
const RANDOM: &str = "by what was heard, random timers";
const MAPPED: &str = "by what was heard, timers too";

pub(super) fn figure() -> Figure {
    Figure {
        title: "Leaders chosen by the losses or delays that each process has measured",
        source: "ours; proposed in section 5.7",
        says: "Instead of the greatest id, which says nothing of a process, section 5.7 proposes \
               the sum of the losses that each has observed, or the sum of delays, over a given \
               interval and all members; and to let the wake-up time follow from it. It measures \
               neither.",
        choices: &[
            "12 processes, T_S = T_A = 1 s. For a number of intervals all announce (AL) and each \
             counts what it hears; then LE-S elects, ranks being what was measured.",
            "Losses: each process has an access that loses between 0 and 40 % of what it sends and \
             as much of what it hears, Δ = .1 s. One-way: the two have nothing to do with each \
             other, of which section 5.7 says nothing: it is drawn, and not judged. What a process \
             observes are the losses of others' messages, and not of its own.",
            "Delays: processes lie in a square whose side takes .3 s, messages take .02 s, their \
             way, and .1 s more on average. Clocks are true, so that delays can be measured.",
            "Timers too: who heard everything wakes at 0, who heard nothing at T_S.",
            "A leader is good if little of what it sends is lost on the way to the others, or if \
             it arrives soon.",
        ],
        panels: panels(),
        claims,
        ..Figure::BARE
    }
}

fn panels() -> Vec<Panel> {
    let quality = |label, unit, series| Panel {
        title: "how good the leader is",
        x: Axis::log("announcements measured", ""),
        y: Axis::linear(label, unit),
        series,
    };
    let election =
        |title, y, series| Panel { title, x: Axis::log("announcements measured", ""), y, series };
    vec![
        Panel {
            title: "losses: how well the leader is heard",
            ..quality(
                "mean loss from leader to others",
                "",
                vec![
                    measured(MEASURED, 0, "loss", |n, s, r| cost(Ground::Losses, n, s, r)),
                    measured(ONE_WAY, 1, "one-way loss", |n, s, r| {
                        cost(Ground::OneWayLosses, n, s, r)
                    }),
                    reference(BY_ID, 2, "loss by id", |_, s, r| cost_by_id(Ground::Losses, s, r)),
                    reference(BEST, 3, "least loss", |_, s, r| least(Ground::Losses, s, r)),
                ],
            )
        },
        Panel {
            title: "delays: how near the leader is",
            ..quality(
                "mean delay from leader to others",
                "s",
                vec![
                    measured(MEASURED, 0, "delay", |n, s, r| cost(Ground::Delays, n, s, r)),
                    reference(BY_ID, 2, "delay by id", |_, s, r| cost_by_id(Ground::Delays, s, r)),
                    reference(BEST, 3, "least delay", |_, s, r| least(Ground::Delays, s, r)),
                ],
            )
        },
        election(
            "losses: how long the election takes",
            Axis::linear("election time", "s"),
            vec![
                measured(RANDOM, 0, "time", |n, s, r| Some(by_losses(Wake::Random, n, s, r)?.time)),
                measured(MAPPED, 4, "time, timers too", |n, s, r| {
                    Some(by_losses(Wake::Measured, n, s, r)?.time)
                }),
                reference(BY_ID, 2, "time by id", |_, s, r| Some(losses_by_id(s, r)?.time)),
            ],
        ),
        election(
            "losses: how many messages it takes",
            Axis::linear("messages", ""),
            vec![
                measured(RANDOM, 0, "messages", |n, s, r| {
                    Some(by_losses(Wake::Random, n, s, r)?.messages)
                }),
                measured(MAPPED, 4, "messages, timers too", |n, s, r| {
                    Some(by_losses(Wake::Measured, n, s, r)?.messages)
                }),
                reference(BY_ID, 2, "messages by id", |_, s, r| Some(losses_by_id(s, r)?.messages)),
            ],
        ),
    ]
}

type Run = fn(u32, u64, u64) -> Option<f64>;

/// What depends on how long was measured.
fn measured(name: &str, hue: usize, trial: &'static str, run: Run) -> Series {
    series(name, hue, |span| Trial {
        name: trial,
        argument: span,
        runs: 1000,
        messages: 1500,
        law: Law::Mean,
        run,
    })
}

/// What does not, for comparison.
fn reference(name: &str, hue: usize, trial: &'static str, run: Run) -> Series {
    series(name, hue, |_| Trial {
        name: trial,
        argument: 0,
        runs: 1000,
        messages: 1500,
        law: Law::Mean,
        run,
    })
}

fn series(name: &str, hue: usize, trial: impl Fn(u32) -> Trial) -> Series {
    Series::measured(name, hue, SPANS.iter().map(|&span| (f64::from(span), trial(span))))
}

/// Measures, elects, and says how good the leader is and how the election went.
fn elect(ground: Ground, wake: Wake, span: u32, seed: u64, run: u64) -> Option<(f64, Elected)> {
    let field = Field::draw(ground, seed, run);
    let elected = field.elect(&field.measure(span)?, wake, span)?;
    Some((field.cost(elected.leader), elected))
}

/// The same with ids for ranks: nothing is measured.
fn elect_by_id(ground: Ground, seed: u64, run: u64) -> Option<(f64, Elected)> {
    let field = Field::draw(ground, seed, run);
    let ids: Vec<u64> = (0..u64::from(N)).collect();
    let elected = field.elect(&ids, Wake::Random, 1)?;
    Some((field.cost(elected.leader), elected))
}

/// How good the leader is that is elected by what was measured.
fn cost(ground: Ground, span: u32, seed: u64, run: u64) -> Option<f64> {
    Some(elect(ground, Wake::Random, span, seed, run)?.0)
}

/// How good the leader is that is elected by id.
fn cost_by_id(ground: Ground, seed: u64, run: u64) -> Option<f64> {
    Some(elect_by_id(ground, seed, run)?.0)
}

/// How good the best leader is that there could be.
fn least(ground: Ground, seed: u64, run: u64) -> Option<f64> {
    Some(Field::draw(ground, seed, run).least_cost())
}

/// How an election by measured losses goes.
fn by_losses(wake: Wake, span: u32, seed: u64, run: u64) -> Option<Elected> {
    Some(elect(Ground::Losses, wake, span, seed, run)?.1)
}

/// How an election by id goes, with the same losses.
fn losses_by_id(seed: u64, run: u64) -> Option<Elected> {
    Some(elect_by_id(Ground::Losses, seed, run)?.1)
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let [losses, delays, times, messages] = &finding.panes[..] else { return Vec::new() };
    let in_words = |curve: &Curve| {
        format!(
            "{} after one announcement, {} after 16",
            value(curve.at(1.0)),
            value(curve.at(16.0)),
        )
    };
    let beside = |pane: &Pane| {
        let [by_id, best] = [BY_ID, BEST].map(|name| value(pane.curve(name).at(1.0)));
        format!("greatest id {by_id}, best possible {best}")
    };
    let [heard, by_id] = [MEASURED, BY_ID].map(|name| losses.curve(name));
    let near = delays.curve(MEASURED);
    let mut quicker = lies_above(times.curve(RANDOM), times.curve(MAPPED));
    quicker.extend(lies_above(messages.curve(RANDOM), messages.curve(MAPPED)));
    let at_eight = |pane: &Pane| {
        let [mapped, random, by_id] =
            [MAPPED, RANDOM, BY_ID].map(|name| value(pane.curve(name).at(8.0)));
        format!("{mapped} with timers too, {random} with random timers, {by_id} by id")
    };
    vec![
        Claim::compared(
            "The sum of observed losses chooses a better leader than the greatest id, if links are \
             alike in both directions.",
            "5.7",
            ABOVE,
            &lies_above(by_id, heard),
            format!("mean loss to the others: {}; {}", in_words(heard), beside(losses)),
        ),
        Claim::compared(
            "The sum of observed delays chooses a leader that is nearer to all than the greatest \
             id.",
            "5.7",
            ABOVE,
            &lies_above(delays.curve(BY_ID), near),
            format!("mean delay to the others in s: {}; {}", in_words(near), beside(delays)),
        ),
        Claim::compared(
            "Linking the wake-up time with the measured criterion makes the election quicker and \
             spares messages.",
            "5.7",
            ABOVE,
            &quicker,
            format!(
                "measured over 8 announcements: {} (in s); messages: {}",
                at_eight(times),
                at_eight(messages),
            ),
        ),
    ]
}

//! Tokens grow: every new leadership has a higher token than all before it, and the token of a
//! running one never falls.
//!
//! This is what a fencing token is for: a store that refuses lower tokens than the highest it has
//! seen obeys no former leader. It holds across crashes, restarts of all processes, and lost or
//! damaged disks. It begins anew if nobody in the whole group knows of a term any more: then the
//! group is a new one.
//!
//! Tokens that are kept in memory alone grow as long as nobody begins again. So in a group with
//! such tokens it is asked until the second life of any process begins.

use super::{Finding, Invariant};
use crate::view::View;
use bellwether_core::{Instant, SimTime};
use bellwether_protocols::time_scales::TimeScales;

/// Every new leadership has a higher token than all before it.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokensGrow {
    /// The last leadership that was seen.
    last: Option<Reign>,
    /// The highest token so far.
    highest: u64,
    /// Whether some process began again, or its lives are not all known.
    again: bool,
}

/// A leadership: of one life of a process, without a break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reign {
    leader: u32,
    /// When the life before it ended.
    life: Option<SimTime>,
    /// Its end, as it was last told.
    until: Instant,
}

impl Invariant for TokensGrow {
    fn name(&self) -> &'static str {
        "tokens-grow"
    }

    fn begin(&mut self) {
        *self = Self::default();
    }

    fn applies(&self, time_scales: &TimeScales) -> bool {
        time_scales.tokens || time_scales.proved
    }

    fn look(&mut self, view: &View<'_>) -> Finding {
        if !self.applies(&view.course.time_scales) {
            return Finding::Nothing;
        }
        self.again |= view.rows.iter().any(|row| row.unseen || (row.alive && row.gone.is_some()));
        if self.again && !view.course.time_scales.tokens {
            return Finding::Nothing;
        }
        if self.highest > 0 && view.is_new() {
            (self.last, self.highest) = (None, 0);
        }
        let Some(leader) = view.leaders.least() else {
            self.last = None;
            return Finding::Nothing;
        };
        let row = view.row(leader);
        let goes_on = self.last.is_some_and(|last| {
            (last.leader, last.life) == (leader, row.gone) && row.reading < last.until
        });
        let (token, before) = (row.term, self.highest);
        self.last = Some(Reign { leader, life: row.gone, until: row.told });
        self.highest = before.max(token);
        let grows = token > before || (goes_on && token == before);
        Finding::of((!grows).then(|| {
            let how = if goes_on { "goes on" } else { "begins" };
            format!("process {leader} {how} to lead with token {token}, but there was {before}")
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::scenes::Stage;

    /// Three processes, of which one leads with this token.
    fn led(token: u64) -> Stage {
        let mut stage = Stage::new(3);
        stage.course.time_scales.tokens = true;
        lead(&mut stage, 0, token);
        stage
    }

    fn lead(stage: &mut Stage, leader: u32, token: u64) {
        stage.rows.iter_mut().for_each(|row| row.leads = false);
        stage.leads(leader, &[0, 1, 2]);
        let row = &mut stage.rows[leader as usize];
        (row.term, row.highest) = (token, token);
    }

    #[test]
    fn the_next_leader_has_a_higher_token() {
        let (mut stage, mut tokens) = (led(5), TokensGrow::default());
        assert_eq!(stage.look(&mut tokens), Finding::Kept);
        lead(&mut stage, 1, 6);
        assert_eq!(stage.look(&mut tokens), Finding::Kept);
        lead(&mut stage, 2, 6);
        assert!(stage.breaks(&mut tokens, "process 2 begins to lead with token 6"));
    }

    #[test]
    fn the_token_of_a_leader_may_rise_and_never_falls() {
        let (mut stage, mut tokens) = (led(5), TokensGrow::default());
        for token in [5, 5, 7] {
            lead(&mut stage, 0, token);
            assert_eq!(stage.look(&mut tokens), Finding::Kept);
        }
        lead(&mut stage, 0, 6);
        assert!(stage.breaks(&mut tokens, "process 0 goes on to lead with token 6"));
    }

    #[test]
    fn another_life_and_a_lease_after_a_break_are_new_leaderships() {
        let (mut stage, mut tokens) = (led(5), TokensGrow::default());
        assert_eq!(stage.look(&mut tokens), Finding::Kept);
        stage.rows[0].gone = Some(stage.at);
        assert!(stage.breaks(&mut tokens, "process 0 begins to lead with token 5"));
        let (mut stage, mut tokens) = (led(5), TokensGrow::default());
        assert_eq!(stage.look(&mut tokens), Finding::Kept);
        stage.rows[0].reading = stage.rows[0].told;
        assert!(stage.breaks(&mut tokens, "process 0 begins to lead with token 5"));
        let (mut stage, mut tokens) = (led(5), TokensGrow::default());
        assert_eq!(stage.look(&mut tokens), Finding::Kept);
        stage.rows[0].leads = false;
        assert_eq!(stage.look(&mut tokens), Finding::Nothing);
        lead(&mut stage, 0, 5);
        assert!(stage.breaks(&mut tokens, "process 0 begins to lead with token 5"));
    }

    #[test]
    fn a_group_in_which_nobody_knows_of_a_term_is_a_new_one() {
        let (mut stage, mut tokens) = (led(5), TokensGrow::default());
        assert_eq!(stage.look(&mut tokens), Finding::Kept);
        stage.rows[0].leads = false;
        stage.rows[0].highest = 0;
        stage.gone(1);
        assert_eq!(stage.look(&mut tokens), Finding::Nothing, "the one that is away may know");
        stage.rows[1].alive = true;
        assert_eq!(stage.look(&mut tokens), Finding::Nothing);
        lead(&mut stage, 2, 1);
        assert_eq!(stage.look(&mut tokens), Finding::Kept);
        let mut stage = led(1);
        stage.course.time_scales.tokens = false;
        assert_eq!(stage.look(&mut TokensGrow::default()), Finding::Nothing, "not promised");
    }

    #[test]
    fn volatile_tokens_grow_until_somebody_begins_again() {
        let volatile = || {
            let mut stage = led(5);
            (stage.course.time_scales.tokens, stage.course.time_scales.proved) = (false, true);
            stage
        };
        let (mut stage, mut tokens) = (volatile(), TokensGrow::default());
        assert_eq!(stage.look(&mut tokens), Finding::Kept);
        stage.gone(2);
        lead(&mut stage, 1, 5);
        assert!(stage.breaks(&mut tokens, "process 1 begins to lead with token 5"), "it is down");
        let (mut stage, mut tokens) = (volatile(), TokensGrow::default());
        assert_eq!(stage.look(&mut tokens), Finding::Kept);
        stage.gone(2);
        stage.rows[2].alive = true;
        lead(&mut stage, 1, 1);
        assert_eq!(stage.look(&mut tokens), Finding::Nothing, "2 may have forgotten its votes");
        stage.gone(2);
        assert_eq!(stage.look(&mut tokens), Finding::Nothing, "for good");
        let mut stage = volatile();
        stage.rows[2].unseen = true;
        assert_eq!(stage.look(&mut TokensGrow::default()), Finding::Nothing, "2 may have too");
    }
}

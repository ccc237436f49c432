//! A rule that safety rests on is broken: leadership ends first, then the member, and the
//! application hears which rule it was.

use crate::support::{self, PATIENCE, places};
use bellwether_core::{
    Boot, Cx, Duration, Instant, Leadership, Malformed, Message, NodeId, Protocol, Reader, Rebase,
    Stage, WireWrite, timer_kinds,
};
use bellwether_net::{Election, Gone, NotNow, Role};
use std::borrow::Cow;

/// How long it leads before it breaks a rule.
const RIGHT: Duration = Duration::from_millis(300);

/// Leads from the start, and then does something that no protocol may.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Mistaken {
    me: NodeId,
    until: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    /// Goes on leading when its time is over.
    Overstays,
    /// Sends a list that is too long.
    LongList,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct List(Vec<u8>);

impl Message for List {
    fn kind(&self) -> &'static str {
        "list"
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_list(&self.0, |out, item| out.put_u8(*item));
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        input.list(1, Reader::u8).map(Self)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Due;

timer_kinds!(Due);

impl Protocol for Mistaken {
    const NAME: &'static str = "mistaken";
    type Params = Mistake;
    type Message = List;
    type Timer = Due;

    fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        cx.arm(Due, cx.now() + RIGHT);
        let overstays = *cx.params() == Mistake::Overstays;
        let until = if overstays { cx.now() + RIGHT } else { Instant::NEVER };
        Self { me: boot.me, until }
    }

    fn on_message(&mut self, _from: NodeId, _list: Cow<'_, List>, _cx: &mut Cx<'_, Self>) {}

    fn on_timer(&mut self, _due: Due, cx: &mut Cx<'_, Self>) {
        if *cx.params() == Mistake::LongList {
            cx.broadcast(List(vec![0; 1 << 16]));
        }
    }

    fn leadership(&self, _now: Instant) -> Leadership<'_> {
        let leaders = std::slice::from_ref(&self.me);
        Leadership { until: self.until, ..Leadership::of(leaders, Stage::Decided) }
    }

    fn instants(&mut self, rebase: &Rebase<'_>) {
        rebase.deadline(&mut self.until);
    }
}

/// A member alone that makes this mistake.
fn member(mistake: Mistake) -> Election {
    let builder = support::member(1, &places(1));
    builder.own_protocol::<Mistaken>(mistake).join().expect("it joins")
}

fn ends_for(mistake: Mistake, rule: &str) {
    let election = member(mistake);
    let guard = election.wait(PATIENCE).expect("a member").expect("it leads");
    assert!(guard.still_leading() && election.failure().is_none());
    assert!(guard.wait_lost(PATIENCE), "leadership ends");
    assert!(!guard.still_leading() && guard.deadline().is_none());
    assert_eq!(election.leadership().role(), Role::Looking);
    assert_eq!(election.wait(PATIENCE).err(), Some(Gone), "then the member");
    assert_eq!(election.status().err(), Some(Gone));
    assert_eq!(election.resign(), Err(NotNow::Gone));
    let failure = election.failure().expect("and says why");
    assert!(failure.contains(rule) && failure.contains("report it"), "{failure}");
}

#[test]
fn a_member_that_would_lead_beyond_its_time_ends() {
    ends_for(Mistake::Overstays, "a belief that is over is never told");
}

#[test]
fn a_member_that_would_send_half_a_list_ends() {
    ends_for(Mistake::LongList, "a list of 65536 items is never cut to 65535");
}

#[test]
fn a_member_that_leaves_says_of_no_rule_that_it_was_broken() {
    let election = member(Mistake::LongList);
    election.leave();
    assert_eq!((election.failure(), election.status().err()), (None, Some(Gone)));
}

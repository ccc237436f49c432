//! Messages, time and space of each protocol: the laws, and what they come to.

use crate::figures::Table;
use crate::figures::series::known;
use crate::inputs::usual;
use crate::numbers::number;

/// For how many processes the laws are worked out.
const NODES: u32 = 1000;

/// The costs of one protocol in one case; `count` and `time` name the quantities that tell them.
#[derive(Clone, Copy, Debug)]
struct Costs {
    protocol: &'static str,
    messages: &'static str,
    count: &'static str,
    hops: &'static str,
    time: &'static str,
    all_call: bool,
    keeps: &'static str,
    carries: &'static str,
}

const BULLY: Costs = Costs {
    protocol: "bully, all alive, P_0 calls",
    messages: "N² − 1",
    count: "bully.messages.all-alive",
    hops: "2",
    time: "bully.time.all-alive",
    all_call: false,
    keeps: "O(1), and the dead it knows",
    carries: "O(1)",
};

const RING: Costs = Costs {
    protocol: "ring, one calls",
    messages: "2n",
    count: "ring.messages",
    hops: "2n − 1",
    time: "ring.time",
    keeps: "O(1), and the living as last told",
    carries: "O(n): the ids it has collected",
    ..BULLY
};

const CHANG_ROBERTS: Costs = Costs {
    protocol: "Chang-Roberts, all call",
    messages: "3n − 1 to n(n+3)/2; n·H_n + n on average",
    count: "chang-roberts.messages.mean",
    time: "chang-roberts.time",
    all_call: true,
    keeps: "O(1)",
    carries: "O(1)",
    ..RING
};

const ALL: [Costs; 8] = [
    BULLY,
    Costs {
        protocol: "bully, the greatest dead, P_0 calls",
        messages: "N² − N − 1",
        count: "bully.messages.worst",
        hops: "2, and a time-out, here of 10",
        time: "bully.time.worst",
        ..BULLY
    },
    RING,
    Costs { protocol: "ring, all call", messages: "2n²", hops: "n", all_call: true, ..RING },
    Costs {
        protocol: "MEREA, all call",
        messages: CHANG_ROBERTS.messages,
        count: "merea.messages.mean",
        time: "merea.time",
        all_call: true,
        ..RING
    },
    CHANG_ROBERTS,
    Costs {
        protocol: "Hirschberg-Sinclair, all call",
        messages: "at most 8n(1 + ⌈log₂ n⌉); here the mean",
        count: "hirschberg-sinclair.messages.mean",
        hops: "2(2^⌈log₂ n⌉ − 1) + 2n − 1",
        time: "hirschberg-sinclair.time",
        ..CHANG_ROBERTS
    },
    Costs {
        protocol: "ad hoc, one calls",
        messages: "4E − V + 1; here E = 2V",
        count: "ad-hoc.messages.total",
        hops: "3d to 3d + 2 at depth d; here every pair is linked",
        time: "ad-hoc.time",
        keeps: "O(degree): whom it waits for",
        ..BULLY
    },
];

impl Costs {
    /// What a quantity comes to, one hop taking a second and a time-out ten.
    fn worked_out(&self, quantity: &str) -> String {
        let at = usual(NODES, |given| {
            (given.delay, given.reply) = (1.0, Some(10.0));
            given.initiators = self.all_call.then_some(NODES);
        });
        (known(quantity).corrected)(&at).map_or("none".to_owned(), |value| {
            if value >= 1000.0 || value != libm::floor(value) {
                return number(value);
            }
            value.to_string()
        })
    }

    fn row(&self) -> Vec<String> {
        let (count, time) = (self.worked_out(self.count), self.worked_out(self.time));
        let [protocol, messages, hops, keeps, carries] =
            [self.protocol, self.messages, self.hops, self.keeps, self.carries].map(str::to_owned);
        vec![protocol, messages, count, hops, time, keeps, carries]
    }
}

/// All of them.
pub(super) fn table() -> Table {
    Table {
        title: "What one election costs, and what that comes to for a thousand processes",
        head: vec![
            "protocol",
            "messages",
            "N = 1000",
            "time in hops",
            "N = 1000",
            "a process keeps",
            "a message carries",
        ],
        rows: ALL.iter().map(Costs::row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_law_is_worked_out() {
        let table = table();
        for row in &table.rows {
            assert_eq!(row.len(), table.head.len(), "{row:?}");
            assert!(row.iter().all(|cell| !cell.is_empty() && cell != "none"), "{row:?}");
        }
        let column = |at: usize| table.rows.iter().map(|row| row[at].as_str()).collect::<Vec<_>>();
        assert_eq!(column(2)[..4], ["999999", "998999", "2000", "2000000"]);
        // 2·1023 + 1999 hops by Hirschberg-Sinclair.
        assert_eq!(column(4), ["2", "12", "1999", "1000", "1999", "1999", "4045", "5"]);
    }
}

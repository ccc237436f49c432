//! The figures of the thesis chapter, and ours about its protocols.

mod common;
mod evidence;
mod fig_5_10;
mod fig_5_11;
mod fig_5_12;
mod fig_5_13;
mod fig_5_6;
mod fig_5_7;
mod fig_5_8;
mod fig_5_9;
mod first_round;
mod table_5_1;
mod to_a_million;

use super::Figure;
use common::TO_500;

/// All of them, in the order of the report.
pub fn figures() -> Vec<Figure> {
    let mut all = vec![
        table_5_1::figure(),
        fig_5_6::figure(&TO_500),
        fig_5_7::figure(&TO_500),
        fig_5_8::figure(&TO_500),
        fig_5_9::figure(&TO_500),
        fig_5_10::figure(&TO_500),
        fig_5_11::figure(&TO_500),
        fig_5_12::figure(),
        fig_5_13::figure(),
    ];
    all.extend(to_a_million::figures());
    all
}

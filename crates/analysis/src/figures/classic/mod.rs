//! The figures of MEREA and of the lecture on elections, and ours about their protocols.

mod ad_hoc_6_22;
mod bully_3_12;
mod common;
mod complexity;
mod costs;
mod hirschberg_sinclair_phases;
mod merea_messages;
mod merea_table_3;
mod merea_times;
mod ring_6_21;
mod story;

use super::Figure;

/// All of them, in the order of the report.
pub fn figures() -> Vec<Figure> {
    vec![
        merea_messages::figure(),
        merea_times::figure(),
        merea_table_3::figure(),
        bully_3_12::figure(),
        ring_6_21::figure(),
        ad_hoc_6_22::figure(),
        hirschberg_sinclair_phases::figure(),
        complexity::figure(),
    ]
}

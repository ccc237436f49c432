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
mod records;
mod ring_6_21;

use super::Row;

/// All of them, in the order of the report.
pub const FIGURES: &[Row] = &[
    ("merea-messages", merea_messages::figure),
    ("merea-times", merea_times::figure),
    ("merea-table-3", merea_table_3::figure),
    ("bully-3-12", bully_3_12::figure),
    ("ring-6-21", ring_6_21::figure),
    ("ad-hoc-6-22", ad_hoc_6_22::figure),
    ("hirschberg-sinclair-phases", hirschberg_sinclair_phases::figure),
    ("complexity", complexity::figure),
];

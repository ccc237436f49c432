//! Findings for people and programs: pictures, tables, one page. Values in, text out.
//!
//! Nothing here reads a clock or a file, and nothing depends on threads: the same findings give the
//! same bytes, in whatever order and however often they are asked for.
//!
//! | module | what it writes |
//! |---|---|
//! | [`picture`] | a finding as SVG, for print and screen, in colour and without |
//! | [`bars`] | what a time is spent on, as text and SVG |
//! | [`csv`] | its points, one a row |
//! | [`json`] | all of it, and a report's verdicts |
//! | [`page`] | all findings on one page of HTML that needs nothing else |

pub mod bars;
pub mod csv;
pub mod json;
mod markup;
pub mod page;
pub mod picture;

use crate::figures::Finding;

/// The name of a finding's files, without what tells their kind.
///
/// Names of figures are ours and plain; should one not be, it still cannot leave its folder.
pub fn stem(finding: &Finding) -> String {
    stem_of(finding.id)
}

fn stem_of(id: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "-._".contains(character);
    let stem: String = id.chars().map(|c| if plain(c) { c } else { '-' }).collect();
    stem.trim_start_matches('.').to_owned()
}

#[cfg(test)]
pub(crate) mod sample;

//! Pictures are well formed, alike every time, and show what they should and nothing else.

use super::*;
use crate::figures::Kind;
use crate::report::sample;

/// Checks that tags match, as XML demands; enough for what we write ourselves.
fn check_tags(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    for piece in text.split('<').skip(1) {
        let (tag, _) = piece.split_once('>').expect("every tag ends");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(tag.split_whitespace().next().expect("tags have names"));
        }
        assert!(!tag.contains("NaN") && !tag.contains("inf"), "<{tag}>");
        let quotes = tag.matches('"').count();
        assert!(quotes.is_multiple_of(2), "<{tag}>");
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn pictures_are_well_formed_whatever_they_say() {
    for finding in [sample::plain(), sample::four(), sample::hostile()] {
        for text in [svg(&finding), inline(&finding)] {
            check_tags(&text);
            assert!(!text.contains("<script"), "{text}");
        }
    }
}

#[test]
fn pictures_do_not_depend_on_what_was_drawn_before() {
    let first = svg(&sample::four());
    let _other = svg(&sample::plain());
    assert_eq!(svg(&sample::four()), first);
}

#[test]
fn what_is_not_drawn_is_not_there_and_every_point_is() {
    let finding = sample::plain();
    let text = svg(&finding);
    assert!(!text.contains("not drawn"));
    let points = text.matches(" runs)</title>").count();
    assert_eq!(points, 3 * 8, "eight means of three protocols");
    assert_eq!(text.matches("<polyline").count(), 6 + 6, "six formulas, and their samples");
}

#[test]
fn a_mean_of_which_runs_were_cut_has_no_bar_and_says_so() {
    let mut finding = sample::plain();
    let calm = svg(&finding);
    let curve = finding.panes[0].curves.iter_mut().find(|curve| curve.kind == Kind::Simulated);
    curve.unwrap().dots[3].cut = 12;
    let text = svg(&finding);
    assert_eq!(text.matches(" or more (12 of 1012 runs were cut)</title>").count(), 1, "{text}");
    assert_eq!(text.matches(" runs)</title>").count(), calm.matches(" runs)</title>").count() - 1);
    let is_bar = |line: &&str| line.starts_with("<path d=\"M") && line.contains('V');
    let bars = |text: &str| text.lines().filter(is_bar).count();
    assert_eq!(bars(&text), bars(&calm) - 1);
}

#[test]
fn panes_that_say_the_same_share_a_legend() {
    let text = svg(&sample::four());
    assert_eq!(text.matches(">LE-S, printed</text>").count(), 1);
    let mut finding = sample::four();
    for (index, pane) in finding.panes.iter_mut().enumerate() {
        for curve in &mut pane.curves {
            curve.name = format!("{} of {index}", curve.name.replace(", ", " "));
        }
    }
    let text = svg(&finding);
    for index in 0..4 {
        assert_eq!(text.matches(&format!(">LE-S simulated of {index}</text>")).count(), 1);
    }
}

#[test]
fn a_formula_that_goes_astray_does_not_hide_the_rest() {
    let mut finding = sample::plain();
    let calm = svg(&finding);
    let last = finding.panes[0].curves.iter_mut().find(|curve| curve.name == "LE-M, printed");
    last.unwrap().dots[7].y = 1e12;
    let text = svg(&finding);
    assert!(!text.contains("000,000"), "the axis stays readable");
    assert_ne!(text, calm);
}

#[test]
fn a_finding_without_anything_is_a_picture_all_the_same() {
    let mut finding = sample::plain();
    finding.panes[0].curves.clear();
    check_tags(&svg(&finding));
    finding.panes.clear();
    check_tags(&svg(&finding));
}

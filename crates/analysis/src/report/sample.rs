//! Findings to try reports with: a plain one, one of four panes, one whose texts try to break the
//! markup.

use crate::figures::{Axis, Claim, Curve, Dot, Finding, Kind, Pane};

fn exact(x: f64, y: f64) -> Dot {
    Dot::exactly(x, y)
}

fn mean(x: f64, y: f64, stderr: f64) -> Dot {
    let ci95 = [y - 2.0 * stderr, y + 2.0 * stderr];
    let command = Some(format!("bellwether sim --nodes {x}"));
    Dot { stderr, ci95, runs: 1000, command, ..Dot::exactly(x, y) }
}

fn curve(name: &str, kind: Kind, hue: usize, dots: Vec<Dot>) -> Curve {
    Curve { name: name.to_owned(), kind, hue, drawn: true, dots }
}

/// Three protocols against N, by formula and by simulation, and one curve that is not drawn.
pub(crate) fn pane(title: &'static str, x: Axis, y: Axis) -> Pane {
    let nodes = [2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0];
    let mut curves = Vec::new();
    for (hue, name) in ["LE-A", "LE-S", "LE-M"].into_iter().enumerate() {
        let law = |n: f64| 1.0 + (hue + 1) as f64 * libm::log(n) + 0.1;
        let formula = nodes.iter().map(|n| exact(*n, law(*n))).collect();
        let means = nodes.iter().map(|n| mean(*n, law(*n), 0.08 * law(*n))).collect();
        let printed = nodes.iter().map(|n| exact(*n, 1.3 * law(*n))).collect();
        curves.push(curve(&format!("{name}, corrected"), Kind::Corrected, hue, formula));
        curves.push(curve(&format!("{name}, simulated"), Kind::Simulated, hue, means));
        curves.push(curve(&format!("{name}, printed"), Kind::Printed, hue, printed));
    }
    let mut hidden = curve("not drawn", Kind::Corrected, 3, vec![exact(2.0, 1e9)]);
    hidden.drawn = false;
    curves.push(hidden);
    Pane { title, x, y, curves }
}

/// One pane, three claims.
pub(crate) fn plain() -> Finding {
    let claim = |says, holds| Claim::judged(says, "5.3.1", holds, "7.1 against 7.2".to_owned());
    Finding {
        id: "5.6",
        title: "Messages until a leader is known to all",
        source: "Figure 5.6 of the thesis",
        says: "Three protocols need more messages in larger groups.",
        choices: &["The text gives no Δ; it is .1 here."],
        panes: vec![pane("", Axis::log("group size N", ""), Axis::linear("time", "s"))],
        run: None,
        tables: Vec::new(),
        claims: vec![
            claim("LE-A needs the fewest", true),
            claim("LE-M does not grow", false),
            Claim::open("It is fast", "5.4", "the text does not say how fast"),
        ],
        command: "bellwether reproduce 5.6 --runs 1000 --seed 1".to_owned(),
    }
}

/// Four panes, with every kind of axis.
pub(crate) fn four() -> Finding {
    let (across, up) = (Axis::log("group size N", ""), Axis::linear("time", "s"));
    let panes = vec![
        pane("no loss", across, up),
        pane("l = .2", Axis::linear("group size N", ""), up),
        pane("l = .4", across, Axis::log("messages", "")),
        pane("l = .8", Axis::linear("group size N", ""), Axis::log("messages", "")),
    ];
    Finding { id: "table-5.1", panes, ..plain() }
}

/// Texts that would end their element, and numbers that are none.
pub(crate) fn hostile() -> Finding {
    let evil = "</text><script>alert(\"1\")</script> & 'so' \u{0} on";
    let mut finding = plain();
    finding.id = "../<&'\">";
    finding.title = evil;
    finding.source = evil;
    finding.says = evil;
    finding.panes[0].title = evil;
    finding.panes[0].x.label = evil;
    finding.panes[0].y.unit = evil;
    let dots = &mut finding.panes[0].curves[1].dots;
    (dots[0].y, dots[1].x, dots[2].ci95) = (f64::NAN, f64::INFINITY, [f64::NEG_INFINITY, f64::NAN]);
    finding.panes[0].curves[0].name = evil.to_owned();
    finding.claims[0].says = evil;
    finding.claims[0].because = evil.to_owned();
    finding.command = evil.to_owned();
    finding
}

//! A finding as JSON: all that there is to know about it, under stable keys.

use crate::figures::{Axis, Curve, Dot, Finding, Pane, Played};
use serde_json::{Value, json};

/// The finding, for programs.
pub fn json(finding: &Finding) -> Value {
    json!({
        "figure": finding.id,
        "title": finding.title,
        "source": finding.source,
        "says": finding.says,
        "choices": finding.choices,
        "panes": finding.panes.iter().map(pane).collect::<Vec<_>>(),
        "run": finding.run.as_ref().map(run),
        "tables": finding.tables,
        "claims": finding.claims,
        "cut": finding.cuts(),
        "command": finding.command,
    })
}

/// What a report says to every claim, without the numbers of the pictures.
pub fn verdicts(findings: &[Finding]) -> Vec<Value> {
    let of = |finding: &Finding| {
        json!({
            "figure": finding.id,
            "title": finding.title,
            "source": finding.source,
            "claims": finding.claims,
        })
    };
    findings.iter().map(of).collect()
}

fn run(run: &Played) -> Value {
    json!({"scenario": run.scenario, "command": run.command(), "records": run.records})
}

fn pane(pane: &Pane) -> Value {
    json!({
        "title": pane.title,
        "x": axis(pane.x),
        "y": axis(pane.y),
        "series": pane.curves.iter().map(curve).collect::<Vec<_>>(),
    })
}

fn axis(axis: Axis) -> Value {
    json!({"label": axis.label, "unit": axis.unit, "log": axis.log})
}

fn curve(curve: &Curve) -> Value {
    json!({
        "name": curve.name,
        "kind": curve.kind.name(),
        "drawn": curve.drawn,
        "points": curve.dots.iter().map(dot).collect::<Vec<_>>(),
    })
}

fn dot(dot: &Dot) -> Value {
    if dot.runs == 0 {
        return json!({"x": dot.x, "y": dot.y});
    }
    json!({
        "x": dot.x,
        "y": dot.y,
        "stderr": (dot.cut == 0).then_some(dot.stderr),
        "ci95": (dot.cut == 0).then_some(dot.ci95),
        "runs": dot.runs,
        "cut": dot.cut,
        "command": dot.command,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn the_keys_are_those_that_programs_rely_on() {
        let value = json(&sample::plain());
        for key in ["figure", "title", "source", "says", "choices", "panes", "claims", "command"] {
            assert!(!value[key].is_null(), "{key}: {value}");
        }
        let point = &value["panes"][0]["series"][1]["points"][0];
        for key in ["x", "y", "stderr", "ci95", "runs"] {
            assert!(!point[key].is_null(), "{key}: {point}");
        }
        let mut finding = sample::plain();
        finding.panes[0].curves[1].dots[0].cut = 12;
        let cut = &json(&finding)["panes"][0]["series"][1]["points"][0];
        assert!(cut["stderr"].is_null() && cut["ci95"].is_null() && cut["cut"] == 12, "{cut}");
        assert_eq!(value["claims"][0]["verdict"], "confirmed");
        assert_eq!(value["claims"][2]["verdict"], "not-reproducible");
    }
}

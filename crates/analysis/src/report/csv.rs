//! A finding as CSV (RFC 4180, with plain line ends): a row for each point, or for each message.

use crate::figures::{Curve, Dot, Finding, Pane, Played};
use bellwether_core::Event;

const HEADER: &str = "figure,pane,series,kind,x,y,stderr,ci95_low,ci95_high,runs,cut,command\n";
const HEADER_OF_RUNS: &str = "scenario,sent,received,from,to,message\n";

/// All points, those of curves that are not drawn as well; of a run, all messages that arrived.
///
/// A formula has no error and no runs: those cells are empty. So are the error and the interval of
/// a mean of which runs were cut. Numbers are written with all the digits it takes to read the same
/// number back.
pub fn csv(finding: &Finding) -> String {
    if let Some(run) = &finding.run {
        return messages(run);
    }
    let mut text = HEADER.to_owned();
    for pane in &finding.panes {
        for curve in &pane.curves {
            for dot in &curve.dots {
                text += &row(finding, pane, curve, dot).join(",");
                text.push('\n');
            }
        }
    }
    text
}

/// Times are in seconds.
fn messages(run: &Played) -> String {
    let mut text = HEADER_OF_RUNS.to_owned();
    for record in &run.records {
        if let Event::Recv { from, message, sent, .. } = &record.event {
            let (sent, received) = (sent.as_secs_f64(), record.t.as_secs_f64());
            let (scenario, to, message) = (cell(run.scenario), record.node, cell(message));
            text += &format!("{scenario},{sent},{received},{from},{to},{message}\n");
        }
    }
    text
}

fn row(finding: &Finding, pane: &Pane, curve: &Curve, dot: &Dot) -> [String; 12] {
    let measured = |value: String| if dot.runs > 0 { value } else { String::new() };
    let [low, high] = dot.ci95;
    let unless_cut = |end: f64| if dot.cut > 0 { String::new() } else { end.to_string() };
    let [stderr, low, high] = [dot.stderr, low, high].map(unless_cut);
    [
        cell(finding.id),
        cell(pane.title),
        cell(&curve.name),
        curve.kind.name().to_owned(),
        dot.x.to_string(),
        dot.y.to_string(),
        measured(stderr),
        measured(low),
        measured(high),
        measured(dot.runs.to_string()),
        measured(dot.cut.to_string()),
        cell(dot.command.as_deref().unwrap_or_default()),
    ]
}

/// A cell: in quotes if it has a comma, a quote or a line end.
pub fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn every_point_has_a_row_of_twelve_cells() {
        let mut finding = sample::plain();
        finding.panes[0].curves.pop();
        let points: usize =
            finding.panes.iter().flat_map(|pane| &pane.curves).map(|curve| curve.dots.len()).sum();
        let text = csv(&finding);
        assert_eq!(text.lines().count(), 1 + points);
        for line in text.lines().skip(1) {
            // The only comma that is not between cells is that of the series' name, in quotes.
            assert_eq!(line.split(',').count(), 12 + 1, "{line}");
        }
    }

    #[test]
    fn a_formula_has_neither_error_nor_runs() {
        let text = csv(&sample::plain());
        let line = text.lines().find(|line| line.contains(",corrected,")).unwrap();
        assert!(line.ends_with(",,,,,,"), "{line}");
    }

    #[test]
    fn a_mean_of_which_runs_were_cut_has_no_interval() {
        let mut finding = sample::plain();
        finding.panes[0].curves[1].dots[0].cut = 12;
        let text = csv(&finding);
        let line = text.lines().find(|line| line.contains(",1000,12,")).unwrap();
        assert!(line.contains(",,,,1000,12,"), "{line}");
    }

    #[test]
    fn a_cell_that_needs_quotes_has_them() {
        assert_eq!(cell("say \"a, b\""), "\"say \"\"a, b\"\"\"");
        assert_eq!(cell("plain"), "plain");
    }
}

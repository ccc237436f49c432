//! Rows as a picture: one axis across, one measure up, a curve for each combination of the rest.

use super::Planned;
use super::point::{target_column, text};
use super::table::Table;
use crate::cli::Done;
use crate::cli::failure::Failure;
use crate::cli::file;
use bellwether::analysis::figures::{Axis, Curve, Dot, Finding, Kind, Pane};
use bellwether::analysis::report::picture;
use bellwether::core::Duration;
use serde_json::Value;
use std::path::Path;
use std::str::FromStr;

/// What is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plot {
    x: String,
    y: String,
    colour: Option<String>,
    log: bool,
    log_x: bool,
}

impl FromStr for Plot {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (mut x, mut y, mut colour, mut log, mut log_x) = (None, None, None, false, false);
        for word in text.split(',') {
            match word.split_once('=') {
                Some(("x", name)) => x = Some(name.replace('_', "-")),
                Some(("y", name)) => y = Some(name.to_owned()),
                Some(("colour" | "color", name)) => colour = Some(name.replace('_', "-")),
                None if word == "log" => log = true,
                None if word == "log-x" => log_x = true,
                _ => {
                    return Err(format!(
                        "'{word}' is none of x=FLAG, y=MEASURE, colour=FLAG, log and log-x"
                    ));
                }
            }
        }
        match (x, y) {
            (Some(x), Some(y)) => Ok(Self { x, y, colour, log, log_x }),
            _ => Err("a picture needs x=FLAG and y=MEASURE".to_owned()),
        }
    }
}

impl Plot {
    /// Refuses names that the sweep does not have, and values that have no place on an axis.
    pub(super) fn check(&self, plan: &Planned) -> Done {
        let columns = plan.sweep.columns();
        let target = target_column(plan.sweep.asks);
        let known = columns.join(", ");
        if !columns.contains(&self.x.as_str()) {
            let line =
                format!("--plot x={}: that is no axis of the sweep, which has {known}", self.x);
            return Err(Failure::usage(line));
        }
        if let Some(colour) = &self.colour
            && !columns.contains(&colour.as_str())
            && colour != target
        {
            let line = format!("--plot colour={colour}: the sweep has the axes {known}, {target}");
            return Err(Failure::usage(line));
        }
        let measures = &plan.sweep.measures;
        if !measures.is_empty() && !measures.contains(&self.y) {
            let measures = measures.join(", ");
            return Err(Failure::usage(format!("--plot y={}: the rows have {measures}", self.y)));
        }
        for point in &plan.points {
            let value = point.at.settings.iter().find(|(name, _)| *name == self.x);
            if let Some((_, value)) = value
                && place(value).is_none()
            {
                let (x, value) = (&self.x, text(value));
                let line = format!("--plot x={x}: '{value}' is neither a number nor a time");
                return Err(Failure::usage(line));
            }
        }
        Ok(())
    }

    pub(super) fn draw(&self, plan: &Planned, table: &Table, path: &Path) -> Done {
        let curves = self.curves(plan, table);
        if curves.is_empty() {
            return Err(Failure::usage(format!("--plot y={}: no row has that measure", self.y)));
        }
        // The picture's texts live as long as the process, which ends soon.
        let label = |text: &str| -> &'static str { text.replace('-', " ").leak() };
        let axis = |name: &str, log| Axis { label: label(name), unit: "", log };
        let title = format!("{} against {}", self.y.replace('_', " "), self.x);
        let y = axis(&self.y.replace('_', " "), self.log);
        let finding = Finding {
            id: "sweep",
            title: title.leak(),
            source: "ours: a sweep",
            says: "",
            choices: &[],
            panes: vec![Pane { title: "", x: axis(&self.x, self.log_x), y, curves }],
            run: None,
            tables: Vec::new(),
            claims: Vec::new(),
            command: String::new(),
        };
        file::replace(path, &picture::svg(&finding))
    }

    /// A curve for each combination of what is not drawn across.
    fn curves(&self, plan: &Planned, table: &Table) -> Vec<Curve> {
        let kind = match self.y.as_str() {
            "printed" => Kind::Printed,
            "corrected" => Kind::Corrected,
            _ => Kind::Simulated,
        };
        let (mut curves, mut colours): (Vec<Curve>, Vec<String>) = (Vec::new(), Vec::new());
        for cell in table.cells.iter().filter(|cell| cell.metric == self.y) {
            let at = &plan.points[cell.point].at;
            let Some(x) = at.settings.iter().find(|(name, _)| *name == self.x) else { continue };
            let Some(x) = place(&x.1) else { continue };
            let others = at.settings.iter().filter(|(name, _)| *name != self.x);
            let mut name: Vec<String> =
                others.map(|(name, value)| format!("{name} {}", text(value))).collect();
            if plan.sweep.targets.len() > 1 || name.is_empty() {
                name.insert(0, at.target.clone());
            }
            let name = name.join(", ");
            let own = at.settings.iter().find(|(name, _)| Some(name) == self.colour.as_ref());
            let colour = match (own, &self.colour) {
                (Some((_, value)), _) => text(value),
                (None, Some(_)) => at.target.clone(),
                (None, None) => name.clone(),
            };
            let hue = colours.iter().position(|known| *known == colour).unwrap_or_else(|| {
                colours.push(colour);
                colours.len() - 1
            });
            let dot = Dot {
                stderr: cell.stderr,
                ci95: cell.interval,
                runs: cell.count,
                cut: cell.cut,
                command: Some(cell.command.clone()),
                ..Dot::exactly(x, cell.mean)
            };
            match curves.iter_mut().find(|curve| curve.name == name) {
                Some(curve) => curve.dots.push(dot),
                None => curves.push(Curve { name, kind, hue, drawn: true, dots: vec![dot] }),
            }
        }
        for curve in &mut curves {
            curve.dots.sort_by(|a, b| a.x.total_cmp(&b.x));
        }
        curves
    }
}

/// Where a value is on an axis: a number, or a time in seconds.
fn place(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => {
            let time: Duration = text.parse().ok()?;
            (time != Duration::MAX).then(|| time.as_secs_f64())
        }
        other => other.as_f64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_asked_for_in_words() {
        let plot: Plot = "x=loss,y=messages,colour=loss_model,log".parse().unwrap();
        assert_eq!((plot.x.as_str(), plot.y.as_str()), ("loss", "messages"));
        assert_eq!(
            (plot.colour.as_deref(), plot.log, plot.log_x),
            (Some("loss-model"), true, false)
        );
        assert!("x=loss".parse::<Plot>().unwrap_err().contains("y=MEASURE"));
        assert!("x=loss,y=a,z=b".parse::<Plot>().unwrap_err().contains("'z=b'"));
    }
}

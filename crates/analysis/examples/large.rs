//! Draws what large groups of leases cost, as the benchmark measured it:
//! `large docs/large.csv` prints `docs/large.svg`; `docs/draw large FILE` calls this.
//!
//! The table comes from `cargo bench -p bellwether-net --bench large -- --csv docs/large.csv`.

use bellwether_analysis::figures::{Axis, Curve, Dot, Finding, Kind, Pane};
use bellwether_analysis::report::picture;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(file) = std::env::args().nth(1) else {
        eprintln!("large: give the table that the benchmark wrote, as in docs/large.csv");
        return ExitCode::from(2);
    };
    let table = std::fs::read_to_string(&file).map_err(|error| error.to_string());
    match table.and_then(|text| draw(&text)) {
        Ok(picture) => {
            print!("{picture}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("large: {file}: {why}; write it with the benchmark's --csv");
            ExitCode::FAILURE
        }
    }
}

/// The numbers of two columns, row by row.
fn column(text: &str, name: &str) -> Result<Vec<(f64, f64)>, String> {
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap_or_default();
    let place = |name: &str| {
        let found = head.iter().position(|cell| *cell == name);
        found.ok_or_else(|| format!("it has no column {name}"))
    };
    let (across, up) = (place("members")?, place(name)?);
    let number = |cells: &[&str], place: usize| {
        let cell = cells.get(place).copied().unwrap_or_default();
        cell.parse::<f64>().map_err(|_| format!("'{cell}' is not a number"))
    };
    lines.map(|cells| Ok((number(&cells, across)?, number(&cells, up)?))).collect()
}

fn draw(text: &str) -> Result<String, String> {
    let curve = |name: &str, hue, of: &str| {
        let dot = |(x, y)| Dot { runs: 1, ..Dot::exactly(x, y) };
        let dots = column(text, of)?.into_iter().map(dot).collect();
        Ok::<_, String>(Curve {
            name: name.to_owned(),
            kind: Kind::Measured,
            hue,
            drawn: true,
            dots,
        })
    };
    let pane = |title, y, columns: [&str; 2]| {
        let curves = vec![curve("the leader", 0, columns[0])?, curve("a follower", 1, columns[1])?];
        Ok::<_, String>(Pane { title, x: Axis::log("members", ""), y, curves })
    };
    let panes = vec![
        pane(
            "Datagrams",
            Axis::log("datagrams a second", ""),
            ["leader_datagrams", "follower_datagrams"],
        )?,
        pane("Memory", Axis::log("memory", "KiB"), ["leader_kib", "follower_kib"])?,
        pane(
            "Processor time",
            Axis::log("processor time", "% of a core"),
            ["leader_percent", "follower_percent"],
        )?,
    ];
    Ok(picture::svg(&Finding {
        id: "large",
        title: "What a member of a group with five voters costs, by the size of the group",
        source: "cargo bench -p bellwether-net --bench large",
        says: "",
        choices: &[],
        panes,
        run: None,
        tables: Vec::new(),
        claims: Vec::new(),
        command: "docs/draw large docs/large.svg".to_owned(),
    }))
}

//! Which pictures of a run are drawn.

use crate::cli::failure::Failure;
use bellwether::core::Record;
use bellwether::sim::ScenarioFile;
use bellwether::sim::diagram::{Arrangement, Options, plane, plane_and_time, space_time};
use clap::ValueEnum;

/// What a picture shows.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::cli) enum View {
    /// The ring or the network, if there is one, and the run over time
    #[default]
    All,
    /// The run over time
    Time,
    /// The ring, with what each process sent on
    Ring,
    /// The network, with the election tree
    Graph,
}

/// The positions of processes, if they have any.
pub(in crate::cli) type Places = Option<Vec<[f64; 2]>>;

impl View {
    /// The ring or network of a scenario, if the picture shows it.
    ///
    /// # Errors
    /// If the processes have no such arrangement, or are too many.
    pub(in crate::cli) fn arrange(
        self,
        scenario: &ScenarioFile,
        seed: u64,
        places: Places,
    ) -> Result<Option<Arrangement>, Failure> {
        let arrangement = match (self, Arrangement::of(scenario, seed, places)) {
            (Self::Time, _) => None,
            (Self::All, arrangement) => arrangement,
            (Self::Ring, Some(ring @ Arrangement::Ring { .. })) => Some(ring),
            (Self::Graph, Some(graph @ Arrangement::Graph(_))) => Some(graph),
            (Self::Ring, _) => return Err(self.not_there(scenario, "on a ring")),
            (Self::Graph, _) => return Err(self.not_there(scenario, "in a network of links")),
        };
        if let Some(arrangement) = &arrangement {
            let or_else = "or take --view time";
            arrangement.check().map_err(|bad| Failure::usage(format!("{bad}, {or_else}")))?;
        }
        Ok(arrangement)
    }

    fn not_there(self, scenario: &ScenarioFile, how: &str) -> Failure {
        let name = if self == Self::Ring { "ring" } else { "graph" };
        let protocol = &scenario.protocol;
        Failure::usage(format!(
            "--view {name}: the processes of {protocol} do not stand {how}; leave it out"
        ))
    }

    /// The picture.
    pub(in crate::cli) fn draw(
        self,
        records: &[Record],
        arrangement: Option<&Arrangement>,
        options: &Options,
    ) -> Result<String, Failure> {
        match arrangement {
            None => Ok(space_time(records, options)),
            Some(arrangement) => match self {
                Self::All | Self::Time => plane_and_time(records, arrangement, options),
                Self::Ring | Self::Graph => plane(records, arrangement, options),
            }
            .map_err(Failure::usage),
        }
    }
}

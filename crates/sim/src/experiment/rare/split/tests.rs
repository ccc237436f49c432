//! Counting: what splitting is held against.

use super::*;

/// In how many of so many whole runs the event happens.
pub(in super::super) fn count(
    experiment: &Experiment,
    rare: &Rare,
    runs: u32,
) -> Result<u64, BadExperiment> {
    struct Counting<'a>(&'a Experiment, &'a Rare, bool);
    impl Visitor for Counting<'_> {
        type Output = u64;

        fn visit<P: Protocol>(self, params: P::Params) -> u64 {
            let Self(experiment, rare, settled) = self;
            let stages = Stages::<P> { experiment, rare, settled, params, over: &|| false };
            let seed = RunSeed::new(!experiment.seed, 0);
            let happens = |number: u64| stages.run(&[], seed, number, u64::MAX).gauge.happened;
            let all = (0..u64::from(rare.effort)).into_par_iter();
            all.filter(|number| happens(*number)).count() as u64
        }
    }
    let rare = Rare { effort: runs, ..*rare };
    experiment.check()?;
    let (experiment, settled) = watched(experiment, rare.event);
    Ok(experiment.choice.clone().visit(Counting(&experiment, &rare, settled)))
}

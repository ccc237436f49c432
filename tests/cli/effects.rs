//! Flags that would change nothing are refused, and rules are told with the names of flags.

use crate::command::{refusal, stdout};

#[test]
fn flags_without_effect_are_refused_with_what_would_give_them_one() {
    for (arguments, words) in [
        ("sim le-s --jitter 5ms", "--jitter has no effect with --mapping random, only with"),
        ("sim le-s --loss-model correlated", "--loss-model correlated has no effect without loss"),
        ("analyze le-s.leadership-delay --loss-model correlated", "has no effect without loss"),
        ("sim le-s --loss .1 --burst 7", "--burst 7 has no effect without --loss-model bursts"),
        ("sim le-s --bye", "--bye has no effect with --scenario start"),
        ("sim le-s --listen 3s --bye-copies 3", "--bye-copies has no effect with --scenario start"),
        ("sim le-s --window 9s", "--window has no effect with --scenario start"),
        ("sim bully --window 1ms", "--window has no effect where nothing is lost"),
        ("sim probabilistic --window 1ms", "--window has no effect where nothing is lost"),
        ("sim le-a --suppress 2s", "--suppress is no flag of le-a, which has --announce"),
        ("trace query --mapping standing", "--mapping is no flag of query"),
        ("sim le-s --patience 2s", "--patience is no flag of le-s"),
        ("check sup --announce 2s", "--announce is no flag of sup"),
        ("sim sup-al-elect --as-printed", "--as-printed is no flag of sup-al-elect"),
        ("sim le-s --departures .1", "--departures has no effect without churn"),
        ("sim bully --beat 1s", "--beat has no effect with --detector told"),
        ("sim local-leader --preempt-delay 1s", "--preempt-delay has no effect with --preempt"),
        ("sim le-s --straggle 5s", "--straggle 5s has no effect without --duplicate or --reorder"),
        ("run g --insecure --hook-timeout 5s", "--hook-timeout has no effect without a hook"),
        ("analyze bully.messages.from --initiator 1 --initiator 2", "a formula is about one"),
        ("check-config g --insecure --rank 7", "--rank has no effect with local-leader and"),
        ("run g --insecure --protocol le-s --rank 7", "--rank has no effect with le-s and these"),
        ("run g --insecure --grace 5ms", "--grace has no effect without a command"),
        ("check-config g --insecure --restart", "--restart has no effect without a command"),
        ("trace le-s --title T", "required arguments were not provided: --svg"),
        ("reproduce --list --out figures", "'--list' cannot be used with '--out <DIR>'"),
        ("reproduce --list --runs 500", "'--list' cannot be used with '--runs <R>'"),
        ("reproduce --list --seed 7", "'--list' cannot be used with '--seed <S>'"),
        ("reproduce --list --threads 1", "'--list' cannot be used with '--threads <T>'"),
        ("reproduce --list --shard 1/2", "'--list' cannot be used with '--shard <I/N>'"),
        ("plan local-leader --simulate 0 --seed 7", "--seed 7 has no effect with --simulate 0"),
        ("plan announce-listen --simulate 0 --threads 1", "--threads 1 has no effect with"),
        ("analyze le-s.leadership-delay --threads 1", "--threads 1 has no effect without"),
        ("analyze le-s.leadership-delay --seed 7", "--seed 7 has no effect without --simulate"),
    ] {
        let line = refusal(arguments, 2);
        assert!(line.contains(words), "{arguments}: {line}");
    }
    stdout("sim le-s --runs 2 --nodes 3 --window 100s --jitter 0 --loss 0 --burst 4");
    stdout("sim bully --runs 2 --nodes 3 --loss .1 --window 9s");
    stdout("sim le-s --runs 2 --nodes 3 --straggle 0.1s");
    stdout("sim le-s --runs 2 --nodes 3 --straggle 5s --reorder .1");
}

#[test]
fn a_rule_that_parameters_break_is_told_with_their_flags() {
    for (arguments, words) in [
        ("sim le-s --leaders 0", "--leaders = 0, but 1 <= --leaders <= 64 must hold"),
        ("sim le-s --aging 9s", "--aging = 9s and --listen = infinite, but 0 < --aging"),
        ("trace bully --reply 3s --wait 2s", "--wait"),
        ("sim local-leader --drift-ppm 200000", "--drift-ppm = 200000, but --drift-ppm <= "),
        ("analyze le-s.leadership-delay --loss 1", "--loss = 1, but 0 <= --loss <= 0.9999"),
        ("analyze le-s.leadership-delay --nodes 1", "--nodes = 1, but 2 <= --nodes <="),
    ] {
        let line = refusal(arguments, 2);
        assert!(line.contains(words), "{arguments}: {line}");
    }
    for (flags, words) in [
        ("--protocol le-s --listen-for 0s", "le-s: --listen-for = 0s, but --listen-for > 0"),
        ("--preempt-delay 3s", "--preempt-delay has no effect with --preempt false, only with"),
        ("--spare 1 --mode local", "--spare has no effect with --mode local"),
        ("--protocol bully --beat 1s --detector told", "--beat has no effect with --detector told"),
    ] {
        let line = refusal(&format!("check-config g --insecure {flags}"), 78);
        assert!(line.starts_with(&format!("bellwether: {words}")), "{flags}: {line}");
    }
}

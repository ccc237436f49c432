//! Every lesson ends as it states, and its captions can be read along.

use bellwether_check::judge_plan_by;
use bellwether_core::{Duration, SimTime};
use bellwether_lab::{EVENTS_MAX, LESSONS, Lesson, NODES_MAX};
use bellwether_sim::ScenarioFile;
use bellwether_sim::ending::Ending;
use std::path::Path;

fn read(lesson: &Lesson) -> ScenarioFile {
    ScenarioFile::parse(lesson.text).unwrap_or_else(|bad| panic!("{}: {bad}", lesson.name))
}

#[test]
fn every_lesson_ends_as_it_states() {
    let mut wrong = Vec::new();
    for lesson in LESSONS {
        let file = read(lesson);
        let records = file.trace(file.seed);
        assert!(records.len() < EVENTS_MAX && file.plan.nodes <= NODES_MAX, "{}", lesson.name);
        let ending = Ending::of(&records, SimTime::ZERO + file.plan.horizon);
        let judged = judge_plan_by(&file.choice, &file.plan, file.promise, file.seed).unwrap();
        let broken = judged.breaches.first().map(|breach| breach.invariant);
        let stated = file.outcome.expect("a lesson states its outcome");
        if let Some(difference) = stated.differs(&ending, broken) {
            wrong.push(format!("{}: {difference}; {:?}", lesson.name, judged.breaches));
        }
        let told = file.captions.iter().filter_map(|caption| caption.differs(&records));
        wrong.extend(told.map(|difference| format!("{}: {difference}", lesson.name)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn an_outcome_that_is_not_so_is_told() {
    let file = read(LESSONS.iter().find(|lesson| lesson.name == "hall-bug").unwrap());
    let ending = Ending::of(&file.trace(file.seed), SimTime::ZERO + file.plan.horizon);
    let stated = file.outcome.unwrap();
    let told = |stated: &bellwether_sim::StatedOutcome, broken| stated.differs(&ending, broken);
    assert_eq!(told(&stated, Some("locked-supporters")), None);
    assert!(told(&stated, None).unwrap().contains("should be broken"));
    let mut other = stated.clone();
    other.leaders = vec![2];
    assert!(told(&other, Some("locked-supporters")).unwrap().contains("should lead, and"));
    other = stated.clone();
    other.most_leaders = Some(1);
    assert!(told(&other, Some("locked-supporters")).unwrap().contains("should lead at once"));
    other = stated;
    other.sent = Some(1);
    assert!(told(&other, Some("locked-supporters")).unwrap().contains("messages should be sent"));
}

#[test]
fn a_caption_that_is_not_so_is_told() {
    let file = read(LESSONS.iter().find(|lesson| lesson.name == "bully-3-12").unwrap());
    let records = file.trace(file.seed);
    let told = |at: &str, leaders: Option<Vec<u32>>, sent| {
        let caption = bellwether_sim::Caption {
            at: at.parse().unwrap(),
            text: "x".to_owned(),
            leaders,
            sent,
        };
        caption.differs(&records)
    };
    assert_eq!(told("299ms", Some(vec![7]), None), None);
    assert_eq!(told("299ms", None, None), None, "nothing is stated");
    // It crashes at this instant.
    let late = told("300ms", Some(vec![7]), None).unwrap();
    assert_eq!(late, "at 0.3s, [7] should lead, and [] do");
    assert_eq!(told("300ms", Some(Vec::new()), Some(7)), None);
    let sent = told("500ms", None, Some(7)).unwrap();
    assert!(sent.starts_with("at 0.5s, 7 messages should be sent, and "), "{sent}");
}

#[test]
fn every_lesson_is_told_step_by_step() {
    assert!(LESSONS.len() >= 10);
    for lesson in LESSONS {
        let file = read(lesson);
        assert!(file.captions.len() >= 4, "{} has few captions", lesson.name);
        assert_eq!(file.captions[0].at, Duration::ZERO, "{} begins with one", lesson.name);
        for caption in &file.captions {
            let length = caption.text.chars().count();
            assert!((15..400).contains(&length), "{}: {}", lesson.name, caption.text);
        }
        let beside = |name| LESSONS.iter().any(|other| other.name == name);
        assert!(lesson.beside.is_none_or(beside), "{}", lesson.name);
    }
}

#[test]
fn every_lesson_of_the_folder_is_taught() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/lessons");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(LESSONS.iter().any(|lesson| lesson.name == name), "{name} is not listed");
        files += 1;
    }
    assert_eq!(files, LESSONS.len());
}

#[test]
fn captions_out_of_order_are_refused_with_their_place() {
    let file = |captions: &str| {
        let text = format!("protocol = 'le-s'\nnodes = 3\nuntil = '2s'\n{captions}");
        ScenarioFile::parse(&text).err().map(|bad| bad.to_string()).unwrap_or_default()
    };
    let caption = |at: &str| format!("[[caption]]\nat = '{at}'\ntext = 'x'\n");
    assert_eq!(file(&(caption("1s") + &caption("1s"))), "");
    let late = file(&caption("3s"));
    assert!(late.starts_with("line 4: captions come in order of time, and none after"), "{late}");
    assert!(file(&(caption("2s") + &caption("1s"))).contains("in order of time"));
    assert!(file("[outcome]\ntext = 'x'\n").contains("missing field `leaders`"));
}

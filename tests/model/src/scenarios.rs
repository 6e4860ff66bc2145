//! The scenarios, and the wrong version that each of them refutes.

use crate::scenario::{Attempt, Scenario, Script, Write, Wrong, UNBOUNDED};
use crate::storage::{Index, Set};

/// A batch of two records, in one file or in two; and the same batch with a third record.
const ONE_FILE: &[Set] = &[0b011];
const TWO_FILES: &[Set] = &[0b001, 0b010];
const LONGER: &[Set] = &[0b011, 0b100];

fn write(write: Index, files: &[Set]) -> Write {
    Write { write, input: files.iter().fold(0, |all, one| all | one), work: 0, files: files.to_vec() }
}

fn driver(attempts: Vec<Attempt>) -> Script {
    Script { query: 0, replaced: vec![], batches: vec![attempts], rest_of: None }
}

fn of(name: &'static str, about: &'static str, drivers: Vec<Script>) -> Scenario {
    Scenario {
        name,
        about,
        drivers,
        tables: vec![0b01],
        faults: 0,
        switches: UNBOUNDED,
        lease: false,
        journal: false,
        compactors: 0,
        reader: false,
        wrong: None,
    }
}

fn two_drivers() -> Scenario {
    of(
        "two drivers",
        "the same batch, cut into other files by each",
        vec![driver(vec![vec![write(0, TWO_FILES)]]), driver(vec![vec![write(0, ONE_FILE)]])],
    )
}

fn replaced() -> Scenario {
    of(
        "other input",
        "the second driver's batch has a record more",
        vec![driver(vec![vec![write(0, ONE_FILE)]]), driver(vec![vec![write(0, LONGER)]])],
    )
}

/// Two drivers take over from each other: each finds what the one before it has left, and all may still be alive.
fn three_drivers() -> Scenario {
    of(
        "three drivers",
        "the second driver's batch has a record more, the third one's has not",
        vec![
            driver(vec![vec![write(0, ONE_FILE)]]),
            driver(vec![vec![write(0, LONGER)]]),
            driver(vec![vec![write(0, ONE_FILE)]]),
        ],
    )
}

/// Two writes in each batch, to two tables, in another order in each attempt.
fn two_writes() -> Scenario {
    Scenario {
        tables: vec![0b01, 0b10],
        ..of(
            "two writes",
            "to two tables, in another order in each attempt",
            vec![
                driver(vec![
                    vec![write(0, ONE_FILE), write(1, ONE_FILE)],
                    vec![write(1, ONE_FILE), write(0, ONE_FILE)],
                ]),
                driver(vec![vec![write(1, ONE_FILE), write(0, ONE_FILE)]]),
            ],
        )
    }
}

/// Two writes to one table whose records depend on which of them comes first; only the work tells them apart.
fn other_work() -> Scenario {
    let of_work = |work, files: &[Set]| Write { input: 0b011, work, ..write(0, files) };
    of(
        "other work",
        "the second attempt does something else with the same records",
        vec![
            driver(vec![vec![of_work(1, &[0b001])], vec![of_work(2, &[0b010])]]),
            driver(vec![vec![of_work(2, &[0b010])]]),
        ],
    )
}

/// One driver's function does something else in its second attempt, and in the third what it did in the first.
fn work_comes_back() -> Scenario {
    let of_work = |work, files: &[Set]| Write { input: 0b011, work, ..write(0, files) };
    let (first, second) = (vec![of_work(1, &[0b001])], vec![of_work(2, TWO_FILES)]);
    of(
        "work comes back",
        "the second attempt does something else, the third does what the first did",
        vec![driver(vec![first.clone(), second, first])],
    )
}

/// The first attempt writes to a table that the next one does not write to, as a path made from the time does.
fn another_way() -> Scenario {
    Scenario {
        tables: vec![0b01, 0b10],
        journal: true,
        ..of(
            "another way",
            "the first attempt writes to one table and the next to another",
            vec![
                driver(vec![vec![write(0, ONE_FILE)], vec![write(1, ONE_FILE)]]),
                driver(vec![vec![write(1, ONE_FILE)]]),
            ],
        )
    }
}

fn lease() -> Scenario {
    Scenario { name: "lease", about: "three drivers race for the checkpoint", lease: true, ..three_drivers() }
}

/// Two batches, while two compactions combine the files of the first one and a slow reader looks.
fn compaction() -> Scenario {
    let first = vec![vec![write(0, TWO_FILES)]];
    let second = vec![vec![write(0, &[0b100])]];
    let script = Script { batches: vec![first, second], ..driver(vec![]) };
    Scenario {
        compactors: 2,
        reader: true,
        ..of("compaction", "two compactions and a slow reader during two batches", vec![script])
    }
}

fn compaction_and_takeover() -> Scenario {
    let mut scenario = compaction();
    scenario.drivers.push(scenario.drivers[0].clone());
    Scenario { name: "takeover", about: "the same while a second driver takes over", ..scenario }
}

fn newest_batch_compacted() -> Scenario {
    let drivers = vec![driver(vec![vec![write(0, TWO_FILES)]]), driver(vec![vec![write(0, LONGER)]])];
    Scenario { compactors: 1, ..of("newest batch", "a compaction while the batch is published again", drivers) }
}

/// A person rewinds the checkpoint to where the table ends while the old query's driver is slow, or was killed.
fn rewind() -> Scenario {
    let new = Script { query: 1, replaced: vec![0], rest_of: Some(0b111), ..driver(vec![vec![write(0, LONGER)]]) };
    of(
        "rewind",
        "a new query takes the place of one whose driver may be slow",
        vec![driver(vec![vec![write(0, ONE_FILE)]]), new],
    )
}

/// All scenarios, each with the number of faults and of interruptions.
fn all(bounds: [(u8, u8); 10]) -> Vec<Scenario> {
    let all = [
        two_drivers(),
        replaced(),
        three_drivers(),
        two_writes(),
        other_work(),
        work_comes_back(),
        another_way(),
        lease(),
        compaction(),
        rewind(),
    ];
    let bounded = |(scenario, (faults, switches))| Scenario { faults, switches, ..scenario };
    all.into_iter().zip(bounds).map(bounded).collect()
}

const ANY: u8 = UNBOUNDED;

pub fn small() -> Vec<Scenario> {
    all([(1, 2), (1, 1), (0, 2), (1, 1), (0, ANY), (2, ANY), (0, ANY), (0, 2), (0, ANY), (1, ANY)])
}

pub fn large() -> Vec<Scenario> {
    let deeper = |faults, switches, scenario| Scenario { faults, switches, ..scenario };
    let mut one = all([(1, ANY), (1, ANY), (0, 5), (1, 3), (1, 3), (3, ANY), (1, 3), (0, 4), (0, ANY), (2, ANY)]);
    one.push(deeper(2, 2, two_drivers()));
    one.push(deeper(2, 2, replaced()));
    one.push(deeper(1, 2, three_drivers()));
    one.push(deeper(0, 1, compaction_and_takeover()));
    one
}

pub fn wrong() -> Vec<Scenario> {
    let one = |wrong, faults, scenario: Scenario| Scenario { wrong: Some(wrong), faults, ..scenario };
    vec![
        one(Wrong::NoIntent, 0, two_drivers()),
        one(Wrong::ManifestBeforeFiles, 0, two_drivers()),
        one(Wrong::NoExclusiveCreate, 0, two_drivers()),
        one(Wrong::TokenNotCompared, 0, replaced()),
        one(Wrong::NamesWithoutToken, 0, two_drivers()),
        one(Wrong::FilesRemovedBeforeTheGenerationIsTaken, 1, two_drivers()),
        one(Wrong::NoSealInRecovery, 0, two_drivers()),
        one(Wrong::SkippedByBatchAlone, 0, replaced()),
        one(Wrong::SkippedWhateverTheWork, 0, other_work()),
        one(Wrong::NothingTakenBack, 0, another_way()),
        one(Wrong::NothingAdopted, 0, three_drivers()),
        one(Wrong::OtherQueryNotSettled, 0, rewind()),
        one(Wrong::StagedFilesStay, 1, two_drivers()),
        one(Wrong::StagedSinceTheListing, 0, two_drivers()),
        one(Wrong::EarlierAttemptsStayStaged, 2, two_drivers()),
        one(Wrong::NextTryNotSettled, 1, work_comes_back()),
        one(Wrong::FinishedWhileStaged, 3, work_comes_back()),
        one(Wrong::IntentReplaced, 1, work_comes_back()),
        one(Wrong::LeaseNotExclusive, 0, lease()),
        one(Wrong::JournalNotExclusive, 0, another_way()),
        one(Wrong::NotFenced, 0, rewind()),
        one(Wrong::CompactionStagesOn, 0, compaction()),
        one(Wrong::CompactionNotExclusive, 0, compaction()),
        one(Wrong::NewestBatchCompacted, 0, newest_batch_compacted()),
    ]
}

/// Say what a scenario bounds.
pub fn bounds(scenario: &Scenario) -> String {
    let switches = match scenario.switches {
        UNBOUNDED => "in every order".to_string(),
        switches => format!("{switches} interruptions"),
    };
    format!("{}; {} drivers, {switches}, {} faults", scenario.about, scenario.drivers.len(), scenario.faults)
}

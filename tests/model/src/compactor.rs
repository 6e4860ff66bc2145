//! What one compaction does, request by request: `compact` in `gluepot/tables/compact.py`, and
//! `gluepot/commit/compaction.py`.

use crate::scenario::{Scenario, Wrong};
use crate::storage::*;

/// The query in the commit keys of a compaction's files.
pub const QUERY: u8 = 9;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum At {
    /// `settle`: list the intents of compactions that may have died.
    ListIntents,
    /// `settle`: take the number by a record that does nothing.
    TakeNumber,
    /// `settle`: remove what it has staged, so that it moves nothing any more if it is alive.
    RemoveStaged,
    /// `end`: remove the files that do not belong to the table.
    RemoveFiles {
        is_own: bool,
        number: Number,
        owner: u8,
        files: Vec<File>,
    },
    /// `end`: remove the intent.
    RemoveIntent {
        is_own: bool,
        number: Number,
        owner: u8,
    },
    /// `published_and_compacted`: read the records of compactions first ...
    ReadCompactions,
    /// ... then the manifests; `plan`: choose files to combine.
    ReadManifests(Vec<(Number, Compaction)>),
    /// `_written`: stage the rows of some files as one file.
    Stage(Number, Compaction),
    /// `_swap`: write down the intent.
    PutIntent(Number, Compaction),
    /// `_swap`: move the combined file to its final name.
    Move(Number, Compaction),
    /// `created`: create the record exclusively. From here on the files are replaced.
    CreateRecord(Number, Compaction),
    Ended,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Compactor {
    pub id: u8,
    pub at: At,
    intents: Vec<(Number, Compaction)>,
}

impl Compactor {
    pub fn new(id: u8) -> Compactor {
        Compactor { id, at: At::ListIntents, intents: vec![] }
    }

    pub fn request(&self) -> Option<Request> {
        Some(match &self.at {
            At::TakeNumber => {
                let nothing = Compaction { owner: self.id, replaced: vec![], files: vec![] };
                Request::CreateCompaction(self.intents[0].0, nothing)
            }
            At::RemoveStaged => Request::RemoveCompacted(self.intents[0].0, self.intents[0].1.owner),
            At::Stage(number, one) => Request::StageCompacted(*number, one.owner),
            At::RemoveFiles { files, .. } => Request::DeleteFiles(files.clone()),
            At::RemoveIntent { number, owner, .. } => Request::DeleteCompactionIntent(*number, *owner),
            At::PutIntent(number, one) => Request::PutCompactionIntent(*number, one.clone()),
            At::Move(_, one) => Request::MoveCompacted(one.files[0].0, one.files[0].1),
            At::CreateRecord(number, one) => Request::CreateCompaction(*number, one.clone()),
            _ => return None,
        })
    }

    pub fn answered(&mut self, scenario: &Scenario, answer: &Answer, storage: &Storage) {
        match std::mem::replace(&mut self.at, At::Ended) {
            At::TakeNumber if !scenario.is_wrong(Wrong::CompactionStagesOn) => self.at = At::RemoveStaged,
            At::TakeNumber | At::RemoveStaged => {
                let (number, one) = self.intents.remove(0);
                self.end(number, &one, storage.compactions[&number].owner == one.owner, false);
            }
            At::RemoveFiles { is_own, number, owner, .. } => self.at = At::RemoveIntent { is_own, number, owner },
            At::RemoveIntent { is_own: false, .. } => self.next_intent(),
            At::PutIntent(number, one) => self.at = At::Move(number, one),
            At::Stage(number, one) => self.at = At::PutIntent(number, one),
            At::Move(number, one) if *answer == Answer::Missing => self.end(number, &one, false, true),
            At::Move(number, one) => self.at = At::CreateRecord(number, one),
            At::CreateRecord(number, one) => {
                let is_ours = storage.compactions[&number].owner == self.id;
                self.end(number, &one, is_ours || scenario.is_wrong(Wrong::CompactionNotExclusive), true);
            }
            _ => {}
        }
    }

    pub fn read(&mut self, scenario: &Scenario, storage: &Storage) {
        match std::mem::replace(&mut self.at, At::Ended) {
            At::ListIntents => {
                let intents = storage.compaction_intents.iter();
                self.intents = intents.map(|((number, _), one)| (*number, one.clone())).collect();
                self.next_intent();
            }
            At::ReadCompactions => {
                let done = storage.compactions.iter().map(|(number, one)| (*number, one.clone())).collect();
                self.at = At::ReadManifests(done);
            }
            At::ReadManifests(done) => self.plan(scenario, storage, done),
            _ => {}
        }
    }

    /// `plan`: combine the files of all batches but the newest, which may still be published again.
    fn plan(&mut self, scenario: &Scenario, storage: &Storage, done: Vec<(Number, Compaction)>) {
        let number = done.last().map_or(0, |(number, _)| *number) + 1;
        let keys = storage.keys();
        let newest = keys.iter().map(|key| key.batch).max().unwrap_or(0);
        let is_old = |key: &&Key| key.batch < newest || scenario.is_wrong(Wrong::NewestBatchCompacted);
        let published = keys.iter().filter(is_old).flat_map(|key| storage.newest(*key).unwrap().files.clone());
        let compacted = done.iter().flat_map(|(_, one)| one.files.clone());
        let is_replaced = |file: &File| done.iter().any(|(_, one)| one.replaced.contains(file));
        let group: Vec<_> = compacted.chain(published).filter(|(file, _)| !is_replaced(file)).collect();
        let are_sound = group.iter().all(|(file, records)| storage.files.get(file) == Some(records));
        if group.len() > 1 && are_sound {
            let key = Key { query: QUERY, batch: 0, write: group[0].0.key.write };
            let file = File { key, generation: number, token: self.id, task: 0 };
            let records = group.iter().fold(0, |all, (_, one)| all | one);
            let replaced = group.into_iter().map(|(file, _)| file).collect();
            self.at = At::Stage(number, Compaction { owner: self.id, replaced, files: vec![(file, records)] });
        }
    }

    fn next_intent(&mut self) {
        self.at = match self.intents.is_empty() {
            true => At::ReadCompactions,
            false => At::TakeNumber,
        };
    }

    fn end(&mut self, number: Number, one: &Compaction, is_done: bool, is_own: bool) {
        let files = match is_done {
            true => one.replaced.clone(),
            false => one.files.iter().map(|(file, _)| *file).collect(),
        };
        self.at = At::RemoveFiles { is_own, number, owner: one.owner, files };
    }

    /// Run alone from the beginning to the end of `settle`, as the next compaction does after a crash.
    pub fn settle(scenario: &Scenario, storage: &mut Storage) {
        let mut one = Compactor::new(u8::MAX);
        while one.at != At::ReadCompactions {
            match one.request() {
                Some(request) => {
                    let answer = storage.carry_out(&request);
                    one.answered(scenario, &answer, storage);
                }
                None => one.read(scenario, storage),
            }
        }
    }
}

/// A reader of the manifests that takes its time: `Table.open` reads the records of compactions, then the manifests,
/// and then opens the files. A file that was replaced meanwhile is an error that says to open the table again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reader {
    Begins,
    HasRead(Vec<Compaction>),
    /// The records, one bit each; None if one came twice.
    Saw(Option<Set>),
}

impl Reader {
    pub fn read(self, storage: &Storage) -> Reader {
        match self {
            Reader::Begins => Reader::HasRead(storage.compactions.values().cloned().collect()),
            Reader::HasRead(done) => Reader::saw(&done, published(storage)),
            saw => saw,
        }
    }

    fn saw(done: &[Compaction], published: Vec<(File, Set)>) -> Reader {
        let is_replaced = |file: &File| done.iter().any(|one| one.replaced.contains(file));
        let all = published.into_iter().chain(done.iter().flat_map(|one| one.files.clone()));
        let mut seen = 0;
        for (_, records) in all.filter(|(file, _)| !is_replaced(file)) {
            if seen & records != 0 {
                return Reader::Saw(None);
            }
            seen |= records;
        }
        Reader::Saw(Some(seen))
    }
}

fn published(storage: &Storage) -> Vec<(File, Set)> {
    storage.keys().into_iter().flat_map(|key| storage.newest(key).unwrap().files.clone()).collect()
}

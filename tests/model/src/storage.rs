//! What lies in a table's folder and in the checkpoint, the requests that change it, and what a reader sees.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Debug, Formatter, Result};

/// A set of records, or of writes or tables: one bit for each.
pub type Set = u16;
pub type Token = u8;
pub type Number = u16;
/// The index of a write, or of a file: few in the model, many in the log of a long story.
pub type Index = u16;

/// The commit key: `CommitKey` in `connectors/values.py`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    pub query: u8,
    pub batch: u8,
    pub write: Index,
}

/// The final name of a data file: `published_name` in `connectors/files/sink/names.py`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct File {
    pub key: Key,
    pub generation: Number,
    pub token: Token,
    pub task: Index,
}

/// Where a task of one attempt stages a file: `staging_of_attempt` in `connectors/files/sink/layout.py`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Staged {
    pub key: Key,
    pub token: Token,
    pub attempt: u8,
    pub task: Index,
}

/// The name of an intent: `intent_key` in `connectors/files/sink/layout.py`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Intent {
    pub key: Key,
    pub generation: Number,
    pub token: Token,
}

impl Debug for Key {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        write!(out, "query{}-batch{}-write{}", self.query, self.batch, self.write)
    }
}

impl Debug for File {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        write!(out, "{:?}-g{}-d{}-{}", self.key, self.generation, self.token, self.task)
    }
}

impl Debug for Staged {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        write!(out, "staging/{:?}/d{}/{}-{}", self.key, self.token, self.attempt, self.task)
    }
}

impl Debug for Intent {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        write!(out, "intents/{:?}-g{}-d{}", self.key, self.generation, self.token)
    }
}

/// What identifies the input and the work of a publication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Input {
    /// Of a record that only takes a generation; equal to no other input (`CommitRecord.nothing`).
    Nothing,
    /// Of a write that is taken back (`QueryWrites._take_back_files`).
    TakenBack,
    /// The records, and what was done with them.
    Records(Set, u8),
}

/// A manifest: `CommitRecord` in `gluepot/commit/record.py`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Record {
    pub generation: Number,
    pub token: Token,
    /// Tells the attempts of one driver apart, as `committed_at_epoch_ms` does.
    pub stamp: u8,
    pub input: Input,
    /// The files, each with the records in it (in truth with its CRC).
    pub files: Vec<(File, Set)>,
}

impl Record {
    pub fn names(&self, file: &File) -> bool {
        self.files.iter().any(|(one, _)| one == file)
    }
}

/// One state of the journal: `State` in `gluepot/commit/journal.py`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Announced {
    pub token: Token,
    pub writes: Set,
}

/// One compaction, as its intent and its record say it: `Compaction` in `gluepot/commit/compaction.py`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Compaction {
    pub owner: u8,
    pub replaced: Vec<File>,
    pub files: Vec<(File, Set)>,
}

/// A request that changes something. The storage carries each of them out at one instant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Request {
    CreateOwner(Number, u8),
    CreateState(Number, Announced),
    DeleteStatesBefore(Number),
    Stage(Vec<(Staged, Set)>),
    RemoveStaged(Vec<Staged>),
    /// Everything that a query has staged for a table, whoever staged it.
    RemoveStagedOfQuery(u8, Set),
    /// Everything that a driver has staged for a write.
    RemoveStagedOfWrite(Key, Token),
    /// The same, but for one attempt.
    RemoveStagedOfOtherAttempts(Key, Token, u8),
    CreateIntent(Intent, Vec<File>),
    /// In a wrong version only.
    PutIntent(Intent, Vec<File>),
    DeleteIntent(Intent),
    Copy(Staged, File),
    DeleteFiles(Vec<File>),
    CreateManifest(Key, Record),
    /// In a wrong version only.
    PutManifest(Key, Record),
    /// Spark's `commits/N`: the batch is done, and no later driver runs it again.
    CommitBatch(u8, u8),
    PutCompactionIntent(Number, Compaction),
    StageCompacted(Number, u8),
    /// Everything that a compaction has staged.
    RemoveCompacted(Number, u8),
    MoveCompacted(File, Set),
    CreateCompaction(Number, Compaction),
    DeleteCompactionIntent(Number, u8),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    Done,
    /// The file that was to be created is there already. What is in it will never change.
    Exists,
    /// The file that was to be copied is not there.
    Missing,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Storage {
    pub owners: BTreeMap<Number, u8>,
    pub journal: BTreeMap<Number, Announced>,
    pub staged: BTreeMap<Staged, Set>,
    pub intents: BTreeMap<Intent, Vec<File>>,
    pub files: BTreeMap<File, Set>,
    pub manifests: BTreeMap<(Key, Number), Record>,
    pub compactions: BTreeMap<Number, Compaction>,
    pub compaction_staged: BTreeSet<(Number, u8)>,
    pub compaction_intents: BTreeMap<(Number, u8), Compaction>,
    /// For each query, how many of its batches are done.
    pub commits: [u8; 2],
}

impl Storage {
    /// Carry out a request, and return the storage's answer.
    pub fn carry_out(&mut self, request: &Request) -> Answer {
        use Request::*;
        match request.clone() {
            CreateOwner(number, driver) => return created(&mut self.owners, number, driver),
            CreateState(number, state) => return created(&mut self.journal, number, state),
            DeleteStatesBefore(number) => self.journal = self.journal.split_off(&number),
            Stage(files) => self.staged.extend(files),
            RemoveStaged(names) => names.iter().for_each(|one| self.staged.retain(|there, _| there != one)),
            RemoveStagedOfQuery(query, writes) => {
                self.staged.retain(|one, _| one.key.query != query || writes >> one.key.write & 1 == 0)
            }
            RemoveStagedOfWrite(key, token) => self.staged.retain(|one, _| (one.key, one.token) != (key, token)),
            RemoveStagedOfOtherAttempts(key, token, attempt) => {
                self.staged.retain(|one, _| (one.key, one.token) != (key, token) || one.attempt == attempt)
            }
            CreateIntent(name, files) => return created(&mut self.intents, name, files),
            PutIntent(name, files) => drop(self.intents.insert(name, files)),
            DeleteIntent(name) => drop(self.intents.remove(&name)),
            Copy(from, to) => match self.staged.get(&from) {
                Some(records) => drop(self.files.insert(to, *records)),
                None => return Answer::Missing,
            },
            DeleteFiles(files) => files.iter().for_each(|one| self.files.retain(|there, _| there != one)),
            CreateManifest(key, record) => return created(&mut self.manifests, (key, record.generation), record),
            PutManifest(key, record) => drop(self.manifests.insert((key, record.generation), record)),
            CommitBatch(query, batch) => {
                let commits = &mut self.commits[query as usize];
                *commits = (*commits).max(batch + 1);
            }
            PutCompactionIntent(number, one) => drop(self.compaction_intents.insert((number, one.owner), one)),
            StageCompacted(number, owner) => drop(self.compaction_staged.insert((number, owner))),
            RemoveCompacted(number, owner) => drop(self.compaction_staged.remove(&(number, owner))),
            MoveCompacted(file, records) => {
                if !self.compaction_staged.remove(&(file.generation, file.token)) {
                    return Answer::Missing;
                }
                self.files.insert(file, records);
            }
            CreateCompaction(number, one) => return created(&mut self.compactions, number, one),
            DeleteCompactionIntent(number, owner) => drop(self.compaction_intents.remove(&(number, owner))),
        }
        Answer::Done
    }

    /// The newest generation of a key: `published` in `publish.py`. Manifests are never removed, so reading them one
    /// after the other gives what reading them at once would have given at the last read.
    pub fn newest(&self, key: Key) -> Option<&Record> {
        self.manifests.range((key, 0)..=(key, Number::MAX)).next_back().map(|(_, record)| record)
    }

    pub fn keys(&self) -> BTreeSet<Key> {
        self.manifests.keys().map(|(key, _)| *key).collect()
    }

    /// The files that a reader of the manifests opens in some tables at this instant, with what should be in them.
    pub fn live(&self, writes: Set) -> Vec<(File, Set)> {
        let of_writes = |write: Index| writes >> write & 1 == 1;
        let published = self.keys().into_iter().filter(|key| of_writes(key.write));
        let published = published.flat_map(|key| self.newest(key).unwrap().files.clone());
        let compacted = self.compactions.values().flat_map(|one| one.files.clone());
        let compacted = compacted.filter(|(file, _)| of_writes(file.key.write));
        let replaced: BTreeSet<File> = self.compactions.values().flat_map(|one| one.replaced.clone()).collect();
        published.chain(compacted).filter(|(file, _)| !replaced.contains(file)).collect()
    }

    /// The records that this reader finds; None if a file is gone, holds something else, or a record comes twice.
    pub fn seen(&self, writes: Set) -> Option<Set> {
        let mut seen = 0;
        for (file, records) in self.live(writes) {
            if self.files.get(&file) != Some(&records) || seen & records != 0 {
                return None;
            }
            seen |= records;
        }
        Some(seen)
    }
}

fn created<K: Ord, V>(map: &mut BTreeMap<K, V>, key: K, value: V) -> Answer {
    if map.contains_key(&key) {
        return Answer::Exists;
    }
    map.insert(key, value);
    Answer::Done
}

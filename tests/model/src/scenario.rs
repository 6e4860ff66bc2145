//! The small worlds that are explored: how many drivers, what each of them writes, and how much may go wrong.

use crate::storage::{Index, Set, Token};

/// One write of a batch function.
#[derive(Clone, Debug)]
pub struct Write {
    pub write: Index,
    /// The records of the batch, which is the write's input.
    pub input: Set,
    /// Equal for equal work on that input.
    pub work: u8,
    /// The records in the file of each task.
    pub files: Vec<Set>,
}

/// What one call of the batch function writes, in order. All calls but the last of a list fail at their end.
pub type Attempt = Vec<Write>;

#[derive(Clone, Debug)]
pub struct Script {
    pub query: u8,
    /// The queries that this one has replaced after a rewind.
    pub replaced: Vec<u8>,
    /// For each batch the attempts.
    pub batches: Vec<Vec<Attempt>>,
    /// A new query after a rewind: its only batch has those of these records that its table does not hold.
    pub rest_of: Option<Set>,
}

/// Drivers may interrupt each other before each request.
pub const UNBOUNDED: u8 = u8::MAX;

#[derive(Clone, Debug)]
pub struct Scenario {
    pub name: &'static str,
    pub about: &'static str,
    pub drivers: Vec<Script>,
    /// The writes that go to each table.
    pub tables: Vec<Set>,
    /// How many requests go wrong: are lost, late, carried out twice, or answered although they failed.
    pub faults: u8,
    /// How often a driver is interrupted by another one before it has ended.
    pub switches: u8,
    /// Whether drivers take a lease; otherwise the n-th has the token n, and any of them may come first.
    pub lease: bool,
    pub journal: bool,
    pub compactors: u8,
    pub reader: bool,
    pub wrong: Option<Wrong>,
}

impl Scenario {
    pub fn is_wrong(&self, wrong: Wrong) -> bool {
        self.wrong == Some(wrong)
    }

    pub fn table_of(&self, write: Index) -> Set {
        *self.tables.iter().find(|table| **table >> write & 1 == 1).expect("each write has a table")
    }

    /// What the drivers with a token above this one may write to a table in a batch: the records of each attempt.
    pub fn versions(&self, query: u8, batch: u8, write: Index, above: Token) -> impl Iterator<Item = Set> + '_ {
        let scripts = self.drivers.iter().enumerate();
        let scripts = scripts.filter(move |(n, one)| one.query == query && (self.lease || *n as Token + 1 > above));
        let attempts = scripts.flat_map(move |(_, one)| one.batches.get(batch as usize).into_iter().flatten());
        attempts.map(move |one| records_of(one, write))
    }
}

/// The records that an attempt leaves under a write.
pub fn records_of(attempt: &Attempt, write: Index) -> Set {
    attempt.iter().filter(|one| one.write == write).flat_map(|one| &one.files).fold(0, |all, one| all | one)
}

/// Versions of the protocol that are wrong in one thing each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    NoIntent,
    ManifestBeforeFiles,
    NoExclusiveCreate,
    TokenNotCompared,
    NamesWithoutToken,
    FilesRemovedBeforeTheGenerationIsTaken,
    NoSealInRecovery,
    SkippedByBatchAlone,
    SkippedWhateverTheWork,
    NothingTakenBack,
    NothingAdopted,
    OtherQueryNotSettled,
    StagedFilesStay,
    StagedSinceTheListing,
    EarlierAttemptsStayStaged,
    NextTryNotSettled,
    FinishedWhileStaged,
    IntentReplaced,
    LeaseNotExclusive,
    JournalNotExclusive,
    NotFenced,
    CompactionNotExclusive,
    CompactionStagesOn,
    NewestBatchCompacted,
}

//! What one driver does, request by request. Each state of `At` stands for the next request; its comment names the
//! Python function that sends it.

use crate::scenario::{Attempt, Scenario, Write, Wrong};
use crate::storage::*;

/// The next request of a driver, with what it has read so far.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum At {
    /// `lease.take`: find the newest owner. Whether the owner lives is a guess, so it may be taken for dead at any time.
    ReadOwners,
    /// `lease.take`: create the next owner exclusively.
    CreateOwner(Number),
    /// `Journal.__init__`: find the newest state; a later driver's ends this one.
    ReadJournal,
    /// `Journal._next`: create the next state exclusively.
    CreateState(Number, Set),
    /// `Journal._next`: read back which state is the newest.
    ReadBackState(Number, Set),
    /// `Journal._next`: remove the states before.
    DropStates(Number),
    /// `publish.fence`, in a rewind: find the newest manifest of each query that is replaced.
    ReadReplaced,
    /// `publish.fence`: take the next generation, so that a slow driver of that query publishes no more.
    Fence { key: Key, record: Record },
    /// Spark, at a start: find the first batch that is not done. After a rewind: find where the table ends.
    ReadCommits,
    /// `publish.recover`: list what the query has staged for the table.
    ListStaged,
    /// `publish._remove_staged`.
    RemoveStaged(Option<Vec<Staged>>),
    /// `publish.recover`: list the intents.
    ListIntents,
    /// `publish.recover`: read an intent, the generation before it, and its own if it is there.
    ReadIntent,
    /// `publish._taken`: take the generation, so that nobody can create another manifest there.
    Seal { intent: Intent, files: Vec<File>, before: Option<Record>, then: Then },
    /// `publish.recover` and `publish._settle_own`: remove what is staged for a generation that is taken now. An earlier
    /// driver that is alive may have staged it since the listing, and a copy may be under way; without their files
    /// both move nothing more.
    RemoveStagedOfIntent { ending: Ending },
    /// `publish._end`: remove the files that the intent names and the manifest does not.
    RemoveUnnamed(Ending),
    /// `publish._end`: remove the files of the superseded manifest.
    RemoveSuperseded(Ending),
    /// `publish._end`: remove the intent.
    RemoveIntent(Ending),
    /// `refuse_overlap`: a new query refuses records that its table holds of another query.
    CompareWithTable,
    /// `publish.adopted` (before the tasks) or `publish.publish` (after them): read the newest manifest and decide.
    ReadNewest { is_staged: bool },
    /// `decide.Adopt`: create a manifest of this driver with the files of an earlier one.
    Adopt { record: Record, is_staged: bool },
    /// `publish._settle_next`: look for a try of this driver to replace what is published and wanted again.
    ReadNextOwnIntent { published: Record, is_staged: bool },
    /// `publish._finish`: look for the intent of an earlier try that did not clean up.
    Finish { published: Record, is_staged: bool },
    /// The tasks of the write.
    Stage,
    /// `publish._settle_own`: look for the intent of an earlier try of this driver.
    ReadOwnIntent { record: Record, superseded: Option<Record> },
    /// `publish._finish`, of what is superseded: look for the intent of an earlier try that did not clean up.
    FinishSuperseded { record: Record, superseded: Record },
    /// `publish._announce`.
    CreateIntent { record: Record, superseded: Option<Record> },
    /// `publish._move`: copy one file after the other.
    Copy { record: Record, superseded: Option<Record>, task: usize },
    /// `publish._move`: remove what was copied.
    RemoveSources { record: Record, superseded: Option<Record> },
    /// `publish._write`: create the manifest exclusively. From here on the write is published.
    CreateManifest { record: Record, superseded: Option<Record> },
    /// `publish.abort`, in a try that did not fail.
    Abort(Then),
    /// `publish.abort`, after a failure; then the batch function is called again.
    AbortAndTryAgain,
    /// Spark: the function has returned and everything is settled; the batch is done.
    CommitBatch,
    /// All batches are done.
    Done,
    /// `LeaseHeld`: a later driver has taken over.
    Fenced,
    /// `CheckpointError`: the table holds records of the batch already; the checkpoint must be rewound again.
    Refused,
}

/// What follows the end of a publication.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Then {
    NextIntent,
    DecideAgain {
        is_staged: bool,
    },
    Write {
        record: Record,
        superseded: Record,
    },
    Finished {
        is_staged: bool,
    },
    WriteIsDone {
        is_staged: bool,
    },
    /// Another driver came first: a later one ends this driver, an earlier one makes it try again.
    Overtaken {
        by: Token,
    },
}

impl Then {
    /// Whether this follows the end of an earlier try of the driver itself.
    fn is_of_own_try(&self) -> bool {
        matches!(self, Then::DecideAgain { .. } | Then::Write { .. } | Then::Finished { .. })
    }
}

/// The arguments of `publish._end`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ending {
    pub intent: Intent,
    pub unnamed: Vec<File>,
    pub superseded: Vec<File>,
    pub then: Then,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Driver {
    pub id: u8,
    pub query: u8,
    pub token: Token,
    pub at: At,
    pub batch: u8,
    /// How often the batch function was called.
    attempt: u8,
    /// The write at work: an index of the attempt's writes, or behind them while writes are taken back.
    step: usize,
    write: Index,
    taking_back: bool,
    has_staged: bool,
    /// `Journal._state`.
    journal: Option<(Number, Set)>,
    /// `QueryWrites._inherited`, `_used` and `_repeated`.
    inherited: Set,
    used: Set,
    repeated: Set,
    /// The tables that were recovered, as sets of writes.
    opened: Set,
    /// Intents and queries that are still to be recovered.
    intents: Vec<Intent>,
    queries: Vec<u8>,
    /// What the table held when the checkpoint was rewound.
    pub held: Option<Set>,
}

impl Driver {
    pub fn new(scenario: &Scenario, id: u8) -> Driver {
        let token = if scenario.lease { 0 } else { id + 1 };
        let mut new = Driver {
            id,
            query: scenario.drivers[id as usize].query,
            token,
            at: At::ReadOwners,
            batch: 0,
            attempt: 0,
            step: 0,
            write: 0,
            taking_back: false,
            has_staged: false,
            journal: None,
            inherited: 0,
            used: 0,
            repeated: 0,
            opened: 0,
            intents: vec![],
            queries: vec![],
            held: None,
        };
        if !scenario.lease {
            new.start_with_lease(scenario);
        }
        new
    }

    /// A driver that only recovers a table, for the property that recovery always comes to a good end.
    pub fn to_recover(scenario: &Scenario, query: u8, table: Set) -> Driver {
        let id = scenario.drivers.iter().position(|one| one.query == query).expect("a query has a driver");
        let mut one = Driver::new(scenario, id as u8);
        (one.token, one.taking_back) = (Token::MAX, true);
        one.write = table.trailing_zeros() as Index;
        one.queries = vec![query];
        if !scenario.is_wrong(Wrong::OtherQueryNotSettled) {
            one.queries.extend(&scenario.drivers[id].replaced);
        }
        one.at = At::ListStaged;
        one
    }

    fn start_with_lease(&mut self, scenario: &Scenario) {
        self.at = match scenario.drivers[self.id as usize].rest_of {
            Some(_) => At::ReadReplaced,
            None if scenario.journal => At::ReadJournal,
            None => At::ReadCommits,
        };
    }

    pub fn has_ended(&self) -> bool {
        matches!(self.at, At::Done | At::Fenced | At::Refused)
    }

    /// Keep nothing that makes no difference any more, so that fewer states differ.
    pub fn forget(&mut self) {
        (self.attempt, self.step, self.write, self.taking_back, self.has_staged) = (0, 0, 0, false, false);
        (self.journal, self.inherited, self.used, self.repeated, self.opened) = (None, 0, 0, 0, 0);
        (self.intents, self.queries) = (vec![], vec![]);
    }

    fn key(&self) -> Key {
        self.key_of(self.query)
    }

    fn key_of(&self, query: u8) -> Key {
        Key { query, batch: self.batch, write: self.write }
    }

    fn attempt_of<'a>(&self, scenario: &'a Scenario) -> (&'a Attempt, bool) {
        let attempts = &scenario.drivers[self.id as usize].batches[self.batch as usize];
        let last = attempts.len() - 1;
        (&attempts[(self.attempt as usize).min(last)], self.attempt as usize >= last)
    }

    /// The write at work as the batch function asks for it; empty if it is to be taken back.
    fn asked(&self, scenario: &Scenario) -> Write {
        let nothing = Write { write: self.write, input: 0, work: 0, files: vec![] };
        if self.taking_back {
            return nothing;
        }
        if let Some(all) = scenario.drivers[self.id as usize].rest_of {
            let rest = all & !self.held.unwrap_or_default();
            return Write { input: rest, files: Vec::from_iter((rest != 0).then_some(rest)), ..nothing };
        }
        self.attempt_of(scenario).0[self.step].clone()
    }

    fn input(&self, scenario: &Scenario) -> Input {
        if self.taking_back {
            return Input::TakenBack;
        }
        let asked = self.asked(scenario);
        Input::Records(asked.input, asked.work)
    }

    /// `CommitRecord.of`.
    fn record(&self, scenario: &Scenario, generation: Number) -> Record {
        let token = if scenario.is_wrong(Wrong::NamesWithoutToken) { 0 } else { self.token };
        let name = |task| File { key: self.key(), generation, token, task };
        let files = self.asked(scenario).files;
        Record {
            generation,
            token: self.token,
            stamp: self.attempt,
            input: self.input(scenario),
            files: files.iter().enumerate().map(|(task, records)| (name(task as Index), *records)).collect(),
        }
    }

    fn staged(&self, task: usize) -> Staged {
        Staged { key: self.key(), token: self.token, attempt: self.attempt, task: task as Index }
    }

    fn intent_of(&self, record: &Record) -> Intent {
        Intent { key: self.key(), generation: record.generation, token: record.token }
    }

    /// The request that the driver sends next; None if it reads.
    pub fn request(&self, scenario: &Scenario) -> Option<Request> {
        Some(match &self.at {
            At::CreateOwner(number) => Request::CreateOwner(*number, self.id),
            At::CreateState(number, writes) => {
                Request::CreateState(*number, Announced { token: self.token, writes: *writes })
            }
            At::DropStates(number) => Request::DeleteStatesBefore(*number),
            At::RemoveStaged(Some(names)) => Request::RemoveStaged(names.clone()),
            At::RemoveStaged(None) => Request::RemoveStagedOfQuery(self.queries[0], scenario.table_of(self.write)),
            At::Fence { key, record } => Request::CreateManifest(*key, record.clone()),
            At::Seal { intent, before, .. } => Request::CreateManifest(intent.key, seal(*intent, self.token, before)),
            At::RemoveStagedOfIntent { ending } if ending.then.is_of_own_try() => {
                Request::RemoveStagedOfOtherAttempts(self.key(), self.token, self.attempt)
            }
            At::RemoveStagedOfIntent { ending } => Request::RemoveStagedOfWrite(ending.intent.key, ending.intent.token),
            At::RemoveUnnamed(ending) => Request::DeleteFiles(ending.unnamed.clone()),
            At::RemoveSuperseded(ending) => Request::DeleteFiles(ending.superseded.clone()),
            At::RemoveIntent(ending) => Request::DeleteIntent(ending.intent),
            At::Adopt { record, .. } => Request::CreateManifest(self.key(), record.clone()),
            At::Stage => {
                let files = self.asked(scenario).files;
                Request::Stage(files.iter().enumerate().map(|(task, one)| (self.staged(task), *one)).collect())
            }
            At::CreateIntent { record, .. } => {
                let files = record.files.iter().map(|one| one.0).collect();
                match scenario.is_wrong(Wrong::IntentReplaced) {
                    true => Request::PutIntent(self.intent_of(record), files),
                    false => Request::CreateIntent(self.intent_of(record), files),
                }
            }
            At::Copy { record, task, .. } => Request::Copy(self.staged(*task), record.files[*task].0),
            At::RemoveSources { record, .. } => {
                Request::RemoveStaged((0..record.files.len()).map(|task| self.staged(task)).collect())
            }
            At::CreateManifest { record, .. } if scenario.is_wrong(Wrong::NoExclusiveCreate) => {
                Request::PutManifest(self.key(), record.clone())
            }
            At::CreateManifest { record, .. } => Request::CreateManifest(self.key(), record.clone()),
            At::Abort(_) => Request::RemoveStagedOfWrite(self.key(), self.token),
            At::AbortAndTryAgain => Request::RemoveStagedOfWrite(self.key(), self.token),
            At::CommitBatch => Request::CommitBatch(self.query, self.batch),
            _ => return None,
        })
    }

    /// Go on after an answer. What a driver reads after `Exists` never changes, so it is read at once.
    pub fn answered(&mut self, scenario: &Scenario, answer: &Answer, storage: &Storage) {
        match std::mem::replace(&mut self.at, At::Done) {
            At::CreateOwner(number) => match storage.owners.get(&number) {
                Some(driver) if *driver == self.id || scenario.is_wrong(Wrong::LeaseNotExclusive) => {
                    self.token = number as Token;
                    self.start_with_lease(scenario);
                }
                _ => self.at = At::Fenced,
            },
            At::CreateState(number, writes) => self.at = At::ReadBackState(number, writes),
            At::DropStates(_) => self.journal_is_written(scenario),
            At::Fence { .. } => self.at = At::ReadReplaced,
            At::RemoveStaged(_) => self.at = At::ListIntents,
            At::Seal { intent, files, before, then } => {
                let taken = match answer {
                    Answer::Exists => storage.manifests[&(intent.key, intent.generation)].clone(),
                    _ => seal(intent, self.token, &before),
                };
                self.end(scenario, intent, files, Some(&taken), before.as_ref(), then);
            }
            At::RemoveStagedOfIntent { ending } => self.remove_unnamed(scenario, ending),
            At::RemoveUnnamed(ending) => self.remove_superseded(scenario, ending),
            At::RemoveSuperseded(ending) => self.at = At::RemoveIntent(ending),
            At::RemoveIntent(ending) => self.go_on(scenario, ending.then),
            At::Adopt { is_staged, .. } => self.at = At::ReadNewest { is_staged },
            At::Stage => {
                self.has_staged = true;
                self.at = At::ReadNewest { is_staged: true };
            }
            At::CreateIntent { record, superseded } => {
                let there = storage.intents.get(&self.intent_of(&record));
                let own = record.files.iter().map(|one| one.0);
                match there.is_some_and(|files| files.iter().copied().eq(own)) {
                    true => self.move_files(scenario, record, superseded),
                    false => self.at = At::ReadOwnIntent { record, superseded },
                }
            }
            At::Copy { .. } if *answer == Answer::Missing => self.failed(scenario),
            At::Copy { record, superseded, task } if task + 1 < record.files.len() => {
                self.at = At::Copy { record, superseded, task: task + 1 }
            }
            At::Copy { record, superseded, .. } => self.at = At::RemoveSources { record, superseded },
            At::RemoveSources { record, superseded } if scenario.is_wrong(Wrong::ManifestBeforeFiles) => {
                self.published(scenario, record, superseded)
            }
            At::RemoveSources { record, superseded } => self.at = At::CreateManifest { record, superseded },
            At::CreateManifest { record, superseded } => match answer {
                Answer::Exists if storage.manifests[&(self.key(), record.generation)] != record => {
                    let winner = storage.manifests[&(self.key(), record.generation)].clone();
                    let files = record.files.iter().map(|one| one.0).collect();
                    let then = Then::Overtaken { by: winner.token };
                    self.end(scenario, self.intent_of(&record), files, Some(&winner), None, then);
                }
                _ if scenario.is_wrong(Wrong::ManifestBeforeFiles) && !record.files.is_empty() => {
                    self.at = At::Copy { record, superseded, task: 0 }
                }
                _ => self.published(scenario, record, superseded),
            },
            At::Abort(then) => {
                self.has_staged = false;
                self.go_on_after_abort(scenario, then);
            }
            At::AbortAndTryAgain => self.failed(scenario),
            At::CommitBatch => self.next_batch(scenario),
            other => unreachable!("{other:?} sends nothing"),
        }
    }

    /// Read what the storage holds at this instant, and go on.
    pub fn read(&mut self, scenario: &Scenario, storage: &Storage) {
        match std::mem::replace(&mut self.at, At::Done) {
            At::ReadOwners => {
                let newest = storage.owners.keys().next_back().copied().unwrap_or(0);
                self.at = At::CreateOwner(newest + 1);
            }
            At::ReadJournal => match newest_state(storage) {
                (_, newest) if newest.token > self.token && !scenario.is_wrong(Wrong::JournalNotExclusive) => {
                    self.at = At::Fenced
                }
                (number, newest) => {
                    self.inherited = newest.writes;
                    self.at = At::CreateState(number + 1, newest.writes);
                }
            },
            At::ReadBackState(number, writes) => {
                let (found, newest) = newest_state(storage);
                let own = Announced { token: self.token, writes };
                if (found, newest) == (number, own) || scenario.is_wrong(Wrong::JournalNotExclusive) {
                    self.journal = Some((number, writes));
                    if storage.journal.keys().any(|one| *one < number) {
                        self.at = At::DropStates(number);
                    } else {
                        self.journal_is_written(scenario);
                    }
                } else if newest.token > self.token {
                    self.at = At::Fenced;
                } else {
                    self.inherited |= newest.writes;
                    self.at = At::CreateState(found + 1, writes | newest.writes);
                }
            }
            At::ReadReplaced => {
                let replaced = &scenario.drivers[self.id as usize].replaced;
                let keys = replaced.iter().map(|query| self.key_of(*query));
                let unfenced = keys.map(|key| (key, storage.newest(key).cloned())).find(|(_, newest)| {
                    newest.as_ref().is_none_or(|one| one.token < self.token) && !scenario.is_wrong(Wrong::NotFenced)
                });
                self.at = match unfenced {
                    Some((key, before)) => {
                        let generation = before.as_ref().map_or(1, |one| one.generation + 1);
                        let intent = Intent { key, generation, token: self.token };
                        At::Fence { key, record: seal(intent, self.token, &before) }
                    }
                    None => At::ReadCommits,
                };
            }
            At::ReadCommits => {
                self.batch = storage.commits[self.query as usize];
                if scenario.drivers[self.id as usize].rest_of.is_some() && self.held.is_none() {
                    self.held = storage.seen(scenario.tables[0]);
                }
                if self.batch as usize >= scenario.drivers[self.id as usize].batches.len() {
                    self.at = At::Done;
                } else {
                    self.begin_attempt(scenario);
                }
            }
            At::ListStaged => {
                let table = scenario.table_of(self.write);
                let of_query = |one: &&Staged| one.key.query == self.queries[0] && table >> one.key.write & 1 == 1;
                let staged: Vec<Staged> = storage.staged.keys().filter(of_query).copied().collect();
                let own: Vec<Staged> = staged.iter().filter(|one| one.token <= self.token).copied().collect();
                let all_are_own = own.len() == staged.len();
                self.at = match own.is_empty() {
                    true => At::ListIntents,
                    false => At::RemoveStaged((!all_are_own).then_some(own)),
                };
            }
            At::ListIntents => {
                let table = scenario.table_of(self.write);
                let of_query = |one: &&Intent| one.key.query == self.queries[0] && table >> one.key.write & 1 == 1;
                self.intents = storage.intents.keys().filter(of_query).copied().collect();
                self.next_intent(scenario);
            }
            At::ReadIntent => {
                let intent = self.intents.remove(0);
                match storage.intents.get(&intent) {
                    Some(files) if intent.token <= self.token => {
                        let before = storage.manifests.get(&(intent.key, intent.generation - 1)).cloned();
                        self.take(scenario, storage, intent, files.clone(), before, Then::NextIntent);
                    }
                    _ => self.next_intent(scenario),
                }
            }
            At::CompareWithTable => {
                let asked = self.asked(scenario).input;
                let others =
                    storage.live(scenario.tables[0]).into_iter().filter(|(file, _)| file.key.query != self.query);
                let twice = others.fold(0, |all, (_, records)| all | records) & asked;
                self.at = if twice == 0 { At::ReadNewest { is_staged: false } } else { At::Refused };
            }
            At::ReadNewest { is_staged } => self.decide(scenario, storage.newest(self.key()).cloned(), is_staged),
            At::ReadNextOwnIntent { published, is_staged } => {
                let intent = Intent { generation: published.generation + 1, ..self.intent_of(&published) };
                match storage.intents.get(&intent) {
                    Some(files) => {
                        let then = Then::DecideAgain { is_staged };
                        self.take(scenario, storage, intent, files.clone(), Some(published), then);
                    }
                    None => self.at = At::Finish { published, is_staged },
                }
            }
            At::Finish { published, is_staged } => {
                let intent = self.intent_of(&published);
                match storage.intents.get(&intent) {
                    Some(files) => {
                        let before = storage.manifests.get(&(intent.key, intent.generation - 1));
                        let then = Then::Finished { is_staged };
                        self.end(scenario, intent, files.clone(), Some(&published), before, then);
                    }
                    None => self.write_is_done(scenario, is_staged),
                }
            }
            At::ReadOwnIntent { record, superseded } => {
                let intent = self.intent_of(&record);
                match storage.intents.get(&intent) {
                    Some(files) => {
                        let then = Then::DecideAgain { is_staged: true };
                        self.take(scenario, storage, intent, files.clone(), superseded, then);
                    }
                    None => {
                        self.at = match superseded {
                            Some(superseded) if superseded.token == self.token => {
                                At::FinishSuperseded { record, superseded }
                            }
                            _ => return self.begin_write(scenario, record, superseded),
                        }
                    }
                }
            }
            At::FinishSuperseded { record, superseded } => {
                let intent = self.intent_of(&superseded);
                match storage.intents.get(&intent) {
                    Some(files) => {
                        let before = storage.manifests.get(&(intent.key, intent.generation - 1));
                        let then = Then::Write { record, superseded: superseded.clone() };
                        self.end(scenario, intent, files.clone(), Some(&superseded), before, then);
                    }
                    None => self.begin_write(scenario, record, Some(superseded)),
                }
            }
            other => unreachable!("{other:?} reads nothing"),
        }
    }

    /// A request had no answer (`TransientError`), or the batch function raised: begin again where the engine does.
    pub fn failed(&mut self, scenario: &Scenario) {
        if self.token == 0 {
            self.at = At::ReadOwners;
        } else if scenario.journal && self.journal.is_none() {
            self.at = At::ReadJournal;
        } else if matches!(self.at, At::ReadCommits | At::CommitBatch) {
            // Spark tries this again by itself.
        } else if matches!(self.at, At::Fence { .. }) {
            self.at = At::ReadReplaced; // a person gives the command again
        } else if self.has_staged {
            self.has_staged = false;
            self.at = At::AbortAndTryAgain;
        } else {
            self.attempt += 1;
            self.begin_attempt(scenario);
        }
    }

    /// `QueryWrites.begin_attempt`.
    fn begin_attempt(&mut self, scenario: &Scenario) {
        (self.repeated, self.step, self.taking_back) = (0, 0, false);
        self.next_write(scenario);
    }

    /// Go on with the next write of the batch function. After the last one, take back what must go, or commit.
    fn next_write(&mut self, scenario: &Scenario) {
        let (writes, is_last) = self.attempt_of(scenario);
        if let Some(next) = writes.get(self.step) {
            self.write = next.write;
            self.used |= 1 << next.write;
            self.repeated |= 1 << next.write;
            match self.journal {
                Some((number, announced)) if announced >> self.write & 1 == 0 => {
                    self.at = At::CreateState(number + 1, announced | 1 << self.write)
                }
                _ => self.open(scenario),
            }
        } else if !is_last {
            self.failed(scenario);
        } else {
            self.settle(scenario);
        }
    }

    /// `QueryWrites.settle`.
    fn settle(&mut self, scenario: &Scenario) {
        let due = (self.used | self.inherited) & !self.repeated;
        if due == 0 || !scenario.journal || scenario.is_wrong(Wrong::NothingTakenBack) {
            self.at = At::CommitBatch;
        } else {
            self.taking_back = true;
            self.write = due.trailing_zeros() as Index;
            self.open(scenario);
        }
    }

    fn journal_is_written(&mut self, scenario: &Scenario) {
        if self.repeated == 0 {
            self.at = At::ReadCommits;
        } else {
            self.open(scenario);
        }
    }

    /// `QueryWrites.open`: recover the table the first time.
    fn open(&mut self, scenario: &Scenario) {
        if self.opened >> self.write & 1 == 1 {
            self.is_open(scenario);
        } else {
            let script = &scenario.drivers[self.id as usize];
            self.queries = vec![self.query];
            if !scenario.is_wrong(Wrong::OtherQueryNotSettled) {
                self.queries.extend(&script.replaced);
            }
            self.recover(scenario);
        }
    }

    /// `publish.recover`, for the first of the queries that are left.
    fn recover(&mut self, scenario: &Scenario) {
        self.at = match scenario.is_wrong(Wrong::StagedFilesStay) {
            true => At::ListIntents,
            false => At::ListStaged,
        };
    }

    fn next_intent(&mut self, scenario: &Scenario) {
        if !self.intents.is_empty() {
            self.at = At::ReadIntent;
            return;
        }
        self.queries.remove(0);
        if self.queries.is_empty() {
            self.opened |= scenario.table_of(self.write);
            self.is_open(scenario);
        } else {
            self.recover(scenario);
        }
    }

    fn is_open(&mut self, scenario: &Scenario) {
        let is_recovery_alone = self.token == Token::MAX;
        self.at = match scenario.drivers[self.id as usize].rest_of {
            _ if is_recovery_alone => At::Done,
            Some(_) => At::CompareWithTable,
            // What is taken back goes to `publish.publish` at once.
            None => At::ReadNewest { is_staged: self.taking_back },
        };
    }

    /// `decide.decide`, and what `publish.adopted` and `publish.publish` do with its verdict.
    fn decide(&mut self, scenario: &Scenario, newest: Option<Record>, is_staged: bool) {
        let is_same = |one: &Record| match (one.input, self.input(scenario)) {
            (Input::Records(..), Input::Records(..)) if scenario.is_wrong(Wrong::SkippedByBatchAlone) => true,
            (Input::Records(a, _), Input::Records(b, _)) if scenario.is_wrong(Wrong::SkippedWhateverTheWork) => a == b,
            (a, b) => a == b,
        };
        self.at = match newest {
            Some(one) if one.token > self.token && !scenario.is_wrong(Wrong::TokenNotCompared) => {
                match is_staged && !self.taking_back {
                    true => At::Abort(Then::Overtaken { by: one.token }),
                    false => At::Fenced,
                }
            }
            Some(one) if is_same(&one) => {
                let is_own = one.token == self.token;
                if is_own || scenario.is_wrong(Wrong::NothingAdopted) || scenario.is_wrong(Wrong::TokenNotCompared) {
                    match scenario.is_wrong(Wrong::NextTryNotSettled) {
                        true => At::Finish { published: one, is_staged },
                        false => At::ReadNextOwnIntent { published: one, is_staged },
                    }
                } else {
                    let intent = Intent { key: self.key(), generation: one.generation + 1, token: self.token };
                    At::Adopt { record: seal(intent, self.token, &Some(one)), is_staged }
                }
            }
            _ if !is_staged => At::Stage,
            superseded => {
                let generation = superseded.as_ref().map_or(1, |one| one.generation + 1);
                At::ReadOwnIntent { record: self.record(scenario, generation), superseded }
            }
        };
    }

    /// `publish._write`.
    fn begin_write(&mut self, scenario: &Scenario, record: Record, superseded: Option<Record>) {
        match scenario.is_wrong(Wrong::NoIntent) {
            true => self.move_files(scenario, record, superseded),
            false => self.at = At::CreateIntent { record, superseded },
        }
    }

    fn move_files(&mut self, scenario: &Scenario, record: Record, superseded: Option<Record>) {
        self.at = match record.files.is_empty() || scenario.is_wrong(Wrong::ManifestBeforeFiles) {
            true => At::CreateManifest { record, superseded },
            false => At::Copy { record, superseded, task: 0 },
        };
    }

    fn published(&mut self, scenario: &Scenario, record: Record, superseded: Option<Record>) {
        let files = record.files.iter().map(|one| one.0).collect();
        let then = Then::WriteIsDone { is_staged: true };
        self.end(scenario, self.intent_of(&record), files, Some(&record), superseded.as_ref(), then);
    }

    /// `publish._taken`, then `publish._end`.
    fn take(
        &mut self,
        scenario: &Scenario,
        storage: &Storage,
        intent: Intent,
        files: Vec<File>,
        before: Option<Record>,
        then: Then,
    ) {
        let may_be_unsealed = match then {
            Then::NextIntent => scenario.is_wrong(Wrong::NoSealInRecovery),
            _ => scenario.is_wrong(Wrong::FilesRemovedBeforeTheGenerationIsTaken),
        };
        match storage.manifests.get(&(intent.key, intent.generation)) {
            None if !may_be_unsealed => self.at = At::Seal { intent, files, before, then },
            taken => self.end(scenario, intent, files, taken, before.as_ref(), then),
        }
    }

    /// `publish._end`.
    fn end(
        &mut self,
        scenario: &Scenario,
        intent: Intent,
        files: Vec<File>,
        taken: Option<&Record>,
        superseded: Option<&Record>,
        then: Then,
    ) {
        let is_unnamed = |file: &File| !taken.is_some_and(|one| one.names(file));
        let of_superseded = superseded.map(|one| one.files.iter().map(|one| one.0).collect()).unwrap_or(vec![]);
        let ending = Ending {
            intent,
            unnamed: files.into_iter().filter(is_unnamed).collect(),
            superseded: of_superseded.into_iter().filter(is_unnamed).collect(),
            then,
        };
        match ending.then {
            Then::NextIntent
                if !scenario.is_wrong(Wrong::StagedSinceTheListing) && !scenario.is_wrong(Wrong::StagedFilesStay) =>
            {
                self.at = At::RemoveStagedOfIntent { ending }
            }
            Then::DecideAgain { .. } if !scenario.is_wrong(Wrong::EarlierAttemptsStayStaged) => {
                self.at = At::RemoveStagedOfIntent { ending }
            }
            Then::Write { .. } | Then::Finished { .. } if !scenario.is_wrong(Wrong::FinishedWhileStaged) => {
                self.at = At::RemoveStagedOfIntent { ending }
            }
            _ => self.remove_unnamed(scenario, ending),
        }
    }

    fn remove_unnamed(&mut self, scenario: &Scenario, ending: Ending) {
        match ending.unnamed.is_empty() {
            true => self.remove_superseded(scenario, ending),
            false => self.at = At::RemoveUnnamed(ending),
        }
    }

    fn remove_superseded(&mut self, scenario: &Scenario, ending: Ending) {
        self.at = match ending.superseded.is_empty() {
            false => At::RemoveSuperseded(ending),
            true if scenario.is_wrong(Wrong::NoIntent) => return self.go_on(scenario, ending.then),
            true => At::RemoveIntent(ending),
        };
    }

    fn go_on(&mut self, scenario: &Scenario, then: Then) {
        match then {
            Then::NextIntent => self.next_intent(scenario),
            Then::DecideAgain { is_staged } => self.at = At::ReadNewest { is_staged },
            Then::Write { record, superseded } => self.begin_write(scenario, record, Some(superseded)),
            Then::Finished { is_staged } | Then::WriteIsDone { is_staged } => self.write_is_done(scenario, is_staged),
            Then::Overtaken { .. } if self.taking_back => self.go_on_after_abort(scenario, then),
            Then::Overtaken { .. } => self.at = At::Abort(then),
        }
    }

    /// The write is published. What is still staged goes, if the tasks have run.
    fn write_is_done(&mut self, scenario: &Scenario, is_staged: bool) {
        let then = Then::WriteIsDone { is_staged };
        match is_staged && !self.taking_back {
            true => self.at = At::Abort(then),
            false => self.go_on_after_abort(scenario, then),
        }
    }

    fn go_on_after_abort(&mut self, scenario: &Scenario, then: Then) {
        match then {
            Then::Overtaken { by } if by > self.token => self.at = At::Fenced,
            Then::Overtaken { .. } => self.failed(scenario),
            _ if self.taking_back => {
                self.repeated |= 1 << self.write;
                self.taking_back = false;
                self.settle(scenario);
            }
            _ => {
                self.step += 1;
                self.next_write(scenario);
            }
        }
    }

    fn next_batch(&mut self, scenario: &Scenario) {
        self.batch += 1;
        (self.attempt, self.step, self.inherited, self.repeated, self.used) = (0, 0, 0, 0, 0);
        if self.batch as usize >= scenario.drivers[self.id as usize].batches.len() {
            self.at = At::Done;
        } else {
            self.begin_attempt(scenario);
        }
    }

    /// The records that the attempt at work leaves under each write.
    pub fn promises(&self, scenario: &Scenario) -> [Set; 2] {
        match scenario.drivers[self.id as usize].rest_of {
            Some(all) => [all & !self.held.unwrap_or_default(), 0],
            None => [0, 1].map(|write| crate::scenario::records_of(self.attempt_of(scenario).0, write)),
        }
    }
}

/// `decide.seal`: a record that takes a generation and has the files of the generation before, or none.
fn seal(intent: Intent, token: Token, before: &Option<Record>) -> Record {
    let nothing = Record { generation: 0, token, stamp: 0, input: Input::Nothing, files: vec![] };
    Record { generation: intent.generation, token, ..before.clone().unwrap_or(nothing) }
}

fn newest_state(storage: &Storage) -> (Number, Announced) {
    let newest = storage.journal.iter().next_back().map(|(number, state)| (*number, *state));
    newest.unwrap_or((0, Announced { token: 0, writes: 0 }))
}

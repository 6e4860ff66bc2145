//! Checks logs of the real code: each request that a storage carried out must be one that the rules of the model allow.
//!
//! A log is a line of JSON for each request; `tests/model/recording.py` writes and describes them. A line with the
//! action `begin` starts the next log.

use crate::rules;
use crate::storage::*;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize, Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Named {
    path: String,
    #[serde(default)]
    generation: u64,
    #[serde(default)]
    token: u64,
    #[serde(default)]
    crc32: u64,
}

#[derive(Deserialize, Debug, Default, Clone)]
#[serde(default)]
struct Event {
    action: String,
    storage: String,
    driver: String,
    name: String,
    query: String,
    write: String,
    generation: u64,
    number: u64,
    token: u64,
    files: Vec<Named>,
    staged: Vec<Named>,
    owner: String,
    replaced: Vec<Named>,
}

/// Read logs one after the other; say for each whether the model allows it.
pub fn accept_all(lines: impl Iterator<Item = std::io::Result<String>>) -> bool {
    let mut logs: Vec<(String, Vec<Event>)> = vec![];
    for line in lines {
        let event: Event = serde_json::from_str(&line.expect("standard input can be read")).expect("a line of a log");
        match event.action.as_str() {
            "begin" => logs.push((event.name, vec![])),
            _ => logs.last_mut().expect("a log starts with `begin`").1.push(event),
        }
    }
    let mut rejected = 0;
    let mut events = 0;
    for (name, log) in &logs {
        events += log.len();
        if let Err(why) = accept(log) {
            rejected += 1;
            println!("rejected: {name}: {why}");
        }
    }
    println!("{} logs with {events} requests: {} accepted, {rejected} rejected", logs.len(), logs.len() - rejected);
    rejected == 0
}

/// Numbers for texts and tokens, in which the model is content with few bits.
#[derive(Default)]
struct Numbers {
    known: BTreeMap<String, Index>,
}

impl Numbers {
    fn of(&mut self, text: &str) -> Index {
        let next = Index::try_from(self.known.len()).expect("at most 65,536 names in one log");
        *self.known.entry(text.to_string()).or_insert(next)
    }
}

struct Replay {
    storages: BTreeMap<String, Storage>,
    tokens: Vec<u64>,
    writes: Numbers,
    paths: Numbers,
    contents: Numbers,
    key_of_file: BTreeMap<String, Key>,
    compacted: BTreeMap<String, File>,
    owners: Numbers,
    token_of_driver: BTreeMap<String, u64>,
}

fn accept(log: &[Event]) -> Result<(), String> {
    let mut tokens: Vec<u64> = log.iter().flat_map(tokens_of).collect();
    tokens.extend([0]);
    tokens.sort();
    tokens.dedup();
    let mut replay = Replay {
        storages: BTreeMap::new(),
        tokens,
        writes: Numbers::default(),
        paths: Numbers::default(),
        contents: Numbers::default(),
        key_of_file: BTreeMap::new(),
        compacted: BTreeMap::new(),
        owners: Numbers::default(),
        token_of_driver: BTreeMap::new(),
    };
    for (n, event) in log.iter().enumerate() {
        replay
            .step(event)
            .map_err(|why| format!("{why} (request {} is {} by {})", n + 1, event.action, event.driver))?;
    }
    Ok(())
}

fn tokens_of(event: &Event) -> Vec<u64> {
    event.files.iter().chain(&event.staged).chain(&event.replaced).map(|one| one.token).chain([event.token]).collect()
}

impl Replay {
    fn step(&mut self, event: &Event) -> Result<(), String> {
        let (requests, answer) = self.requests(event)?;
        let token = self.token(event.token);
        // A storage behind a network may not know who sends a request.
        let is_own = !event.driver.is_empty()
            && matches!(event.action.as_str(), "intent_created" | "manifest_created" | "state_created");
        if is_own && *self.token_of_driver.entry(event.driver.clone()).or_insert(event.token) != event.token {
            return Err("a driver has one token".to_string());
        }
        let storage = self.storages.entry(event.storage.clone()).or_default();
        for request in requests {
            if let Some(rule) = rules::broken(storage, &request, token) {
                return Err(format!("it is not true that {rule}"));
            }
            let got = storage.carry_out(&request);
            if answer.clone().is_some_and(|logged| logged != got) {
                return Err(format!("the storage should have answered {got:?}"));
            }
        }
        Ok(())
    }

    /// The requests that a line stands for, and the answer that it tells.
    fn requests(&mut self, event: &Event) -> Result<(Vec<Request>, Option<Answer>), String> {
        let key = Key { query: 0, batch: 0, write: self.writes.of(&format!("{}/{}", event.query, event.write)) };
        let generation = small(event.generation);
        let intent = Intent { key, generation, token: self.token(event.token) };
        Ok(match event.action.as_str() {
            "staged" => {
                let files = event.staged.iter().map(|one| (self.staged(one), self.content(one))).collect();
                (vec![Request::Stage(files)], None)
            }
            "staged_removed" => {
                (vec![Request::RemoveStaged(event.staged.iter().map(|one| self.staged(one)).collect())], None)
            }
            "intent_created" => {
                for file in &event.files {
                    self.key_of_file.insert(file.path.clone(), key);
                }
                (vec![Request::CreateIntent(intent, event.files.iter().map(|one| self.file(one)).collect())], None)
            }
            "intent_deleted" => (vec![Request::DeleteIntent(intent)], None),
            "staged_copied" | "staged_moved" | "staged_missed" => {
                let from = self.staged(&event.staged[0]);
                let copy = Request::Copy(from, self.file(&event.files[0]));
                let answer = if event.action == "staged_missed" { Answer::Missing } else { Answer::Done };
                match event.action.as_str() {
                    "staged_moved" => (vec![copy, Request::RemoveStaged(vec![from])], Some(answer)),
                    _ => (vec![copy], Some(answer)),
                }
            }
            "manifest_created" | "manifest_exists" | "manifest_put" => {
                let files = event.files.iter().map(|one| (self.file(one), self.content(one))).collect();
                let record = Record { generation, token: intent.token, stamp: 0, input: Input::Nothing, files };
                match event.action.as_str() {
                    "manifest_created" => (vec![Request::CreateManifest(key, record)], Some(Answer::Done)),
                    "manifest_exists" => (vec![Request::CreateManifest(key, record)], Some(Answer::Exists)),
                    _ => (vec![Request::PutManifest(key, record)], None),
                }
            }
            "file_removed" => {
                (vec![Request::DeleteFiles(event.files.iter().map(|one| self.file(one)).collect())], None)
            }
            "compaction_intent_put" | "compaction_intent_deleted" | "compaction_created" | "compaction_exists" => {
                let (number, one) = self.compaction(event);
                match event.action.as_str() {
                    "compaction_intent_put" => (vec![Request::PutCompactionIntent(number, one)], None),
                    "compaction_intent_deleted" => (vec![Request::DeleteCompactionIntent(number, one.owner)], None),
                    "compaction_created" => (vec![Request::CreateCompaction(number, one)], Some(Answer::Done)),
                    _ => (vec![Request::CreateCompaction(number, one)], Some(Answer::Exists)),
                }
            }
            "state_created" | "state_exists" => {
                let state = Announced { token: intent.token, writes: 0 };
                let answer = if event.action == "state_created" { Answer::Done } else { Answer::Exists };
                (vec![Request::CreateState(small(event.number), state)], Some(answer))
            }
            "state_deleted" => {
                let storage = self.storages.entry(event.storage.clone()).or_default();
                storage.journal.remove(&small(event.number));
                (vec![], None)
            }
            other => return Err(format!("the model has no action {other}")),
        })
    }

    /// The compaction of a line, whose files belong to it from now on.
    fn compaction(&mut self, event: &Event) -> (Number, Compaction) {
        let number = small(event.number);
        let owner = u8::try_from(self.owners.of(&event.owner)).expect("at most 256 people compact in one log");
        for file in &event.files {
            let key = Key { query: crate::compactor::QUERY, batch: 0, write: 0 };
            let own = File { key, generation: number, token: 0, task: self.paths.of(&file.path) };
            self.compacted.insert(file.path.clone(), own);
        }
        let files = event.files.iter().map(|one| (self.file(one), self.content(one))).collect();
        let replaced = event.replaced.iter().map(|one| self.file(one)).collect();
        (number, Compaction { owner, replaced, files })
    }

    fn token(&self, token: u64) -> Token {
        self.tokens.binary_search(&token).expect("all tokens are known") as Token
    }

    fn file(&mut self, file: &Named) -> File {
        // A file that no intent has named yet belongs to no key.
        if let Some(one) = self.compacted.get(&file.path) {
            return *one;
        }
        let nobody = Key { query: u8::MAX, batch: 0, write: 0 };
        let key = self.key_of_file.get(&file.path).copied().unwrap_or(nobody);
        File { key, generation: small(file.generation), token: self.token(file.token), task: self.paths.of(&file.path) }
    }

    fn staged(&mut self, file: &Named) -> Staged {
        let key = Key { query: 0, batch: 0, write: 0 };
        Staged { key, token: self.token(file.token), attempt: 0, task: self.paths.of(&file.path) }
    }

    fn content(&mut self, file: &Named) -> Set {
        self.contents.of(&file.crc32.to_string())
    }
}

fn small(number: u64) -> Number {
    Number::try_from(number).expect("at most 65,535 generations")
}

//! When a request may be carried out: the protocol as the storage sees it, whoever sends what in which order.
//!
//! The model checks that its drivers never break a rule, and `accept` checks the same of the logs of the real code.

use crate::storage::{Compaction, Request, Storage, Token};

pub type Broken = Option<&'static str>;

/// Return the rule that is broken if the storage carries out a request of the driver with this token now.
pub fn broken(storage: &Storage, request: &Request, token: Token) -> Broken {
    use Request::*;
    match request {
        CreateIntent(intent, files) => {
            let own = |file: &crate::storage::File| {
                (file.key, file.generation, file.token) == (intent.key, intent.generation, token)
            };
            let is_next =
                intent.generation == 1 || storage.manifests.contains_key(&(intent.key, intent.generation - 1));
            (intent.token != token || !files.iter().all(own))
                .then_some("an intent names files of its own generation and token only")
                .or((!is_next).then_some("a generation is begun only after the one before it has a manifest"))
        }
        Copy(from, to) if storage.staged.contains_key(from) => {
            let is_compacted = |one: &Compaction| one.files.iter().any(|(file, _)| file == to);
            let is_named = storage.intents.values().any(|files| files.contains(to))
                || storage.compaction_intents.values().any(is_compacted);
            let changes = storage.files.get(to).is_some_and(|there| Some(there) != storage.staged.get(from));
            (!is_named)
                .then_some("a file is moved only while an intent names it")
                .or((changes && is_live(storage, to)).then_some("a published file never changes"))
        }
        CreateManifest(key, record) if !storage.manifests.contains_key(&(*key, record.generation)) => {
            let before = storage.newest(*key).map_or((0, 0), |one| (one.generation, one.token));
            let is_there = |file, records| storage.files.get(file) == Some(records) || is_replaced(storage, file);
            let is_complete = record.files.iter().all(|(file, records)| is_there(file, records));
            (record.generation != before.0 + 1)
                .then_some("generations of a key have no gaps")
                .or((record.token != token).then_some("a manifest has the token of the driver that creates it"))
                .or((record.token < before.1).then_some("an earlier driver supersedes nothing of a later one"))
                .or((!is_complete).then_some("a manifest is created only after its files are in place"))
        }
        CreateState(number, state) => {
            let newest = storage.journal.iter().next_back().filter(|(newest, _)| *newest < number);
            newest
                .is_some_and(|(_, before)| before.token > state.token)
                .then_some("an earlier driver adds nothing to a journal that a later one has opened")
        }
        CreateCompaction(number, one) if !storage.compactions.contains_key(number) => {
            let newest = storage.compactions.keys().next_back().copied().unwrap_or(0);
            let is_complete = one.files.iter().all(|(file, records)| storage.files.get(file) == Some(records));
            (*number != newest + 1)
                .then_some("compactions are numbered without gaps")
                .or((!is_complete).then_some("a compaction is recorded only after its files are in place"))
        }
        PutManifest(..) => Some("a manifest is created exclusively, never written over"),
        DeleteFiles(files) => {
            let there = || files.iter().filter(|file| storage.files.contains_key(file));
            there()
                .any(|file| is_live(storage, file))
                .then_some("a file that the newest manifest names is not removed")
                .or(there()
                    .any(|file| {
                        !is_replaced(storage, file) && !storage.manifests.contains_key(&(file.key, file.generation))
                    })
                    .then_some("a file is removed only after its generation is taken"))
        }
        DeleteIntent(intent) => {
            let files = storage.intents.get(intent)?;
            let Some(taken) = storage.manifests.get(&(intent.key, intent.generation)) else {
                return Some("an intent is removed only after its generation is taken");
            };
            files
                .iter()
                .any(|file| storage.files.contains_key(file) && !taken.names(file))
                .then_some("an intent is removed only after the files that no manifest names")
        }
        _ => None,
    }
}

fn is_live(storage: &Storage, file: &crate::storage::File) -> bool {
    storage.live(crate::storage::Set::MAX).iter().any(|(one, _)| one == file)
}

fn is_replaced(storage: &Storage, file: &crate::storage::File) -> bool {
    storage.compactions.values().any(|one| one.replaced.contains(file))
        || storage.compactions.contains_key(&file.generation) && file.key.query == crate::compactor::QUERY
}

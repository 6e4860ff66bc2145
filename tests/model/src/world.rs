//! Drivers, compactions and a reader on one storage, what may happen next, and what must always be true.
//!
//! A driver that is not given a turn is slow, and one that is never given a turn again was killed; every property is
//! checked in every state, so both are covered. A request whose sender got no answer may be carried out at any later
//! moment, or never.

use crate::compactor::{self, Compactor, Reader};
use crate::driver::{At, Driver};
use crate::rules;
use crate::scenario::{records_of, Scenario, UNBOUNDED};
use crate::storage::*;
use stateright::{Model, Property};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    pub storage: Storage,
    pub drivers: Vec<Driver>,
    pub compactors: Vec<Compactor>,
    pub reader: Option<Reader>,
    /// Requests whose sender does not wait for them, each with the sender's token.
    pub under_way: Vec<(Token, Request)>,
    pub faults_left: u8,
    /// The driver whose turn it is, and how often another one may still be given the turn before this one has ended.
    pub turn: (u8, u8),
    /// For each batch that is done: the token of the last driver that said so, and what its last attempt wrote.
    pub promised: BTreeMap<(u8, u8), (Token, [Set; 2])>,
    pub broken: rules::Broken,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// The driver's next request is carried out and answered, or the driver reads.
    Goes(u8),
    /// The request is carried out and the answer is lost, or a read fails.
    LosesItsAnswer(u8),
    /// The request gets no answer now; it may be carried out later.
    IsLate(u8),
    /// The request is carried out and answered; it may be carried out once more later.
    IsSentTwice(u8),
    /// A request to create is carried out twice at once, so that its sender is told that the file exists.
    IsAnsweredTwice(u8),
    /// A late request is carried out.
    Arrives(usize),
    Compacts(u8),
    Reads,
}

impl Model for Scenario {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World {
            storage: Storage::default(),
            drivers: (0..self.drivers.len() as u8).map(|id| Driver::new(self, id)).collect(),
            compactors: (1..=self.compactors).map(Compactor::new).collect(),
            reader: self.reader.then_some(Reader::Begins),
            under_way: vec![],
            faults_left: self.faults,
            turn: (0, self.switches),
            promised: BTreeMap::new(),
            broken: None,
        }]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        for driver in world.drivers.iter().filter(|one| world.may_go(one)) {
            let id = driver.id;
            actions.push(Action::Goes(id));
            if world.faults_left > 0 {
                match driver.request(self) {
                    // A read that fails, or a request that is never carried out, is a try that ends there.
                    None => {}
                    // Uploads of staged files may fail, but none arrives late.
                    Some(Request::Stage(_)) => actions.push(Action::LosesItsAnswer(id)),
                    Some(request) => {
                        actions.extend([Action::LosesItsAnswer(id), Action::IsLate(id), Action::IsSentTwice(id)]);
                        if matches!(request, Request::CreateManifest(..)) {
                            actions.push(Action::IsAnsweredTwice(id));
                        }
                    }
                }
            }
        }
        actions.extend((0..world.under_way.len()).map(Action::Arrives));
        actions.extend(
            world.compactors.iter().filter(|one| one.at != compactor::At::Ended).map(|one| Action::Compacts(one.id)),
        );
        if matches!(world.reader, Some(Reader::Begins | Reader::HasRead(_))) {
            actions.push(Action::Reads);
        }
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        next.take_turn(action);
        match action {
            Action::Goes(id) => {
                let answer = next.send(self, id);
                next.go_on(self, id, answer);
            }
            Action::LosesItsAnswer(id) => {
                next.send(self, id);
                next.drivers[id as usize].failed(self);
            }
            Action::IsLate(id) => {
                next.keep_for_later(self, id);
                next.drivers[id as usize].failed(self);
            }
            Action::IsSentTwice(id) => {
                next.keep_for_later(self, id);
                let answer = next.send(self, id);
                next.go_on(self, id, answer);
            }
            Action::IsAnsweredTwice(id) => {
                next.send(self, id);
                next.go_on(self, id, Some(Answer::Exists));
            }
            Action::Arrives(n) => {
                let (token, request) = next.under_way.remove(n);
                next.carry_out(token, &request);
            }
            Action::Compacts(id) => {
                let compactor = &mut next.compactors[id as usize - 1];
                match compactor.request() {
                    Some(request) => {
                        let answer = next.storage.carry_out(&request);
                        compactor.answered(self, &answer, &next.storage);
                    }
                    None => compactor.read(self, &next.storage),
                }
            }
            Action::Reads => next.reader = next.reader.map(|one| one.read(&next.storage)),
        }
        if !matches!(action, Action::Goes(_) | Action::Arrives(_) | Action::Compacts(_) | Action::Reads) {
            next.faults_left -= 1;
        }
        if next.drivers[next.turn.0 as usize].has_ended() && self.switches != UNBOUNDED {
            next.turn.1 += 1; // whoever goes on now interrupts nobody
        }
        next.drivers.iter_mut().filter(|one| one.has_ended()).for_each(Driver::forget);
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut all = vec![
            Property::<Self>::always("a reader finds each batch whole, and no record twice", readers_see_whole_batches),
            Property::<Self>::always("a batch that is done is never lost or changed", done_batches_stay),
            Property::<Self>::always("generations only go up, and so do their tokens", generations_go_up),
            Property::<Self>::always("recovery leaves what the manifests name, and nothing else", recovery_is_exact),
            Property::<Self>::always("a slow reader finds no record twice, and none lost", slow_readers_see_all),
            Property::<Self>::always("when faults end, the batch is published", batches_are_published),
        ];
        if self.wrong.is_none() {
            all.push(Property::<Self>::always("no rule of the log is broken", |_, world| world.broken.is_none()));
        }
        all
    }
}

impl World {
    /// Say what happens if an action is taken now.
    pub fn describe(&self, scenario: &Scenario, action: Action) -> String {
        use Action::*;
        match action {
            Goes(id) | LosesItsAnswer(id) | IsLate(id) | IsSentTwice(id) | IsAnsweredTwice(id) => {
                let driver = &self.drivers[id as usize];
                let at = format!("{:?}", driver.at);
                let at = at.split([' ', '(']).next().unwrap_or_default();
                let request = driver.request(scenario).map(|one| format!(" {one:?}")).unwrap_or_default();
                format!("{action:?} at {at}:{request}")
            }
            Arrives(n) => format!("{:?} of {}", self.under_way[n].1, self.under_way[n].0),
            Compacts(id) => format!("{action:?}: {:?}", self.compactors[id as usize - 1].at),
            Reads => format!("{:?}", self.reader),
        }
    }

    fn may_go(&self, driver: &Driver) -> bool {
        !driver.has_ended() && (self.turn.0 == driver.id || self.turn.1 > 0)
    }

    fn take_turn(&mut self, action: Action) {
        use Action::*;
        if let Goes(id) | LosesItsAnswer(id) | IsLate(id) | IsSentTwice(id) | IsAnsweredTwice(id) = action {
            if self.turn.1 != UNBOUNDED {
                self.turn = (id, self.turn.1 - u8::from(self.turn.0 != id));
            }
        }
    }

    fn carry_out(&mut self, token: Token, request: &Request) -> Answer {
        self.broken = self.broken.or(rules::broken(&self.storage, request, token));
        self.storage.carry_out(request)
    }

    fn send(&mut self, scenario: &Scenario, id: u8) -> Option<Answer> {
        let driver = &self.drivers[id as usize];
        let request = driver.request(scenario)?;
        if let Request::CommitBatch(query, batch) = request {
            let promise = (driver.token, driver.promises(scenario));
            let before = self.promised.entry((query, batch)).or_insert(promise);
            *before = promise.max(*before);
        }
        Some(self.carry_out(self.drivers[id as usize].token, &request))
    }

    fn go_on(&mut self, scenario: &Scenario, id: u8, answer: Option<Answer>) {
        let driver = &mut self.drivers[id as usize];
        match answer {
            Some(answer) => driver.answered(scenario, &answer, &self.storage),
            None => driver.read(scenario, &self.storage),
        }
    }

    fn keep_for_later(&mut self, scenario: &Scenario, id: u8) {
        let driver = &self.drivers[id as usize];
        let request = driver.request(scenario).expect("only requests are late");
        self.under_way.push((driver.token, request));
        self.under_way.sort();
    }
}

/// Safety: whoever reads the manifests at any instant finds under each write all records of one attempt, or none.
fn readers_see_whole_batches(scenario: &Scenario, world: &World) -> bool {
    let whole = |key: Key| {
        let record = world.storage.newest(key).unwrap();
        let records = record.files.iter().fold(0, |all, (_, one)| all | one);
        let rest = scenario.drivers.iter().find(|one| one.query == key.query).and_then(|one| one.rest_of);
        let is_version = records == 0
            || rest.is_some()
            || scenario.versions(key.query, key.batch, key.write, 0).any(|one| one == records);
        is_version
    };
    scenario.tables.iter().all(|table| world.storage.seen(*table).is_some())
        && world.storage.keys().into_iter().all(whole)
}

/// Safety: when a batch is done, a table holds what the last attempt wrote, until a later driver replaces it whole; no
/// earlier driver changes that. A record that was there is never gone afterwards.
fn done_batches_stay(scenario: &Scenario, world: &World) -> bool {
    world.promised.iter().all(|((query, batch), (token, promised))| {
        (0..2).all(|write| {
            let key = Key { query: *query, batch: *batch, write };
            let files = world.storage.newest(key).map(|one| one.files.clone()).unwrap_or_default();
            let found = files.iter().fold(0, |all, (_, one)| all | one);
            found == promised[write as usize]
                || scenario.versions(*query, *batch, write, *token).any(|one| one == found)
                    && world.drivers.iter().any(|one| one.token > *token)
        })
    })
}

fn generations_go_up(_: &Scenario, world: &World) -> bool {
    let all: Vec<_> = world.storage.manifests.iter().collect();
    let is_next = |pair: &[(&(Key, Number), &Record)]| {
        let (((key, before), old), ((next, after), new)) = (pair[0], pair[1]);
        if key == next {
            *after == before + 1 && new.token >= old.token
        } else {
            *after == 1
        }
    };
    all.first().is_none_or(|((_, generation), _)| *generation == 1) && all.windows(2).all(is_next)
}

/// Safety: if all drivers die now, a new one recovers the table without changing what readers see; the folder then
/// holds what the manifests name and nothing else, whether or not late requests still arrive.
fn recovery_is_exact(scenario: &Scenario, world: &World) -> bool {
    let mut storage = world.storage.clone();
    Compactor::settle(scenario, &mut storage);
    for table in &scenario.tables {
        let query = scenario.drivers.last().expect("there is a driver").query;
        let mut driver = Driver::to_recover(scenario, query, *table);
        while driver.at != At::Done {
            match driver.request(scenario) {
                Some(request) => {
                    let answer = storage.carry_out(&request);
                    driver.answered(scenario, &answer, &storage);
                }
                None => driver.read(scenario, &storage),
            }
        }
    }
    let seen = |one: &Storage| scenario.tables.iter().map(|table| one.seen(*table)).collect::<Vec<_>>();
    let is_exact = |one: &Storage| {
        let named = one.live(Set::MAX);
        seen(one) == seen(&world.storage)
            && one.files.len() == named.len()
            && named.iter().all(|(file, records)| one.files.get(file) == Some(records))
    };
    if !is_exact(&storage) || !storage.intents.is_empty() || !storage.staged.is_empty() {
        return false;
    }
    world.under_way.iter().all(|(_, request)| {
        storage.carry_out(request);
        is_exact(&storage)
    })
}

/// Safety: a reader that reads records of compactions and manifests one after the other sees the batches that were done.
fn slow_readers_see_all(scenario: &Scenario, world: &World) -> bool {
    match world.reader {
        Some(Reader::Saw(seen)) => seen.is_some_and(|seen| {
            let batches = scenario.drivers[0].batches.iter().map(|attempts| records_of(&attempts[0], 0));
            let up_to: Vec<Set> = std::iter::once(0)
                .chain(batches.scan(0, |all, one| {
                    *all |= one;
                    Some(*all)
                }))
                .collect();
            up_to.contains(&seen)
        }),
        _ => true,
    }
}

/// Liveness: no state repeats, because a driver only goes forward and faults are counted; so when nothing can happen
/// any more, everybody had all the turns it wanted. Then the driver with the highest token has come to its end.
fn batches_are_published(scenario: &Scenario, world: &World) -> bool {
    let mut actions = vec![];
    scenario.actions(world, &mut actions);
    let last = world.drivers.iter().max_by_key(|one| one.token).expect("there is a driver");
    !actions.is_empty() || matches!(last.at, At::Done | At::Refused)
}

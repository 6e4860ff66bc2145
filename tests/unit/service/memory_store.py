"""The service's database as dictionaries, for tests that need hundreds of thousands of transactions.

It has what operations and controllers ask of `Changes`, but for what only the console, retention and the catalog need.
That it does the same is checked by tests that play the same histories with this store and with a real one.
"""

from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from gluepot.service.decisions.states import OPEN, State
from gluepot.service.decisions.workflows import UNFINISHED
from gluepot.service.events.batches import Waiting


@dataclass
class Tables:
    """All rows. Values are immutable, so a copy of the dictionaries is a copy of everything."""

    jobs: dict = field(default_factory=dict)
    crawlers: dict = field(default_factory=dict)
    runs: dict = field(default_factory=dict)
    followed: dict = field(default_factory=dict)
    triggers: dict = field(default_factory=dict)
    firings: dict = field(default_factory=dict)
    workflows: dict = field(default_factory=dict)
    workflow_runs: dict = field(default_factory=dict)
    rules: dict = field(default_factory=dict)
    waiting: dict = field(default_factory=dict)
    deliveries: list = field(default_factory=list)
    writes: int = 0

    def copied(self):
        return {name: value if name == "writes" else value.copy() for name, value in vars(self).items()}


class Rows:
    """Rows of tables."""

    def __init__(self, tables):
        self._tables = tables

    def _put(self, table, key, row):
        self._tables.writes += 1
        getattr(self._tables, table)[key] = row

    def _drop(self, table, key):
        self._tables.writes += getattr(self._tables, table).pop(key, None) is not None


class TriggerRows(Rows):
    def get(self, name):
        return self._tables.triggers.get(name)

    def of_workflow(self, workflow):
        found = [one for one in self._tables.triggers.values() if one.workflow == workflow]
        return sorted(found, key=lambda one: one.name)

    def due(self, now_ms):
        found = [one for one in self._tables.triggers.values() if one.next_ms is not None and one.next_ms <= now_ms]
        return sorted(found, key=lambda one: (one.next_ms, one.name))

    def save(self, trigger):
        self._put("triggers", trigger.name, trigger)

    def delete(self, name):
        self._drop("triggers", name)

    def note_firing(self, name, occasion, now_ms):
        if (name, occasion) in self._tables.firings:
            return False
        self._put("firings", (name, occasion), now_ms)
        return True


class WorkflowRows(Rows):
    def get(self, name):
        return self._tables.workflows.get(name)

    def save(self, workflow):
        self._put("workflows", workflow.name, workflow)

    def delete(self, name):
        self._drop("workflows", name)

    def run(self, run_id):
        return self._tables.workflow_runs.get(run_id)

    def runs(self, workflow, before=None, most=1):
        found = [run for run in self._tables.workflow_runs.values() if run.workflow == workflow]
        return found[::-1][:most]

    def unfinished(self):
        return [run for run in self._tables.workflow_runs.values() if run.status in UNFINISHED]

    def count_unfinished(self, workflow):
        return sum(run.workflow == workflow for run in self.unfinished())

    def add_run(self, run):
        self._put("workflow_runs", run.id, replace(run, number=len(self._tables.workflow_runs) + 1))

    def change_run(self, run):
        self._put("workflow_runs", run.id, run)


class EventRows(Rows):
    def rule(self, name):
        return self._tables.rules.get(name)

    def rules(self):
        return [rule for _, rule in sorted(self._tables.rules.items())]

    def save_rule(self, rule):
        self._put("rules", rule.name, rule)

    def keep_for(self, trigger, event, now_ms):
        # As SQLite, which gives the number of the newest row again after that row was removed.
        number = max(self._tables.waiting, default=0) + 1
        self._put("waiting", number, (trigger, Waiting(number, event, now_ms)))

    def waiting(self):
        found = {}
        for _, (trigger, one) in sorted(self._tables.waiting.items()):
            found.setdefault(trigger, []).append(one)
        return found

    def forget(self, events):
        for one in events:
            self._drop("waiting", one.number)

    def deliver(self, url, event, now_ms):
        self._tables.writes += 1
        self._tables.deliveries.append((url, event))


class MetricRows:
    """Keeps no metrics: no history looks at them."""

    def add(self, minutes):
        pass


class CostRows:
    """Keeps no costs: no history looks at them."""

    def add(self, cost):
        pass


class CrawlerRows(Rows):
    def get(self, name):
        return self._tables.crawlers.get(name)

    def all(self):
        return [self._tables.crawlers[name] for name in sorted(self._tables.crawlers)]

    def due(self, now_ms):
        return [one for one in self.all() if one.next_ms is not None and one.next_ms <= now_ms]

    def save(self, crawler):
        self._put("crawlers", crawler.name, crawler)

    def delete(self, name):
        self._drop("crawlers", name)


class MemoryChanges(Rows):
    """What `Changes` of the real store offers."""

    def __init__(self, tables):
        super().__init__(tables)
        self.triggers, self.workflows, self.events = TriggerRows(tables), WorkflowRows(tables), EventRows(tables)
        self.metrics = MetricRows()
        self.costs = CostRows()
        self.crawlers = CrawlerRows(tables)

    def alone(self):
        pass

    def tag(self, arn, added, removed=()):
        pass

    def tags(self, arn):
        return {}

    def untag(self, arn):
        pass

    def job(self, name):
        return self._tables.jobs.get(name)

    def save_job(self, job):
        self._put("jobs", job.name, job)

    def delete_job(self, name):
        self._drop("jobs", name)

    def run(self, run_id):
        return self._tables.runs.get(run_id)

    def runs(self, job, before=None, most=100):
        return [run for run in self._tables.runs.values() if run.job == job][::-1][:most]

    def runs_in(self, states):
        return [run for run in self._tables.runs.values() if run.state in states]

    def count(self, job, states):
        return sum(run.job == job and run.state in states for run in self._tables.runs.values())

    def add_run(self, run):
        assert run.id not in self._tables.runs
        self._put("runs", run.id, replace(run, number=len(self._tables.runs) + 1))
        self._put("followed", run.id, False)

    def change_run(self, run):
        self._put("runs", run.id, run)

    def take_run(self, run_id, place):
        run = self._tables.runs[run_id]
        if run.place not in {"", place} or run.state is not State.STARTING:
            return False
        self._put("runs", run_id, replace(run, place=place))
        return True

    def runs_of_chain(self, chain):
        return [run for run in self._tables.runs.values() if run.chain == chain]

    def runs_to_follow(self):
        followed = self._tables.followed
        return [run for run in self._tables.runs.values() if not followed[run.id] and run.state not in OPEN]

    def mark_followed(self, run_id):
        self._put("followed", run_id, True)

    def chain_goes_on(self, chain):
        return any(run.state in OPEN or not self._tables.followed[run.id] for run in self.runs_of_chain(chain))


class MemoryStore:
    """A store of one thread."""

    def __init__(self):
        self.tables = Tables()
        self._changes = MemoryChanges(self.tables)

    @contextmanager
    def changes(self):
        before = self.tables.copied()
        try:
            yield self._changes
        except BaseException:
            vars(self.tables).update(before)
            raise

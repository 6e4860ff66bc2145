"""Random histories of triggers, workflows and runs, played by the service and by a model of the reference's rules.

A history is made of groups of things that happen before the service looks again: calls, ends of processes, time that
passes. After each group both settle, and all that can be seen is compared. There are three kinds of histories:

- `limits`: jobs and workflows have limits and queues, so the order in which things are done matters.
- `kills`: the service is killed before, in or after one of the transactions of a group, and another one goes on.
- `replicas`: a second service takes a step between two transactions of the first one.

In the latter two nothing has a limit, because who comes first under a limit is not said by any rule.
"""

import json
import random
from contextlib import contextmanager
from dataclasses import dataclass

from gluepot.core.clock import FakeClock
from gluepot.service.context import Service
from gluepot.service.controllers.control import Controller
from gluepot.service.decisions.states import Ended, State
from gluepot.service.decisions.workflows import node_id
from gluepot.service.errors import ServiceError
from gluepot.service.events.envelopes import Origin
from gluepot.service.launch.launcher import Alive, Unknown
from gluepot.service.operations import events, jobs, runs, triggers, workflows
from tests.unit.service import trigger_model as rules

NOON = 1_772_452_800.0  # 2 March 2026, a Monday
KINDS = ("limits", "limits", "kills", "replicas")
JOBS, WORKFLOWS = "abcd", ("w1", "w2")
STATES = ("SUCCEEDED", "SUCCEEDED", "SUCCEEDED", "FAILED", "FAILED", "STOPPED", "TIMEOUT")
PASSING_SECS = (0, 1, 20, 59, 60, 61, 100, 300, 301, 600, 900)
ACTS = (
    *("end",) * 20,
    *("pass",) * 5,
    *("start_trigger",) * 4,
    *("start_workflow",) * 3,
    *("put_event",) * 3,
    *("start_job", "start_job", "stop_job", "stop_job", "resume", "resume", "resume"),
    *("stop_workflow", "stop_trigger", "change_trigger"),
    *("exists_trigger", "exists_workflow", "exists_job"),
)
MOST_STEPS = 400


class Killed(BaseException):
    """The service is killed at this point."""


class Interrupted:
    """A store at whose transactions something happens, once."""

    def __init__(self, store):
        self.store = store
        self.commits = 0
        self.countdown, self.happens = 0, None

    @contextmanager
    def changes(self):
        self._pass("before")
        with self.store.changes() as changes:
            yield changes
            self._pass("within")
        self.commits += 1
        self._pass("after")

    def _pass(self, where):
        if self.countdown:
            self.countdown -= 1
            if not self.countdown:
                self.happens(where)


@dataclass
class Machine:
    """The processes of all places, which outlive the services."""

    begun: dict
    ends: dict
    acts: int = 0


class Place:
    """The processes of one place."""

    def __init__(self, machine, name):
        self.machine, self.name = machine, name

    def launch(self, run):
        assert self.machine.begun.setdefault(run.id, self.name) == self.name, "a run was started at two places"
        self.machine.acts += 1

    def look(self, run_id, now_ms):
        if self.machine.begun.get(run_id) != self.name:
            return Unknown()
        code = self.machine.ends.get(run_id)
        return Alive(now_ms) if code is None else Ended(now_ms, code)

    def forbid(self, run_id):
        return run_id not in self.machine.begun

    def stop(self, run_id):
        self.machine.ends.setdefault(run_id, rules.KILLED)
        self.machine.acts += 1

    kill = stop


class History:
    """One history.

    Args:
        store: an empty store.
        seed: of all that is random in it.
    """

    def __init__(self, store, seed):
        self.chance = random.Random(seed)
        self.kind = self.chance.choice(KINDS)
        self.clock = FakeClock(NOON)
        self.real, self.store = store, Interrupted(store)
        self.machine = Machine({}, {})
        self.model = rules.Model(NOON)
        self.service = Service(self.store, self.clock, lambda: None, lambda _: None, {}, "0" * 12, "us-east-1")
        self.controller = self._controller(self.store, "here")
        self.other = self._controller(store, "there") if self.kind == "replicas" else None
        self.jobs, self.triggers, self.workflows = {}, {}, {}
        self.log = []
        self._define()

    def groups(self):
        """Return what happens: groups of acts with numbers that choose what they are about.

        Beside each group is the number of the moment at which the service is interrupted; 0 for never. With two
        services a group has one act, because one of them may look between any two.
        """
        chance = self.chance
        sizes = (1,) if self.kind == "replicas" else (1, 1, 2, 3)
        return [
            (
                chance.randint(1, 40) if self.kind != "limits" and chance.random() < 0.7 else 0,
                [
                    (chance.choice(ACTS), chance.randrange(1000), chance.randrange(1000))
                    for _ in range(chance.choice(sizes))
                ],
            )
            for _ in range(chance.randint(8, 18))
        ]

    def play(self, groups):
        """Let everything happen; fails where the service and the model differ."""
        self.store.happens = self._kill if self.kind == "kills" else self._step_of_other
        self._compare()
        for moment, acts in groups:
            self.store.countdown = moment
            for act, one, other in acts:
                getattr(self, f"_{act}")(one, other)
            self._settle()
            self.store.countdown = 0
            self.model.settle()
            self._compare()

    # What is there.

    def _define(self):
        chance, limited = self.chance, self.kind == "limits"
        for name in JOBS:
            limit = chance.choice((1, 1, 2, 3)) if limited else 1000
            minutes = chance.choice((5, 2880))
            self.jobs[name] = rules.Job(
                limit, chance.choice((0, 0, 1, 2)), limited and chance.random() < 0.5, 60 * minutes
            )
            self._exists_job(JOBS.index(name), 0)
        for workflow in ("", *WORKFLOWS[: chance.randint(1, 2)]):
            if workflow:
                self.workflows[workflow] = chance.choice((None, 1, 2)) if limited else None
                self._exists_workflow(len(self.workflows) - 1, 0)
            begins = chance.choice(("SCHEDULED", "ON_DEMAND", "EVENT" if workflow else "SCHEDULED"))
            first = rules.Trigger(f"{workflow}first", begins, workflow, self._some_jobs())
            if begins == "SCHEDULED":
                first.period_secs = chance.choice((300, 300, 600))
            if begins == "EVENT":
                first.size, first.window_secs = chance.choice((1, 2, 3)), chance.choice((60, 900))
            self._add_trigger(first)
            watched = list(first.jobs)
            for number in range(chance.randint(1, 3)):
                # Mostly of jobs that earlier triggers start, so that chains become long.
                conditions = [
                    (chance.choice(watched if chance.random() < 0.8 else JOBS), chance.choice(STATES))
                    for _ in range(chance.choice((1, 1, 2, 3)))
                ]
                then = rules.Trigger(f"{workflow}then{number}", "CONDITIONAL", workflow, self._some_jobs(), conditions)
                then.every = chance.random() < 0.5
                watched += then.jobs
                self._add_trigger(then)
        if not workflow:
            return
        for workflow in self.workflows:
            pattern = json.dumps({"source": [workflow]})
            events.put_rule(self.service, {"Name": workflow, "EventPattern": pattern})
            arn = f"arn:aws:glue:us-east-1:{'0' * 12}:workflow/{workflow}"
            events.put_targets(self.service, {"Rule": workflow, "Targets": [{"Id": "1", "Arn": arn}]})

    def _some_jobs(self):
        return self.chance.sample(JOBS, self.chance.choice((1, 1, 2)))

    def _add_trigger(self, trigger):
        self.triggers[trigger.name] = trigger
        self._exists_trigger(len(self.triggers) - 1, self.chance.randrange(6))

    def _request_of(self, trigger):
        request = {"Name": trigger.name, "Type": trigger.type, "Actions": [{"JobName": job} for job in trigger.jobs]}
        if trigger.workflow:
            request["WorkflowName"] = trigger.workflow
        if trigger.type == "SCHEDULED":
            request["Schedule"] = f"cron(0/{trigger.period_secs // 60} * * * ? *)"
        if trigger.type == "EVENT":
            request["EventBatchingCondition"] = {"BatchSize": trigger.size, "BatchWindow": trigger.window_secs}
        if trigger.conditions:
            conditions = [
                {"LogicalOperator": "EQUALS", "JobName": job, "State": state} for job, state in trigger.conditions
            ]
            request["Predicate"] = {"Logical": "AND" if trigger.every else "ANY", "Conditions": conditions}
        return request

    # What happens. Each act is told to the service and to the model.

    def _call(self, operation, request, of_model):
        """Make a call; it must be refused where the model refuses it. One that a kill keeps from being made is not."""
        before, answer, code = self.store.commits, None, None
        try:
            answer = operation(self.service, request)
        except ServiceError as refused:
            code = refused.code
            self.log.append((operation.__name__, request, code))
        except Killed:
            self._restart()
            self.log.append((operation.__name__, request, "killed", self.store.commits > before))
            if self.store.commits == before:
                return None, None
        else:
            self.log.append((operation.__name__, request))
        done = of_model()
        assert bool(done) == (code is None), f"{operation.__name__} is {code or 'not refused'}"
        return answer, done

    def _pass(self, one, _):
        self.clock.now += PASSING_SECS[one % len(PASSING_SECS)]
        self.model.now = self.clock.now
        self.log.append(("pass", self.clock.now - NOON))

    def _end(self, one, other):
        running = [
            run for run in self.model.runs if run.state == rules.RUNNING and run.exit_code is None and run.known_as
        ]
        for at in range(min(len(running), 1 + other % 3)):
            run = running[(one + at) % len(running)]
            if run.exit_code is None:
                run.exit_code = self.machine.ends[run.known_as] = (0, 0, 1)[(one + other + at) % 3]
                self.log.append(("end", run.job, run.trigger, run.exit_code))

    def _start_job(self, one, _):
        name = JOBS[one % len(JOBS)]
        before = {run.known_as for run in self.model.runs}
        _, run = self._call(runs.start_job_run, {"JobName": name}, lambda: self.model.start_job(name))
        if run is not None:
            with self.real.changes() as changes:
                [run.known_as] = {found.id for found in changes.runs(name, most=1000) if not found.chain} - before

    def _stop_job(self, one, _):
        known = [run for run in self.model.runs if run.known_as and run.state in rules.OPEN]
        if known:
            run = known[one % len(known)]
            request = {"JobName": run.job, "JobRunIds": [run.known_as]}
            self._call(runs.batch_stop_job_run, request, lambda: self.model.stop_job(run))

    def _start_trigger(self, one, _):
        name = sorted(self.triggers)[one % len(self.triggers)]
        self._call(triggers.start_trigger, {"Name": name}, lambda: self.model.start_trigger(name))

    def _stop_trigger(self, one, _):
        name = sorted(self.triggers)[one % len(self.triggers)]
        self._call(triggers.stop_trigger, {"Name": name}, lambda: self.model.stop_trigger(name))

    def _change_trigger(self, one, other):
        trigger = self.triggers[sorted(self.triggers)[one % len(self.triggers)]]
        update = self._request_of(trigger)
        wanted = [JOBS[other % len(JOBS)]]
        update = {name: value for name, value in update.items() if name not in {"Name", "Type", "WorkflowName"}}
        update["Actions"] = [{"JobName": job} for job in wanted]

        def of_model():
            return self._all_there(trigger, wanted) and self.model.change_trigger(trigger.name, wanted)

        self._call(triggers.update_trigger, {"Name": trigger.name, "TriggerUpdate": update}, of_model)

    def _exists_trigger(self, one, other):
        """Delete a trigger, or make it again."""
        trigger = list(self.triggers.values())[one % len(self.triggers)]
        if trigger.name in self.model.triggers:
            self._call(triggers.delete_trigger, {"Name": trigger.name}, lambda: self.model.triggers.pop(trigger.name))
            return
        fires = trigger.type != "ON_DEMAND" and other % 6 != 0

        def of_model():
            if not self._all_there(trigger, trigger.jobs) or (trigger.workflow or "none") not in (
                "none",
                *self.model.workflows,
            ):
                return False
            made = rules.replace(trigger, state="ACTIVATED" if fires else "CREATED")
            made.plan(self.model.now) if made.type == "SCHEDULED" else None
            self.model.triggers[trigger.name] = made
            return True

        self._call(triggers.create_trigger, {**self._request_of(trigger), "StartOnCreation": fires}, of_model)

    def _all_there(self, trigger, wanted):
        return {*wanted, *(job for job, _ in trigger.conditions)} <= set(self.model.jobs)

    def _exists_workflow(self, one, _):
        """Delete a workflow, or make it again."""
        name = list(self.workflows)[one % len(self.workflows)]
        most = self.workflows[name]
        if name in self.model.workflows:
            self._call(workflows.delete_workflow, {"Name": name}, lambda: [self.model.workflows.pop(name)])
            return

        def of_model():
            self.model.workflows[name] = most
            return True

        limit = {} if most is None else {"MaxConcurrentRuns": most}
        self._call(workflows.create_workflow, {"Name": name, **limit}, of_model)

    def _exists_job(self, one, _):
        """Delete a job, or make it again."""
        name = JOBS[one % len(JOBS)]
        job = self.jobs[name]
        if name in self.model.jobs:
            # Not by the operation, which also resets bookmarks: they are in another database.
            with self.real.changes() as changes:
                changes.delete_job(name)
            self.log.append(("delete_job", name))
            del self.model.jobs[name]
            return

        def of_model():
            self.model.jobs[name] = job
            return True

        request = {
            "Name": name,
            "Role": "any",
            "Command": {"Name": "glueetl", "ScriptLocation": "/job.py"},
            "ExecutionProperty": {"MaxConcurrentRuns": job.limit},
            "MaxRetries": job.retries,
            "JobRunQueuingEnabled": job.queue,
            "Timeout": int(job.timeout_secs // 60),
        }
        self._call(jobs.create_job, request, of_model)

    def _start_workflow(self, one, _):
        name = list(self.workflows)[one % len(self.workflows)]
        self._call(workflows.start_workflow_run, {"Name": name}, lambda: self.model.start_workflow(name))

    def _stop_workflow(self, one, _):
        known = [chain for chain in self.model.chains if chain.workflow and chain.known_as]
        if known:
            chain = known[-1 - one % min(3, len(known))]
            request = {"Name": chain.workflow, "RunId": chain.known_as}
            self._call(workflows.stop_workflow_run, request, lambda: self.model.stop_workflow(chain))

    def _resume(self, one, other):
        known = [chain for chain in self.model.chains if chain.workflow and chain.known_as and self.model.ran(chain)]
        if not known:
            return
        chain = known[-1 - one % min(3, len(known))]
        ran = list(dict.fromkeys(run.job for run in self.model.ran(chain)))
        chosen = [ran[(one + at) % len(ran)] for at in range(min(len(ran), 1 + other % 2))]
        nodes = [node_id(chain.workflow, "JOB", job) for job in chosen]
        request = {"Name": chain.workflow, "RunId": chain.known_as, "NodeIds": nodes}
        answer, done = self._call(workflows.resume_workflow_run, request, lambda: self.model.resume(chain, chosen))
        if answer:
            assert answer["NodeIds"] == [node_id(chain.workflow, "JOB", job) for job in done[0]]

    def _put_event(self, one, other):
        workflow = list(self.workflows)[one % len(self.workflows)]
        entry = {"Source": workflow, "DetailType": "any", "Detail": "{}"}

        def of_model():
            self.model.put_event(workflow)
            return True

        self._call(events.put_events, {"Entries": [entry]}, of_model)

    # The service.

    def _controller(self, store, place):
        origin = Origin("0" * 12, "us-east-1")
        return Controller(store, Place(self.machine, place), place, self.clock, origin)

    def _kill(self, where):
        self.log.append(("killed", where))
        raise Killed

    def _restart(self):
        self.controller = self._controller(self.store, "here")

    def _step_of_other(self, where):
        if where == "within":  # the transaction has the write lock
            self.store.countdown = 1
        else:
            self.log.append(("step of the other", where))
            self.other.step()

    def _settle(self):
        before = None
        for _ in range(MOST_STEPS):
            try:
                self.controller.step()
                if self.other is not None:
                    self.other.step()
            except Killed:
                self._restart()
                continue
            if (now := (self._writes(), self.machine.acts)) == before:
                return
            before = now
        raise AssertionError("the service does not settle")

    def _writes(self):
        if hasattr(self.real, "tables"):
            return self.real.tables.writes
        with self.real.changes() as changes:
            return changes._connection.connection.driver_connection.total_changes

    # The comparison.

    def _compare(self):
        """Compare all that can be seen, and note which run of the service is which one of the model."""
        found, expected = self._seen(), self._expected()
        there, wanted = [shown for shown, *_ in found], [shown for shown, *_ in expected]
        if there != wanted:
            only = [one for one in there if one not in wanted], [one for one in wanted if one not in there]
            raise AssertionError(f"the service has {only[0]}, the model {only[1]}")
        for (_, chain_id, run_ids), (_, chain, modelled) in zip(found, expected, strict=True):
            if chain is not None:
                chain.known_as = chain_id
            for run_id, run in zip(run_ids, modelled, strict=True):
                run.known_as = run_id
        with self.real.changes() as changes:
            states = {name: changes.triggers.get(name) for name in self.triggers}
            waiting = {name: len(some) for name, some in changes.events.waiting().items()}
        assert {name: (one.state.value, one.next_ms) for name, one in states.items() if one is not None} == {
            name: (one.state, None if one.next is None else one.next * 1000)
            for name, one in self.model.triggers.items()
        }
        names = [name for name, _ in self.model.events]
        assert waiting == {name: names.count(name) for name in names}

    def _seen(self):
        with self.real.changes() as changes:
            every = changes.runs_in(list(State))
            # The oldest first: of two that look the same, the older one is that which is older in the model.
            of_workflows = [run for name in self.workflows for run in changes.workflows.runs(name, most=1000)[::-1]]
        by_id = {run.id: run for run in every}
        chains = {run.id: (run, []) for run in of_workflows}
        for run in every:
            chains.setdefault(run.chain, (None, []))[1].append(run)
            met = [(one["JobName"], by_id[one["RunId"]].state.value) for one in run.predecessors]
            assert all(by_id[one["RunId"]].completed_ms <= run.started_ms for one in run.predecessors)
            trigger = self.triggers.get(run.trigger)
            if trigger is not None and trigger.conditions and run.chain not in self._resumed(of_workflows):
                assert met
                assert set(met) <= set(trigger.conditions)
                assert not trigger.every or set(met) == set(trigger.conditions)
        result = []
        for chain, (of, some) in chains.items():
            shown = sorted(
                ((run.trigger, run.job, run.attempt, run.state.value, run.started_ms // 1000), run.id) for run in some
            )
            about = None
            if of is not None:
                frozen = tuple(
                    (one.name, one.state.value, tuple(job["JobName"] for job in one.actions)) for one in of.triggers
                )
                ids = of.properties.get("aws:eventIds", "")
                about = (
                    of.workflow,
                    of.status.value,
                    bool(of.previous_id),
                    tuple(sorted(by_id[one].job for one in of.carried)),
                    frozen,
                    ids.count(",") + 1 if ids else 0,
                )
            result.append(((about or (), tuple(key for key, _ in shown)), chain, [run_id for _, run_id in shown]))
        return sorted((one for one in result if one[0][0] or one[0][1]), key=lambda one: one[0])

    def _resumed(self, of_workflows):
        return {run.id for run in of_workflows if run.previous_id}

    def _expected(self):
        chains = {None: []} | {chain: [] for chain in self.model.chains}
        for run in self.model.runs:
            chains[run.chain].append(run)
        result = []
        for chain, some in chains.items():
            shown = sorted(
                (((run.trigger, run.job, run.attempt, run.state, int(run.asked)), run) for run in some),
                key=lambda one: (one[0], one[1].known_as),
            )
            about = None
            if chain is not None and chain.workflow:
                about = (
                    chain.workflow,
                    chain.status,
                    chain.resumed,
                    tuple(sorted(run.job for run in chain.carried)),
                    tuple((one.name, one.state, tuple(one.jobs)) for one in chain.triggers),
                    chain.properties,
                )
            result.append(((about or (), tuple(key for key, _ in shown)), chain, [run for _, run in shown]))
        return sorted((one for one in result if one[0][0] or one[0][1]), key=lambda one: one[0])


def play(new_store, seeds):
    """Play histories; the message of a failure has the shortest history that was found to fail."""
    for seed in seeds:
        history = History(new_store(), seed)
        groups = history.groups()
        try:
            history.play(groups)
        except AssertionError:
            raise AssertionError(_story_of(new_store, seed, groups)) from None


def _story_of(new_store, seed, groups):
    """Leave groups out for as long as the rest still fails, and return what happened."""
    at = 0
    while at < len(groups):
        shorter = groups[:at] + groups[at + 1 :]
        if _failure(new_store, seed, shorter):
            groups = shorter
        else:
            at += 1
    return _failure(new_store, seed, groups)


def _failure(new_store, seed, groups):
    history = History(new_store(), seed)
    try:
        history.play(groups)
    except AssertionError as error:
        story = "\n".join(str(line) for line in history.log)
        return f"seed {seed}, {history.kind}: {error}\n{story}"
    return ""

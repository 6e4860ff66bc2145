"""What the reference says of triggers, workflows and the runs that they start, as a small machine of its own.

It shares nothing with the product: no code, no names of states but those of the API, no database, no transactions. A
test tells it what happened, lets it settle, and compares. The numbers behind the rules are those of the paragraphs of
docs/glue 11.7, unless another page is named.
"""

from dataclasses import dataclass, field, replace

SUCCEEDED, FAILED, STOPPED, TIMEOUT, ERROR = "SUCCEEDED", "FAILED", "STOPPED", "TIMEOUT", "ERROR"
WAITING, STARTING, RUNNING, STOPPING = "WAITING", "STARTING", "RUNNING", "STOPPING"
ACTIVE = {STARTING, RUNNING, STOPPING}
OPEN = {WAITING, *ACTIVE}
KILLED = -15
GRACE_SECS = 60
MOST_ROUNDS = 200


@dataclass
class Job:
    limit: int
    retries: int
    queue: bool
    timeout_secs: float


@dataclass
class Trigger:
    """A trigger; `next` is when its schedule fires next."""

    name: str
    type: str
    workflow: str
    jobs: list
    conditions: list = ()
    every: bool = True
    period_secs: int = 0
    size: int = 1
    window_secs: int = 900
    state: str = "CREATED"
    next: float | None = None

    def plan(self, now):
        """Its times are the multiples of its period, and the next one is later than now."""
        on = self.type == "SCHEDULED" and self.state == "ACTIVATED"
        self.next = (now // self.period_secs + 1) * self.period_secs if on else None


@dataclass(eq=False)
class Chain:
    """All that descends from one firing: a run of a workflow, or what started outside of workflows."""

    workflow: str = ""
    triggers: list = ()
    status: str = ""
    resumed: bool = False
    carried: list = ()
    fired: set = field(default_factory=set)
    properties: int = 0
    known_as: str = ""


@dataclass(eq=False)
class Run:
    job: str
    chain: Chain | None
    trigger: str
    state: str
    definition: Job | None
    asked: float
    attempt: int = 0
    since: float | None = None
    exit_code: int | None = None
    late: bool = False
    retried: bool = False
    told: bool = False
    known_as: str = ""

    def outcome(self):
        """A condition looks at the last attempt only (3)."""
        return None if self.state in OPEN or self.retried else (self.job, self.state)


class Model:
    def __init__(self, now):
        self.now = now
        self.jobs, self.triggers, self.workflows = {}, {}, {}
        self.runs, self.chains, self.events = [], [], []

    # Calls. Each returns whether it is carried out.

    def start_job(self, name):
        """Beyond the limit a call is refused, unless there is a queue (6)."""
        job = self.jobs.get(name)
        if job is None or (self.active(name) >= job.limit and not job.queue):
            return None
        return self.add(name, None, "")

    def stop_job(self, run):
        if run.state not in OPEN:
            return False
        run.state = STOPPED if run.state == WAITING else STOPPING
        return True

    def start_trigger(self, name):
        trigger = self.triggers.get(name)
        if trigger is None:
            return False
        if trigger.type == "ON_DEMAND":  # it fires once for each call (2)
            if trigger.workflow:
                return self.start_workflow(trigger.workflow) is not None
            self.fire(trigger, self.chain())
        elif trigger.state != "ACTIVATED":
            trigger.state = "ACTIVATED"
            trigger.plan(self.now)
        return True

    def stop_trigger(self, name):
        if (trigger := self.triggers.get(name)) is None:
            return False
        if trigger.type != "ON_DEMAND":  # these never leave CREATED (2)
            trigger.state, trigger.next = "DEACTIVATED", None
        return True

    def change_trigger(self, name, jobs):
        if (trigger := self.triggers.get(name)) is None:
            return False
        # Runs of workflows that have begun keep the trigger that they began with (5).
        self.triggers[name] = replace(trigger, jobs=jobs)
        return True

    def start_workflow(self, name):
        first = self.first(name)
        if name not in self.workflows or first is None or self.full(name):
            return None
        return self.begin(name, first)

    def stop_workflow(self, chain):
        if chain.status != RUNNING:
            return False
        chain.status = STOPPING
        for run in self.runs:
            if run.chain is chain and run.state in OPEN:
                self.stop_job(run)
        return True

    def resume(self, chain, jobs):
        """Return the jobs that start at once; None if it is refused (5, ResumeWorkflowRun)."""
        ran = self.ran(chain)
        if chain.workflow not in self.workflows or chain.status != "COMPLETED" or self.full(chain.workflow):
            return None
        if not jobs or not set(jobs) <= {run.job for run in ran}:
            return None
        starting = []
        for job in jobs:
            others = [other for other in jobs if other != job]
            if job not in self.after(chain.triggers, others):
                starting.append(job)
        for job in jobs:
            if job not in starting and job not in self.after(chain.triggers, starting):
                starting.append(job)
        again = set(jobs) | self.after(chain.triggers, jobs)
        resumed = self.chain(chain.workflow, chain.triggers, RUNNING)
        resumed.resumed, resumed.carried = True, [run for run in ran if run.job not in again]
        resumed.properties = chain.properties
        starters = {run.job: run.trigger for run in ran}
        for job in starting:
            resumed.fired.add(starters[job])
            self.start_by_trigger(job, resumed, starters[job])
        return starting, resumed

    def put_event(self, workflow):
        first = self.first(workflow)
        if first is not None and first.type == "EVENT" and first.state != "DEACTIVATED":
            self.events.append((first.name, self.now))

    # What follows by itself.

    def settle(self):
        for _ in range(MOST_ROUNDS):
            before = self.shape()
            self.round()
            if self.shape() == before:
                return
        raise AssertionError("the model does not settle")

    def shape(self):
        runs = [(run.state, run.exit_code, run.told, run.since) for run in self.runs]
        return (
            runs,
            [chain.status for chain in self.chains],
            list(self.events),
            [t.next for t in self.triggers.values()],
        )

    def round(self):
        for run in list(self.runs):
            self.look(run)
        for run in self.runs:
            if run.state == WAITING and self.active(run.job) < run.definition.limit:
                run.state = STARTING
        self.fire_schedules()
        for run in [one for one in self.runs if one.state not in OPEN and not one.told]:
            run.told = True
            if run.outcome() is not None and run.chain is not None:
                self.fire_conditions(run)
        for chain in self.chains:
            mine = [run for run in self.runs if run.chain is chain]
            if chain.status in {RUNNING, STOPPING} and all(run.state not in OPEN and run.told for run in mine):
                chain.status = "COMPLETED" if chain.status == RUNNING else STOPPED
        self.fire_events()

    def look(self, run):
        """Let one run go on."""
        if run.state not in ACTIVE:
            return
        job = run.definition
        if run.exit_code is not None or (run.state == STOPPING and run.since is None):
            if run.state == STOPPING:
                run.state = TIMEOUT if run.late else STOPPED
            else:
                run.state = FAILED if run.exit_code else SUCCEEDED
            if run.state == FAILED and run.attempt < job.retries:  # only what failed is tried again (6)
                run.retried = True
                self.runs.append(Run(run.job, run.chain, run.trigger, STARTING, job, self.now, run.attempt + 1))
        elif run.state == STARTING:
            run.state, run.since = RUNNING, self.now
        elif run.state == STOPPING:
            run.exit_code = KILLED
        elif job.timeout_secs and self.now - run.since >= job.timeout_secs:
            run.state, run.late = STOPPING, True

    def fire_schedules(self):
        due = [one for one in self.triggers.values() if one.next is not None and one.next <= self.now]
        for trigger in sorted(due, key=lambda one: (one.next, one.name)):
            missed = self.now - trigger.next > GRACE_SECS  # missed times are not caught up (1)
            trigger.plan(self.now)
            if missed:
                continue
            if trigger.workflow:
                self.start_by_itself(trigger.workflow)
            else:
                self.fire(trigger, self.chain())

    def fire_conditions(self, run):
        """Inside of a workflow only its frozen triggers count, outside only those outside (3, 5)."""
        chain = run.chain
        if chain.workflow and chain.status != RUNNING:
            return
        outside = sorted((one for one in self.triggers.values() if not one.workflow), key=lambda one: one.name)
        reached = {one.outcome() for one in self.ran(chain)}
        for trigger in chain.triggers if chain.workflow else outside:
            if trigger.type != "CONDITIONAL" or trigger.state != "ACTIVATED" or trigger.name in chain.fired:
                continue
            hits = [condition in reached for condition in trigger.conditions]
            if run.job in {job for job, _ in trigger.conditions} and (all(hits) if trigger.every else any(hits)):
                self.fire(trigger, chain)

    def fire_events(self):
        for name in dict.fromkeys(name for name, _ in self.events):
            trigger = self.triggers.get(name)
            mine = [at for one, at in self.events if one == name]
            if trigger is None or trigger.state == "DEACTIVATED" or trigger.workflow not in self.workflows:
                mine = []
            while mine and (len(mine) >= trigger.size or self.now - mine[0] >= trigger.window_secs):  # (4)
                self.start_by_itself(trigger.workflow, min(trigger.size, len(mine)))
                mine = mine[trigger.size :]
            self.events = [(one, at) for one, at in self.events if one != name] + [(name, at) for at in mine]

    # Parts of the above.

    def active(self, job):
        return sum(run.job == job and run.state in ACTIVE for run in self.runs)

    def first(self, workflow):
        return next((one for one in self.of(workflow) if one.type != "CONDITIONAL"), None)

    def of(self, workflow):
        return sorted((one for one in self.triggers.values() if one.workflow == workflow), key=lambda one: one.name)

    def full(self, workflow):
        most = self.workflows[workflow]
        mine = [one for one in self.chains if one.workflow == workflow and one.status in {RUNNING, STOPPING}]
        return most is not None and len(mine) >= most

    def chain(self, workflow="", triggers=(), status=""):
        made = Chain(workflow, [replace(one) for one in triggers], status)
        self.chains.append(made)
        return made

    def ran(self, chain):
        return [*chain.carried, *(run for run in self.runs if run.chain is chain)]

    def after(self, triggers, jobs):
        """Return the jobs that may start because some jobs have ended."""
        found, edge = set(), set(jobs)
        while edge:
            edge = {
                job for one in triggers if edge & {watched for watched, _ in one.conditions} for job in one.jobs
            } - found
            found |= edge
        return found

    def start_by_itself(self, workflow, events=0):
        """Beyond the limit of a workflow, what no caller asked for makes a run in ERROR (5)."""
        if workflow not in self.workflows:
            return
        if self.full(workflow):
            self.chain(workflow, self.of(workflow), ERROR).properties = events
        else:
            self.begin(workflow, self.first(workflow)).properties = events

    def begin(self, workflow, first):
        chain = self.chain(workflow, self.of(workflow), RUNNING)
        self.fire(first, chain)
        return chain

    def fire(self, trigger, chain):
        chain.fired.add(trigger.name)
        for job in trigger.jobs:
            self.start_by_trigger(job, chain, trigger.name)

    def start_by_trigger(self, name, chain, trigger):
        """Beyond the limit of a job a trigger makes a run that waits or has failed, for good (6)."""
        job = self.jobs.get(name)
        if job is None:
            self.runs.append(Run(name, chain, trigger, ERROR, None, self.now))
        elif self.active(name) >= job.limit and not job.queue:
            self.runs.append(Run(name, chain, trigger, FAILED, job, self.now))
        else:
            self.add(name, chain, trigger)

    def add(self, name, chain, trigger):
        job = self.jobs[name]
        state = WAITING if self.active(name) >= job.limit else STARTING
        run = Run(name, chain, trigger, state, job, self.now)
        self.runs.append(run)
        return run

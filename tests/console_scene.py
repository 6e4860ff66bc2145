"""A service whose console has something to show: jobs, runs with logs, a workflow, a catalog. Secrets are in it, too."""

import json
from pathlib import Path

from gluepot.core.clock import FakeClock
from gluepot.quality.outcomes import RuleOutcome
from gluepot.quality.results import Result, Source
from gluepot.service.console.app import with_console
from gluepot.service.console.sessions import new_link_token
from gluepot.service.decisions.states import Ended
from gluepot.service.figures import Figures
from gluepot.service.keys import KeyPair
from gluepot.service.operations import operations_of
from gluepot.service.quality_store import results_of
from gluepot.service.wire.app import make_app
from tests.unit.service.world import NOON, World

EVIL = "<script>alert('1')</script> & \"co\""
CANARY = "canary-4711"
KEY = KeyPair("AKIACONSOLE", "the secret of the console")
WORKFLOW = "nightly"
CRAWLED = {
    "summary": {
        "TABLE": {"ADD": {"Details": ["sales.orders"], "Count": 1}},
        "PARTITION": {"ADD": {"Details": [], "Count": 3}},
    },
    "tables": {"created": 1, "updated": 0, "deleted": 0},
}


class Scene:
    """A service with a console.

    Args:
        world: the service.
        loopback: whether only this machine reaches it.
    """

    def __init__(self, world: World, *, loopback: bool = True):
        self.world = world
        operations = operations_of(world.service)
        secrets = {KEY.id: KEY.secret}
        figures = Figures(world.store, lambda: world.controller.looked_secs, world.clock)
        api = make_app(operations, len, secrets.get, "token", "000000000000", figures, world.clock)
        self.app = with_console(api, world.service, operations, secrets.get, KEY, loopback=loopback)

    @classmethod
    def at(cls, folder: Path) -> "Scene":
        world = World(folder, NOON)
        for name in ("catalog", "ledger"):
            world.service.environ[f"GLUEPOT_{name.upper()}"] = f"sqlite:///{folder / name}.db"
        return cls(world)

    @property
    def clock(self) -> FakeClock:
        return self.world.clock

    def link(self) -> str:
        """Return the path of a link that logs in."""
        return f"/console/login?token={new_link_token(KEY.secret, self.clock.epoch())}"

    def start(self, job: str, **request) -> str:
        run_id = self.world.call("StartJobRun", JobName=job, **request)["JobRunId"]
        self.world.steps()
        return run_id

    def log(self, run_id: str, *lines: str | dict, stream: str = "error") -> None:
        folder = self.world.service.run_folder(run_id)
        folder.mkdir(exist_ok=True)
        with (folder / f"{stream}.log").open("a") as file:
            file.writelines(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)

    def define_workflow(self, name: str = WORKFLOW) -> None:
        call = self.world.call
        for job in ("extract", "load_orders", "load_customers", "check", "publish"):
            self.world.job(job)
        call("CreateWorkflow", Name=name, Description="All orders of the day before, checked and published.")
        start = {"Name": f"{name}-start", "WorkflowName": name, "Type": "SCHEDULED", "Schedule": "cron(30 2 * * ? *)"}
        call("CreateTrigger", **start, Actions=[{"JobName": "extract"}], StartOnCreation=True)
        self._then(name, "extracted", ["extract"], ["load_orders", "load_customers"])
        self._then(name, "loaded", ["load_orders", "load_customers"], ["check"])
        self._then(name, "checked", ["check"], ["publish"])

    def _then(self, workflow: str, name: str, after: list[str], start: list[str]) -> None:
        conditions = [{"LogicalOperator": "EQUALS", "JobName": job, "State": "SUCCEEDED"} for job in after]
        self.world.call(
            "CreateTrigger",
            Name=name,
            WorkflowName=workflow,
            Type="CONDITIONAL",
            Predicate={"Logical": "AND", "Conditions": conditions},
            Actions=[{"JobName": job} for job in start],
            StartOnCreation=True,
        )

    def start_workflow(self, name: str = WORKFLOW) -> str:
        run_id = self.world.call("StartWorkflowRun", Name=name, RunProperties={"day": "2026-03-01"})["RunId"]
        self.world.steps()
        return run_id

    def fill(self) -> "Scene":
        """Let a day happen."""
        call, world = self.world.call, self.world
        self._define_catalog()
        world.job(
            "orders_daily",
            Description="Reads the orders of a day.",
            DefaultArguments={"--day": "today", "--db-password": CANARY, "--url": f"jdbc:x://u:{CANARY}@db/orders"},
            NonOverridableArguments={"--api_token": CANARY},
            MaxRetries=2,
            WorkerType="G.1X",
            NumberOfWorkers=4,
            Tags={"team": "data"},
        )
        world.job(EVIL, Description=EVIL)
        world.job("clicks", ExecutionProperty={"MaxConcurrentRuns": 1}, JobRunQueuingEnabled=True)
        call(
            "CreateTrigger",
            Name="hourly",
            Type="SCHEDULED",
            Schedule="cron(0 * * * ? *)",
            Actions=[{"JobName": "orders_daily", "Arguments": {"--token": CANARY}}],
            StartOnCreation=True,
        )
        call("CreateTrigger", Name="by hand", Type="ON_DEMAND", Actions=[{"JobName": "clicks"}])
        self.define_workflow()
        self._crawl()
        self._check()
        done = self.start("orders_daily", Arguments={"--day": "2026-03-01"})
        self.log(done, "42 orders", stream="output")
        world.steps(312)
        world.end("orders_daily")
        world.steps(600)
        failed = self.start("orders_daily")
        for again in (failed, f"{failed}_attempt_1", f"{failed}_attempt_2"):
            world.steps(95)
            self.log(again, *self._failure())
            world.ended(again, 1)
            world.steps()
        world.steps(1200)
        broken = self.start(EVIL)
        self.log(broken, f"error: {EVIL}")
        world.steps(20)
        world.ended(broken, 1)
        world.steps()
        old = self.start_workflow()
        for job in ("extract", "load_orders"):
            world.steps(60)
            world.end(job)
        world.steps(45)
        world.end("load_customers", 1)
        world.steps(3600 * 3)
        self.start_workflow()
        world.steps(130)
        world.end("extract")
        world.steps(200)
        world.end("load_orders")
        self.start("clicks")
        self.start("clicks")
        world.steps(70)
        assert old
        return self

    def crawl_ids(self, name: str = "lake") -> list[str]:
        """Return the ids of a crawler's crawls, the newest first."""
        return [one["CrawlId"] for one in self.world.call("ListCrawls", CrawlerName=name)["Crawls"]]

    def end_crawl(self, name: str = "lake", result: dict | None = None, error: str = "") -> None:
        """Let the newest crawl of a crawler end; it has failed if there is no result."""
        ended = Ended(round(self.clock.now * 1000), 0 if result else 1, error, result or {})
        self.world.processes.ends[self.crawl_ids(name)[0]] = ended
        self.world.steps()

    def _crawl(self) -> None:
        self.world.call(
            "CreateCrawler",
            Name="lake",
            Role="any",
            Description=EVIL,
            DatabaseName="sales",
            Targets={"S3Targets": [{"Path": f"s3://u:{CANARY}@lake/sales", "Exclusions": ["**.tmp"]}]},
            Schedule="cron(15 23 * * ? *)",
        )
        self.world.call("StartCrawler", Name="lake")
        self.world.steps()
        self.log(self.crawl_ids()[0], "The folder orders became one table.", stream="output")
        self.world.steps(7)
        self.end_crawl(result=CRAWLED)
        self.world.call("StartCrawler", Name="lake")
        self.world.steps()
        self.end_crawl(error=f"The bucket says {EVIL} password={CANARY}")

    def result_ids(self) -> list[str]:
        """Return the ids of results of data quality, the newest first."""
        return [one["ResultId"] for one in self.world.call("ListDataQualityResults")["Results"]]

    def _check(self) -> None:
        history = results_of(self.world.service)
        now_ms = round(self.clock.now * 1000)
        for number in range(3):
            outcomes = [
                RuleOutcome("RowCount > 10", passed=True),
                RuleOutcome(f'IsComplete "{EVIL}"', passed=number != 1, reason=f"password={CANARY}" * (number == 1)),
            ]
            start_ms = now_ms + number
            result = Result(
                Source("orders_daily", "orders"), f"{number}", "", start_ms, start_ms + 5, outcomes, rows=42
            )
            history.save(result)

    def _failure(self) -> list[str | dict]:
        line = {"ts": "2026-03-02T12:20:03.100Z", "level": "info", "logger": "gluepot.job", "job": "orders_daily"}
        return [
            {**line, "msg": "run_started", "master": "local[2]", "password": CANARY},
            {**line, "level": "warning", "msg": "no_bookmark", "context": "orders"},
            "Traceback (most recent call last):",
            '  File "job.py", line 12, in <module>',
            f"    connect(password='{CANARY}')",
            "error: ValueError: The column day is missing.",
        ]

    def _define_catalog(self) -> None:
        call = self.world.call
        call("CreateDatabase", DatabaseInput={"Name": "sales", "Description": "Orders and customers."})
        columns = [
            {"Name": "id", "Type": "bigint"},
            {"Name": "amount", "Type": "decimal(10,2)", "Comment": EVIL},
            {"Name": "address", "Type": "struct<street:string,city:string>"},
        ]
        storage = {
            "Columns": columns,
            "Location": "s3://lake/sales/orders",
            "SerdeInfo": {"SerializationLibrary": "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"},
        }
        table = {
            "Name": "orders",
            "StorageDescriptor": storage,
            "PartitionKeys": [{"Name": "day", "Type": "date"}],
            "TableType": "EXTERNAL_TABLE",
            "Parameters": {"classification": "parquet", "password": CANARY},
        }
        call("CreateTable", DatabaseName="sales", TableInput=table)
        changed = {**table, "StorageDescriptor": {**storage, "Columns": columns[:2]}}
        call("UpdateTable", DatabaseName="sales", TableInput=changed)
        call("UpdateTable", DatabaseName="sales", TableInput=table)
        parts = [
            {"Values": [f"2026-02-{day:02}"], "StorageDescriptor": {"Location": f"s3://lake/sales/orders/day={day}"}}
            for day in range(1, 29)
        ]
        call("BatchCreatePartition", DatabaseName="sales", TableName="orders", PartitionInputList=parts)
        rows = Path(self.world.service.environ["GLUEPOT_STATE"]) / "customers"
        rows.mkdir()
        (rows / "x.json").write_text(json.dumps({"id": 1, "note": EVIL, "seen": None, "all": ["x" * 500]}) + "\n")
        columns = [{"Name": "id", "Type": "bigint"}]
        storage = {"Columns": columns, "Location": str(rows)}
        customers = {"Name": "customers", "StorageDescriptor": storage, "Parameters": {"classification": "json"}}
        call("CreateTable", DatabaseName="sales", TableInput=customers)
        properties = {"JDBC_CONNECTION_URL": "jdbc:postgresql://db/orders", "USERNAME": "etl", "PASSWORD": CANARY}
        connection = {"Name": "orders-db", "ConnectionType": "JDBC", "ConnectionProperties": properties}
        call("CreateConnection", ConnectionInput=connection)

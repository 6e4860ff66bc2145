# Every target sets up what it needs; after the first run none of that needs a network.
.DEFAULT_GOAL := help
.PHONY: help setup packages docs demo demo-service test test-long check lint simulate model crash power cluster fuzz differential differential-faults threads bench bench-quick bench-kinesis bench-jdbc bench-jdbc-write bench-planning bench-storm bench-autoscaling bench-merge bench-crawl bench-tpc clean mutants
MAKEFLAGS += --no-print-directory
# Where this is set, each process compiles anew all that it imports: half of the processor time of a short job's tests.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
TIMES := .test_times
# Their files are in a folder that is removed at the end, in memory where there is room. Of a test that passed, they go
# at its own end.
IN_OWN_FOLDER = folder=$$($(BIN)/python -m scripts.test_folder) || exit 1; trap 'rm -rf "$$folder"' EXIT; trap 'exit 1' INT TERM
PYTEST := $(BIN)/pytest -o tmp_path_retention_policy=failed
FIND_PYTHON = for p in python3 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null && { echo "$$p"; break; }; done

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install the locked packages and fetch the broker, once
	@python=$$($(FIND_PYTHON)); test -n "$$python" \
		|| { echo "No Python 3.11, 3.12 or 3.13 is on PATH; install one and run make again." >&2; exit 1; }; \
	"$$python" -m scripts.bootstrap

demo: setup ## click events through a Glue script into a table, live; ARGS="--seconds 20"
	@$(BIN)/gluepot demo $(ARGS)

demo-service: setup ## the service with a workflow and a stream that run; ARGS="--port 4590"
	@$(BIN)/gluepot serve --demo $(ARGS)

test: setup ## all that CI runs: lint and every test
	@$(BIN)/python -m scripts.test_run $(ARGS)

test-long: setup ## long repetitions, before a release: figures of docs/sensitive-data.md, all pairs of types that a column changes between, commands of the guides, property tests with new random examples, generated data quality rules and requests, queries of TPC-H, of TPC-DS and by chance, 100,000 histories of triggers and workflows, the large worlds of the commit protocol's model, 500 simulated hours, wrong versions in the simulator, random kills of jobs and of the service, every kill point with tables in S3, all faults of S3, the image with its archives of classes, wrong versions under kills and on a small cluster, kills of lake examples and of services that share a database, signals at random moments; more than an hour
	@failed=0; $(IN_OWN_FOLDER); \
	$(PYTEST) --basetemp $$folder/1 --numprocesses 2 --dist loadfile tests/unit --hypothesis-profile random -m hypothesis || failed=1; \
	$(PYTEST) --basetemp $$folder/2 --numprocesses 2 --dist loadfile tests/unit/entities tests/unit/files tests/unit/hostile tests/unit/quality tests/unit/service tests/spark tests/integration tests/model tests/simulate tests/crash tests/cluster tests/e2e -m long || failed=1; \
	exit $$failed

check: lint ## before a commit: lint and the unit tests
	@$(BIN)/pytest --numprocesses 2 tests/unit -m "not slow and not long"

lint: setup ## format, lint rules, types, import directions
	@$(BIN)/ruff format --check --quiet
	@$(BIN)/ruff check --quiet
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

docs: setup ## the documentation site, in build/docs/site: every link leads somewhere, and the builder has nothing to warn of
	@$(BIN)/python -m scripts.site

packages: ## install what the tests of the ops page, alerts and dashboards need (Debian's Chromium and Prometheus, as root); else they are skipped
	@{ command -v chromium && command -v promtool; } >/dev/null || \
		{ apt-get update -qq && apt-get install -qq --no-install-recommends chromium fonts-dejavu-core prometheus; } >/dev/null

simulate: setup ## play stories of a job and its faults with the real code, in simulated time; HOURS=100 SEED=1 ARGS="--wrong no_intent"
	@$(BIN)/python -m tests.simulate --hours $(or $(HOURS),30) $(SEED:%=--first %) $(ARGS)

model: ## visit all states of the model of the commit protocol, some minutes, and refute its wrong versions; needs Rust; SIZE=small
	@cargo build --release --locked --quiet --manifest-path tests/model/Cargo.toml --target-dir .tools/commit-model
	@.tools/commit-model/release/commit-model $(or $(SIZE),large)
	@.tools/commit-model/release/commit-model wrong

mutants: setup ## make wrong versions of commits, leases, checkpoints and bookmarks by chance, and count those that tests and simulator notice; COUNT=100 SEED=1
	@PYTHONPATH=. PYTHONHASHSEED=0 $(BIN)/python -m tests.mutants --count $(or $(COUNT),20) $(SEED:%=--seed %) \
		$(if $(COUNT),--document docs/reliability/wrong-versions.md) $(ARGS)

crash: setup ## kill jobs and count records; KILLS=300 VICTIMS="group jvm worker" LANES="local s3 kinesis fan-out postgresql mariadb" SCRIPTS=any-order SEED=1
	@$(BIN)/python -m tests.crash --kills $(or $(KILLS),20) $(VICTIMS:%=--victim %) $(LANES:%=--lane %) $(SCRIPTS:%=--script %) $(SEED:%=--seed %) \
		$(if $(KILLS),--document docs/reliability/kills.md) $(ARGS)

power: setup ## cut the power of jobs and count records, on a file system that forgets; as root; CUTS=500 CODE_CUTS=2000 SEED=1
	@$(BIN)/python -m tests.power --cuts $(or $(CUTS),20) $(CODE_CUTS:%=--code-cuts %) $(SEED:%=--seed %) \
		$(if $(CUTS),--document docs/reliability/power-cuts.md --report build/power.json) $(ARGS)

cluster: setup ## let a nemesis loose on a small cluster and judge what its clients saw, as root; RUNS=24 MINUTES=10 SEED=1
	@$(BIN)/python -m tests.cluster --runs $(or $(RUNS),1) --minutes $(or $(MINUTES),3) $(SEED:%=--seed %) \
		$(if $(RUNS),--histories tests/cluster/histories --document docs/reliability/cluster.md) $(ARGS)

fuzz: setup ## try bytes by chance on all that parses foreign bytes; SECS=600 TARGET=json ARGS="--keep-corpus"
	@$(BIN)/python -m tests.fuzz --secs $(or $(SECS),600) $(TARGET:%=--target %) $(ARGS)

differential: setup ## compare each shortcut with Spark or the library that it replaces, on random data; SECS=600 SEED=7 ARGS="--kind sql"
	@PYTHONPATH=. $(BIN)/python -m tests.differential --secs $(or $(SECS),600) $(SEED:%=--seed %) $(ARGS)

threads: setup ## scripts whose threads open streams, make views and write at the same time, read back by DuckDB; TRIES=200 SEED=1
	@PYTHONPATH=. $(BIN)/python -m tests.threads --tries $(or $(TRIES),200) $(SEED:%=--seed %)

differential-faults: setup ## make deliberate faults in translators, casts, decoders and databases, in a copy, and count those that the differential tester notices; SEED=1
	@PYTHONPATH=. $(BIN)/python -m tests.differential.faults $(SEED:%=--seed %) --document docs/reliability/deliberate-faults.md $(ARGS)

bench: setup .tools/bin/versitygw ## all that docs/performance.md shows, measured anew: about four hours on a machine that does nothing else
	@missed=0; run() { $(BIN)/python -m benchmarks.$$1 $(ARGS) --save benchmarks/results/$$2.json $$3 || missed=1; }; \
	for events in e200 e500 e1000; do \
		run drain drain-$$events "--events=$$events --against=stock --against=stock-jvm --against=tuned --against=loop --against=flink --against=connect"; done; \
	for events in changing optional shuffled wide deep long unicode; do \
		run drain drain-$$events "--events=$$events --against=stock --against=stock-jvm"; done; \
	for suite in tpch tpcds; do run tpc $$suite "--suite=$$suite"; done; \
	run drain price "--events=e500 --against=unsafe --pairs=25"; \
	run drain watched "--events=e500 --against=watched --pairs=25"; \
	run drain s3 "--events=e500 --against=near-s3 --against=s3 --records=5000000 --batch-rows=2500000"; \
	for one in storm scale latency startup drift sql batch merge files; do run $$one $$one; done; \
	$(BIN)/python -m benchmarks.page docs/performance.md benchmarks/results/*.json; exit $$missed

bench-quick: setup ## drain of 1 M events, side by side with stock PySpark; ARGS="--events e1000 --against tuned"
	@$(BIN)/python -m benchmarks.drain $(ARGS)

bench-kinesis: setup ## CPU of reading a Kinesis stream, side by side with boto3
	@$(BIN)/python -m benchmarks.kinesis $(ARGS)

bench-jdbc: setup ## read 1 M rows of PostgreSQL, side by side with Spark's own JDBC reader
	@$(BIN)/python -m benchmarks.jdbc $(ARGS)

bench-jdbc-write: setup ## write rows to MariaDB, side by side with Spark's own JDBC writer
	@$(BIN)/python -m benchmarks.jdbc_write $(ARGS)

bench-planning: setup ## find one new file among 200,000, beside a bare listing of the folders
	@$(BIN)/python -m benchmarks.planning $(ARGS)

bench-storm: setup ## what it costs a job that hundreds ask for its metrics at a time; ARGS="--short"
	@$(BIN)/python -m benchmarks.storm $(ARGS)

bench-tpc: setup ## TPC-H by Glue scripts, side by side with stock Spark and DuckDB; SCALE=1 ARGS="--suite tpcds"
	@$(BIN)/python -m benchmarks.tpc --scale $(or $(SCALE),1) $(ARGS)

bench-crawl: setup .tools/bin/versitygw ## crawl 1 M files and one new folder, on a disk and on an S3 server; needs Go; ARGS="--partitions 10000"
	@$(BIN)/python -m benchmarks.crawl $(ARGS) --save benchmarks/results/crawl.json; missed=$$?; \
	$(BIN)/python -m benchmarks.page docs/performance.md benchmarks/results/*.json; exit $$missed

.tools/bin/versitygw:
	GOBIN=$(CURDIR)/.tools/bin go install github.com/versity/versitygw/cmd/versitygw@v1.8.0

bench-merge: setup ## changes merged into an Iceberg table, side by side with stock PySpark; ARGS="--short"
	@$(BIN)/python -m benchmarks.merge $(ARGS)

bench-autoscaling: setup ## goals of the rule for the number of workers, simulated; ARGS="--document docs/autoscaling.md"
	@$(BIN)/python -m benchmarks.autoscaling $(ARGS)

clean: ## remove what the targets above made in this folder; the cache stays
	@rm -rf $(TIMES) .venv .tools .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis dist build spark-warehouse

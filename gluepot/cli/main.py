"""The command line. Its exit codes are in `gluepot/cli/exit_codes.py`."""

from __future__ import annotations

import json
import os
import select
import sys
import traceback
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, CycloptsError, MissingArgumentError, Parameter, UnknownOptionError, UnusedCliTokensError

from gluepot.cli import servers
from gluepot.cli.exit_codes import CLOSED_PIPE, DONE, FAILED, FINDINGS, INTERRUPTED, USAGE
from gluepot.cli.numbers import Price, check_finite
from gluepot.cli.project import ProjectConfig
from gluepot.core import logging
from gluepot.core.errors import ConfigError
from gluepot.job.options import DEFAULT_OPTIONS, RunOptions

_STDOUT = 1

BENCH_HELP = """\
Find the settings that a script of a Kafka stream needs: workers, partitions, window, batch limit, and the cost.

Runs the unchanged script several times on a broker of its own: batches of rising sizes on one core, then on more.
All Kafka streams of the script read the preloaded records; its output goes into a folder that is removed afterwards.
"""

project_config = ProjectConfig()
app = App(
    name="gluepot",
    help="Run AWS Glue scripts unchanged, on Spark, anywhere.",
    version_flags=["--version"],
    config=[project_config],
    default_parameter=Parameter(validator=check_finite),
)
app.command(
    "gluepot.cli.completion:install",
    name="--install-completion",
    help="Complete commands, options and their values in your shell.",
)
app.command(servers.up)
app.command(servers.status)
app.command(servers.down)
app.command(
    "gluepot.cli.checkpoint.commands:app", name="checkpoint", help="Explain, mend, move or rewind a checkpoint."
)
app.command("gluepot.cli.table.commands:app", name="table", help="Look at a table that jobs wrote: files, verify, ...")
app.command(
    "gluepot.cli.dlq:app",
    name="dlq",
    help="Show dead letters (records that a job could not process), send them again, delete them.",
)
app.command("gluepot.cli.bookmarks:app", name="bookmarks", help="What jobs have read, and how to change that.")
app.command("gluepot.cli.catalog:app", name="catalog", help="The Data Catalog: databases, tables, partitions.")
app.command(
    "gluepot.cli.crawl:crawl_",
    name="crawl",
    help="Find tables in folders of files and write them to the Data Catalog: formats, columns, partitions.",
)
app.command(
    "gluepot.cli.quality.commands:app", name="quality", help="Data quality: check rulesets and data, propose rules."
)
app.command("gluepot.cli.serve:app", name="serve", help="AWS Glue's API on this machine, for unmodified AWS clients.")
app.command(
    "gluepot.cli.transfer:import_",
    name="import",
    help="Create here what `aws glue get-jobs`, `get-triggers`, `get-tables` and other commands printed.",
)
app.command(
    "gluepot.cli.transfer:export_", name="export", help="Print jobs, triggers, tables, ... as AWS's command line does."
)
app.command("gluepot.cli.jars:app", name="jars", help="Java archives of Iceberg, Delta and Spark's Kafka connector.")
app.command("gluepot.cli.bookmarks:jobs_app", name="jobs", help="The runs of jobs with bookmarks.")
app.command(
    "gluepot.cli.produce:produce_to",
    name="produce",
    help="Send records to a topic or stream, at a rate that has a shape, until Ctrl-C, --seconds or --count.",
)
app.command("gluepot.cli.topic:app", name="topic", help="Topics of Kafka: create, list, describe, consume.")
app.command("gluepot.cli.init:init", name="init", help="Write a project that runs: script, gluepot.toml, data, test.")
app.command("gluepot.cli.config:app", name="config", help="The project file gluepot.toml: show, schema.")
app.command("gluepot.cli.doctor.command:doctor", name="doctor", help="Check what jobs need here, and say what to do.")
app.command("gluepot.cli.version:version_", name="version", help="Say which parts are there, in which versions.")
app.command("gluepot.cli.cost:cost", name="cost", help="Compare the cost of runs on AWS Glue with your own machine's.")
app.command("gluepot.cli.bench:bench_script", name="bench", help=BENCH_HELP)


@app.command
def run(
    script: Path,
    *arguments: str,
    options: Annotated[RunOptions, Parameter(name="*")] = DEFAULT_OPTIONS,
    verbose: Annotated[bool, Parameter(alias="-v")] = False,
) -> None:
    """Run a job script as AWS Glue does.

    What neither a flag nor an environment variable says is taken from gluepot.toml, if this folder has one, or from the
    file that GLUEPOT_PROJECT names; `gluepot config show` tells the result. The arguments in the file are for the
    script that it names, and for no other.

    Args:
        script: the script, unchanged; not needed if gluepot.toml names it.
        arguments: the script's arguments, after `--`: Glue's job parameters and its own.
        options: options of the run.
        verbose: print stack traces.
    """
    from gluepot.job.run import run as run_script  # noqa: PLC0415  the other commands need neither metrics nor Spark

    live = sys.stderr.isatty() and not verbose
    run_script(script, arguments, options, live=live, set_by_file=project_config.set_by_file())


@app.command
def demo(
    *,
    seconds: int = 60,
    rate: int | None = None,
    source: Literal["kafka", "kinesis"] = "kafka",
    output: Literal["text", "json"] = "text",
) -> None:
    """Show the product: a broker, made-up click events, an unchanged Glue script, and a check of every record.

    Args:
        seconds: how long events are produced.
        rate: events a second; 2000 for kafka and 250 for kinesis, whose emulator is slow, unless given.
        source: where the events go; kinesis needs Node.js for its emulator.
        output: text for people; json for one object.
    """
    from gluepot.demo import run_demo, show  # noqa: PLC0415

    result = run_demo(seconds, rate, live=output == "text" and sys.stderr.isatty(), source=source)
    show(result, output)
    if result.lost or result.duplicated:
        raise SystemExit(FAILED)


@app.command
def advise(
    log: Path,
    *,
    sla_secs: float | None = None,
    max_workers: int = 1000,
    slots_per_worker: int = 1,
    batch_limit: int | None = None,
    repartitions: bool = False,
    worker_type: str = "G.1X",
    usd_per_worker_hour: Price = None,
    replay: bool = False,
    output: Literal["text", "json"] = "text",
) -> None:
    """Read an advice log: how many workers each query needs and why, what else would help, and the cost on Glue.

    Args:
        log: file that `gluepot run --advice-log` wrote.
        sla_secs: age that no record should reach.
        max_workers: never advise more than this.
        slots_per_worker: tasks that one worker runs at a time.
        batch_limit: the current maxOffsetsPerTrigger.
        repartitions: the batch function spreads its rows over more tasks than the topic has partitions.
        worker_type: Glue worker type, to compare the cost with.
        usd_per_worker_hour: price of a worker here.
        replay: show where the number of workers would have changed, batch by batch.
        output: text for people; json for programs.
    """
    from pydantic import ValidationError  # noqa: PLC0415  the other commands start without it

    from gluepot.cli.advise import advise_from  # noqa: PLC0415  as above
    from gluepot.streaming.advisor import AdvisorSettings  # noqa: PLC0415  as above

    try:
        settings = AdvisorSettings(
            sla_secs=sla_secs,
            max_workers=max_workers,
            slots_per_worker=slots_per_worker,
            batch_limit_rows=batch_limit,
            repartitions=repartitions,
        )
    except ValidationError as wrong:
        first = wrong.errors()[0]
        option = "--" + "-".join(map(str, first["loc"])).replace("_", "-").removesuffix("-rows")
        raise ConfigError(f"{option} is {first['input']!r}: {first['msg']}.") from wrong
    advise_from(
        log,
        settings,
        glue_type=worker_type,
        usd_per_worker_hour=usd_per_worker_hour,
        replay=replay,
        output=output,
    )


@app.command
def check(*paths: Path, output: Literal["text", "json", "html"] = "text") -> None:
    """Read scripts without running them, and say whether each call into Glue works and what often goes wrong.

    The exit code is 3 if a call is not supported.

    Args:
        paths: job scripts, folders of them, and files that `aws glue get-jobs` printed. The scripts of such jobs are
            looked for by their names, in the folders that are given and in that of the file.
        output: text for people, one line for each finding; json for one list of reports; html for one page.
    """
    from gluepot.check import Level, check_paths  # noqa: PLC0415  the other commands do not need all of Glue's names
    from gluepot.check.page import as_html, summary  # noqa: PLC0415  as above

    if not paths:
        raise ConfigError("There is nothing to check; give job scripts, folders of them, or a dump of get-jobs.")
    reports = check_paths(paths)
    match output:
        case "json":
            print(json.dumps([report.to_json() for report in reports], indent=2))
        case "html":
            print(as_html(reports))
        case "text":
            print("\n".join(line for report in reports for line in report.lines()))
            if len(reports) > 1:
                print(summary(reports))
    if any(report.at(Level.NOT_SUPPORTED) for report in reports):
        raise SystemExit(FINDINGS)


@app.command
def prepare(*, again: bool = False) -> None:
    """Make jobs start faster: store the classes that Spark loads in an archive beside the installed packages.

    The broker of `gluepot up kafka` gets an archive as well if it has been fetched already.
    Run this once after an installation, and again after an update of Java. It takes some 20 seconds and 200 MB.

    Args:
        again: replace existing archives.
    """
    from gluepot.cli.prepare import prepare as make_archives  # noqa: PLC0415

    for one in make_archives(replace=again):
        if one.archive is None:
            print(f"This Java cannot make an archive of classes; {one.program} starts as before.")
        else:
            print(f"{one.archive} for {one.program} {'was made' if one.made else 'exists already'}.")


def main(tokens: list[str] | None = None) -> None:
    """Run the command line and end the process."""
    verbose = any(token in {"-v", "--verbose"} for token in _own(sys.argv[1:] if tokens is None else tokens))
    logging.configure(verbose=verbose)
    sys.exit(_outcome(tokens, verbose=verbose))


def _own(tokens: list[str]) -> list[str]:
    """Return the tokens before `--`; those after it belong to the script."""
    return tokens[: tokens.index("--")] if "--" in tokens else tokens


def _outcome(tokens: list[str] | None, *, verbose: bool) -> int:
    return outcome(app, tokens, verbose=verbose)


def outcome(command: App, tokens: list[str] | None = None, *, verbose: bool = False) -> int:
    """Run a command, print an error as one sentence, and return the exit code."""
    try:
        command(tokens, exit_on_error=False, print_error=False, result_action="return_value")
    except UnknownOptionError as wrong:
        takes_arguments = _name(wrong) in {"gluepot run", "gluepot bench"}
        hint = "Put the script's own arguments after `--`." if takes_arguments else f"See `{_name(wrong)} --help`."
        _say(f"{wrong} {hint}")
        return USAGE
    except CycloptsError as wrong:
        _say(f"{_reason(wrong)} See `{_name(wrong)} --help`.")
        return USAGE
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else DONE if ended.code is None else _say(str(ended.code))
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001  the last place that can turn an error into a sentence
        if isinstance(error, BrokenPipeError) and _nobody_reads():
            # Whoever read our output, such as `head`, has seen enough. Python must not write the rest when it ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), _STDOUT)
            return CLOSED_PIPE
        from gluepot.cli.failures import exit_code, told  # noqa: PLC0415  only a failure needs them

        lines, sentence = told(error)
        if verbose:
            traceback.print_exc()
        else:
            sys.stderr.writelines(f"{line}\n" for line in lines)
        _say(sentence)
        code = exit_code(error)
        if code == FAILED and not verbose:
            print("Run again with -v for the stack trace.", file=sys.stderr)
        return code
    return DONE


def _nobody_reads() -> bool:
    """Tell whether standard output is a pipe whose other end is closed; other connections break in the same way."""
    asked = select.poll()
    asked.register(_STDOUT, 0)
    return any(event & select.POLLERR for _, event in asked.poll(0))


def _reason(wrong: CycloptsError) -> str:
    match wrong:
        case MissingArgumentError(argument=argument) if argument is not None:
            name = argument.name.removeprefix("--").upper() if argument.field_info.is_positional else argument.name
            return f"`{_name(wrong)}` needs {name}."
        case UnusedCliTokensError(unused_tokens=[*words]):
            return f"`{_name(wrong)}` does not take {' '.join(map(repr, words))}."
        case _:
            return str(wrong)


def _name(wrong: CycloptsError) -> str:
    return " ".join(("gluepot", *(wrong.command_chain or ())))


def _say(sentence: str) -> int:
    print(f"error: {sentence}", file=sys.stderr)
    return FAILED

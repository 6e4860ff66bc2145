"""`gluepot config`: what a run would be told, and by whom."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import fields
from itertools import groupby
from typing import Annotated, Any

from cyclopts import UNSET, App, MissingArgumentError, Parameter, Token

from gluepot.cli.output import Output, Row, show
from gluepot.cli.project import ProjectConfig, current_project
from gluepot.core.masking import MASK, is_secret
from gluepot.job.options import DEFAULT_OPTIONS, RunOptions
from gluepot.ops.configuration import arguments_by_name

REFERENCES = ("env:", "file:")
"""How a value begins that says where a secret is, and is none."""

app = App(name="config", help="The project file gluepot.toml: show, schema.")


@app.command(name="show", end_of_options_delimiter="")  # the command line of `run` has a delimiter of its own
def show_(
    *options: Annotated[str, Parameter(allow_leading_hyphen=True)], default: bool = False, output: Output = "text"
) -> None:
    """Show each value of `gluepot run` and of `gluepot up` with its origin: a flag, a variable, or gluepot.toml.

    Flags win over environment variables, and these over the file.

    Args:
        options: flags and arguments as for `gluepot run`, to see what comes of them.
        default: show the values that nobody sets, too.
        output: text for people; json for a list of objects.
    """
    from gluepot.cli.main import app as gluepot  # noqa: PLC0415  it imports this module by its name
    from gluepot.cli.main import project_config  # noqa: PLC0415  as above

    with suppress(MissingArgumentError):  # nobody names a script
        gluepot.parse_args(["run", *options], exit_on_error=False, print_error=False)
    show(
        list(_rows(project_config, default=default)),
        output,
        "Nothing is set: there is no gluepot.toml here. `gluepot init` writes one.",
    )


@app.command
def schema() -> None:
    """Print the JSON schema of gluepot.toml."""
    from gluepot.job.project import schema as schema_of  # noqa: PLC0415  the other command may need no project

    print(json.dumps(schema_of(), indent=2))


def _rows(config: ProjectConfig, *, default: bool) -> Iterator[Row]:
    from gluepot.job.project import PAIRS  # noqa: PLC0415  as above

    standard = {one.name: getattr(DEFAULT_OPTIONS, one.name) for one in fields(RunOptions)}
    for argument in config.arguments:
        name = argument.field_info.name
        if name == "arguments":
            yield from _arguments(argument.tokens)
        elif name in PAIRS:
            for token in argument.tokens:
                key, _, value = token.value.partition("=")
                yield _row(f"{PAIRS[name]}.{key}", value, _origin(token))
        elif name in {"script", *standard} and argument.tokens:
            first = argument.tokens[0]
            # A flag without a value, such as --aws, or --no-aws.
            implied = first.implicit_value is not UNSET
            value = first.implicit_value if implied else ", ".join(token.value for token in argument.tokens)
            yield _row(argument.name.removeprefix("--"), value, _origin(first))
        elif default and name in standard:
            yield _row(argument.name.removeprefix("--"), standard[name], "default")
    project = current_project()
    if project is not None:
        for server, table in project.project.servers.model_dump(exclude_unset=True, exclude_none=True).items():
            for key, value in table.items():
                values = [f"{name}={number}" for name, number in value.items()] if isinstance(value, dict) else value
                yield _row(f"servers.{server}.{key}", values, str(project.path))


def _arguments(tokens: Sequence[Token]) -> Iterator[Row]:
    """Yield the arguments of the script; each origin has its tokens together."""
    for origin, of_origin in groupby(tokens, _origin):
        for name, value in arguments_by_name([token.value for token in of_origin]).items():
            yield _row(f"arguments.{name}", value, origin)


def _row(key: str, value: Any, origin: str) -> Row:
    hidden = is_secret(key.rpartition(".")[2]) and not str(value).startswith(REFERENCES)
    return {"key": key, "value": MASK if hidden and value is not None else value, "origin": origin}


def _origin(token: Token) -> str:
    match token.source:
        case "cli":
            return "command line"
        case "env":
            return str(token.keyword)
        case file:
            return file

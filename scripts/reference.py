"""The pages of docs/reference, which are made of the code: commands, environment variables, errors."""

from __future__ import annotations

import ast
import re
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from cyclopts.docs.markdown import generate_markdown_docs

from gluepot.cli import exit_codes
from gluepot.cli.main import app
from gluepot.core import environment_variables as environment
from gluepot.core.environment_variables import Variable

REPOSITORY = Path(__file__).parent.parent
FOLDER = REPOSITORY / "docs" / "reference"
PACKAGES = ("awsglue", "awsgluedq", "awsglueml", "gluepot")
COLUMNS = 100

KINDS = {
    "ConfigError": (exit_codes.USAGE, "Correct the option, the path or the name that the message names."),
    "NotSupported": (exit_codes.USAGE, "Glue has this call and Gluepot does not; do what the message says instead."),
    "CheckpointError": (
        exit_codes.FAILED,
        "The checkpoint or the table is not what the job expects; do what the message says. Nothing was changed.",
    ),
    "DataLoss": (
        exit_codes.FAILED,
        "Records are gone that were never read. Decide whether the job may go on without them (`failOnDataLoss`).",
    ),
    "PermanentError": (exit_codes.FAILED, "No retry mends this; the job ends at once. Mend the cause and start again."),
    "TransientError": (exit_codes.FAILED, "Gluepot has tried again and given up. Mend the cause, or start again."),
    "LeaseHeld": (exit_codes.OTHER_DRIVER, "Another driver runs. End one of the two."),
}
"""For each class of errors its exit code and what to do. `gluepot/core/errors.py` says how they belong together."""

_OTHERS = {
    "SuspiciousData": "PermanentError",
    "NotInCatalog": "ConfigError",
    "DifferentEnds": "ConfigError",
    "DqdlError": "ConfigError",
    "NoSuchStream": "ConfigError",
    "Refused": "PermanentError",
    "OtherStream": "ConfigError",
}
"""Subclasses, and the class below which they are listed."""

_MADE = "<!-- Made from the code by `python -m scripts.documents`; do not edit. -->\n"
_ENV = re.compile(r"\*\[env: (?P<name>\w+)\]\*")
_NAME = re.compile(r"(?:GLUEPOT|AWS)_[A-Z0-9_]+")
_NO_VARIABLES = frozenset({"AWS_MSK_IAM", "AWS_ACCOUNT_ID", "AWS_ENDPOINT_URL_"})
"""A mechanism, a setting of an emulator, and a prefix."""
_SELDOM = " A flag `--x` has a counterpart `--no-x`, and a list `--empty-x`, which these lists leave out."


@cache
def pages() -> Mapping[Path, str]:
    """Return the text of each page by its file."""
    return {
        FOLDER / "commands.md": commands(),
        FOLDER / "environment.md": variables(),
        FOLDER / "errors.md": errors(),
    }


def commands() -> str:
    """Return the page of all commands with their options."""
    text = _of_app()
    text = re.sub(r"^# gluepot\n.*?(?=^\* )", "", text, count=1, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r", --(?:no|empty)-[a-z-]+`", "`", text)
    text = re.sub(r" \*\[default: (?:False|\(\))\]\*", "", text)
    text = text.replace("[*]", r"[\*]")  # a star of Spark's master, not of Markdown
    # GitHub and the site call headings with dashes by different names, so that no link leads to both.
    text = re.sub(r"\[(`--[a-z-]+`)\]\(#[a-z-]+\)", r"\1", text)
    head = f"""{_MADE}
# Commands

`gluepot COMMAND --help` says the same in a terminal. What each exit code means is in
[errors.md](errors.md), and what else the environment can say in [environment.md](environment.md).

{textwrap.fill(_SELDOM.strip(), COLUMNS, break_on_hyphens=False)}

"""
    return head + _wrapped(text.replace("* `", "- `").replace("* [`", "- [`")).rstrip() + "\n"


def variables() -> str:
    """Return the page of the environment variables."""
    parts = [
        ("Places", "Where Gluepot keeps and finds things.", environment.PLACES),
        ("Options of commands", "An option on the command line wins over its variable.", tuple(of_options())),
        ("Behaviour", "", environment.BEHAVIOUR),
        ("AWS", "Gluepot reads these as AWS's own clients do.", environment.OF_AWS),
        ("Java, Spark, OpenLineage", "", environment.OF_OTHERS),
        ("Clients of the service", "`gluepot serve env` prints these for your shell.", environment.OF_SERVICES),
        ("What Gluepot sets", "For scripts, workers and other programs.", environment.FOR_SCRIPTS),
        ("Tests", "Nothing but tests sets these.", environment.FOR_TESTS),
    ]
    head = f"{_MADE}\n# Environment variables\n"
    return head + "".join(
        f"\n## {title}\n\n" + (f"{said}\n\n" if said else "") + "".join(_item(one) for one in listed)
        for title, said, listed in parts
    )


def of_options() -> Iterator[Variable]:
    """Return the variables that stand for options, with the options."""
    options: dict[str, list[str]] = defaultdict(list)
    meanings: dict[str, str] = {}
    command = ""
    for line in _of_app().splitlines():
        if heading := re.match(r"#+ (gluepot .*)", line):
            command = heading[1]
        elif (variable := _ENV.search(line)) and (option := re.match(r"\* `(?:[A-Z_]+, )?(--[a-z-]+)", line)):
            options[variable["name"]].append(f"`{command} {option[1]}`")
            said = line.partition("`: ")[2]
            if command == "gluepot run" or variable["name"] not in meanings:
                meanings[variable["name"]] = re.sub(r" \*\[.*", "", said).rstrip(".")
    for name, of in sorted(options.items()):
        yield Variable(name, f"{', '.join(of)}: {meanings[name]}.")


def known_variables() -> set[str]:
    """Return the names of all variables that the page lists."""
    groups = (getattr(environment, name) for name in dir(environment) if name.isupper())
    return {one.name for group in groups for one in group} | {one.name for one in of_options()}


def variables_in_code() -> set[str]:
    """Return the names of GLUEPOT_* and AWS_* that are texts of their own in the code."""
    return {
        node.value
        for tree in _trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _NAME.fullmatch(node.value)
    } - _NO_VARIABLES


def errors() -> str:
    """Return the page of exit codes and of all messages of errors, by kind."""
    codes = "".join(_bullet(f"**{code}**: {said}") for code, said in sorted(exit_codes.MEANINGS.items()))
    by_kind: dict[str, set[str]] = defaultdict(set)
    for kind, message in messages():
        by_kind[kind].add(message)
    sections = "".join(
        f"\n### {kind}\n\n{textwrap.fill(f'Exit code {code}. {remedy}', COLUMNS, break_on_hyphens=False)}\n\n"
        + "".join(_bullet(_as_text(message)) for message in sorted(by_kind[kind], key=str.lower))
        for kind, (code, remedy) in KINDS.items()
    )
    return f"""{_MADE}
# Errors and exit codes

An error is one or two sentences on standard error: what happened, the value, the next step. Lines
of your own script that led to it stand before it; `-v` shows the whole stack trace.
[Mistakes](../mistakes.md) shows whole examples.

## Exit codes

{codes}
## Messages

Search here for a part of a message. `…` stands for a value. The headings are the classes in
`gluepot.errors`, which programs can tell apart.
{sections}"""


def messages() -> Iterator[tuple[str, str]]:
    """Return the class and the message of every error that the code raises with a text of its own."""
    for tree in _trees().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                name = ast.unparse(node.exc.func).rpartition(".")[2]
                kind = _OTHERS.get(name, name)
                message = _text(node.exc.args[0])
                if kind in KINDS and message is not None and re.search(r"\w{3}", message):
                    yield kind, " ".join(message.split())


@cache
def _trees() -> Mapping[Path, ast.Module]:
    return {
        path: ast.parse(path.read_text(encoding="utf-8"))
        for package in (*PACKAGES, "connectors", "streaming")
        for path in sorted((REPOSITORY / package).rglob("*.py"))
        if path != REPOSITORY / "gluepot" / "core" / "environment_variables.py"
    }


def _text(node: ast.expr) -> str | None:
    match node:
        case ast.Constant(value=str(value)):
            return value
        case ast.JoinedStr(values=values):
            return re.sub("…+", "…", "".join(_text(one) or "…" for one in values))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return f"{_text(left) or '…'}{_text(right) or '…'}"
        case _:
            return None


def _as_text(message: str) -> str:
    """Return a message as Markdown that shows it as it is: characters with a meaning in code, or escaped."""
    return re.sub(r"([*_<>\[\]])", r"\\\1", message) if "`" not in message else message.replace("<", "&lt;")


def _item(one: Variable) -> str:
    return _bullet(f"**`{one.name}`**: {one.meaning}")


def _bullet(text: str) -> str:
    return _filled(f"- {text}", "  ") + "\n"


@cache
def _of_app() -> str:
    """Return what the command line says of itself, with each item of a list and each paragraph in one line."""
    text = generate_markdown_docs(app, generate_toc=False)
    text = re.sub(r"^(gluepot(?: [a-z-]+)*?) -m \S+", r"\1", text, flags=re.MULTILINE)  # how this process was started
    parts = re.split(r"(^```.*?^```$)", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(
        part if at % 2 else re.sub(r"(?<=\S)\n(?: {4})?(?=[^\s#*`\n])", " ", part) for at, part in enumerate(parts)
    )


def _wrapped(text: str) -> str:
    """Return Markdown in which items and paragraphs outside of code have at most `COLUMNS` characters a line."""
    code = False
    lines: list[str] = []
    for line in text.splitlines():
        code ^= line.startswith("```")
        is_item = line.lstrip().startswith("- ")
        indent = " " * (len(line) - len(line.lstrip()) + 2) if is_item else ""
        lines.append(line if code or len(line) <= COLUMNS else _filled(line, indent))
    return "\n".join(lines)


def _filled(text: str, indent: str) -> str:
    return textwrap.fill(
        text, COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False, drop_whitespace=True
    )

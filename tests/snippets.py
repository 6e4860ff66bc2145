"""Runs the snippets of a document: its marked blocks, one after the other, in one shell and one folder.

A comment before a block says what happens to it:

<!-- run -->            each line after `$ ` is a command; the lines below it are in its output, in this order,
                        where `…` stands for anything. `<!-- run, fails -->` expects an exit code other than 0.
<!-- file: NAME -->     the block is written to a file.
<!-- not run: WHY -->   the block is shown only.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(
    r"(?:<!-- (?P<mark>[^>]*?) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)
_OF_SERVERS = ("gluepot up ", "gluepot down")


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code of a document.

    Args:
        mark: the comment before it; empty if there is none.
        language: the word after its backticks.
        text: its lines.
    """

    mark: str
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a block.

    Args:
        line: the command line.
        shown: the lines below it, which its output must contain in this order.
        fails: whether it must end with another exit code than 0.
    """

    line: str
    shown: tuple[str, ...]
    fails: bool


def blocks(text: str) -> Iterator[Block]:
    """Return the blocks of code of a document."""
    for one in _BLOCK.finditer(text):
        yield Block(one["mark"] or "", one["language"], one["text"])


def commands(block: Block, *, with_servers: bool = False) -> Iterator[Command]:
    """Return the commands of a block that is run; a backslash at the end of a line continues it.

    Args:
        block: the block.
        with_servers: also those that start and stop servers, for which tests have fixtures.
    """
    text = block.text.replace("\\\n", " ")
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, *shown = part.splitlines()
        if with_servers or not line.startswith(_OF_SERVERS):
            yield Command(" ".join(line.split(" ")), tuple(filter(None, shown)), fails="fails" in block.mark)


def missing(shown: tuple[str, ...], output: str) -> list[str]:
    """Return the shown lines that are not in an output, in their order; runs of spaces count as one."""
    left = [" ".join(line.split()) for line in output.splitlines()]
    lacking = []
    for line in shown:
        pattern = re.compile(re.escape(" ".join(line.split())).replace("…", ".*"))
        at = next((at for at, one in enumerate(left) if pattern.search(one)), None)
        if at is None:
            lacking.append(line)
        else:
            left = left[at + 1 :]
    return lacking


@dataclass(frozen=True, slots=True)
class Done:
    """A command that was run.

    Args:
        command: the command.
        said: its output.
        code: its exit code; None if it has not ended.
        secs: from the start of the first command to the end of this one.
    """

    command: Command
    said: str
    code: int | None
    secs: float

    def wrong(self) -> str:
        """Return what is not as the document says; empty if all is."""
        if self.code is None:
            return f"{self.command.line}: it has not ended\n{self.said[-2000:]}"
        if (self.code != 0) is not self.command.fails:
            return f"{self.command.line}: exit code {self.code}\n{self.said[-2000:]}"
        lacking = missing(self.command.shown, self.said)
        return f"{self.command.line}: it does not say {lacking}, but\n{self.said[-2000:]}" if lacking else ""


def done(
    text: str, folder: Path, environ: Mapping[str, str], secs: float, *, with_servers: bool = False
) -> Iterator[Done]:
    """Run the marked blocks of a document and yield their commands, up to the first one that does not end.

    Args:
        text: the document.
        folder: the current folder of the commands.
        environ: their environment.
        secs: how long all of them may take.
        with_servers: as in `commands`.
    """
    wanted: list[Command] = []
    script = ["set -m", 'echo "@! $EPOCHREALTIME"']
    for block in blocks(text):
        if block.mark.startswith("file: "):
            name = block.mark.removeprefix("file: ")
            script.append(f"mkdir -p $(dirname {name}); cat > {name} <<'END-OF-FILE'\n{block.text}END-OF-FILE")
        elif block.mark.startswith("run"):
            for command in commands(block, with_servers=with_servers):
                ended = 'code=$?; echo; echo "@= $code $EPOCHREALTIME"'
                script.append(f"echo; echo '@@ {len(wanted)}'\n{command.line}\n{ended}")
                wanted.append(command)
    (folder / ".snippets.sh").write_text("\n".join([*script, "kill -9 $(jobs -p) 2> /dev/null; true"]))
    ran = subprocess.run(
        ["bash", ".snippets.sh"],
        cwd=folder,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=secs,
        check=False,
    )
    output = ran.stdout.decode(errors="replace")
    began = float(output.split(maxsplit=2)[1])
    for at, command in enumerate(wanted):
        found = re.search(
            rf"^@@ {at}\n(?P<said>.*?)^@= (?P<code>\d+) (?P<at>[\d.]+)$", output, re.DOTALL | re.MULTILINE
        )
        if found is None:
            yield Done(command, output, None, secs)
            return
        yield Done(command, found["said"], int(found["code"]), float(found["at"]) - began)


def run(text: str, folder: Path, environ: Mapping[str, str], secs: float) -> list[str]:
    """Run the marked blocks of a document and return what is not as it says; empty if all is.

    Args:
        text: the document.
        folder: the current folder of the commands.
        environ: their environment.
        secs: how long all of them may take.
    """
    return [wrong for one in done(text, folder, environ, secs) if (wrong := one.wrong())]

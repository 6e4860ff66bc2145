"""Clients of AWS Glue in the environment that `make setup` makes for them, apart from ours."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gluepot.service.server import Serving, client_environment
from tests.repository import REPOSITORY

SCRIPTS = Path(__file__).parent
BIN = REPOSITORY / ".tools" / "clients" / "bin"
SECS = 120


def shell_environment(serving: Serving, **more: str) -> dict[str, str]:
    """Return the environment of a shell after `eval "$(gluepot serve env)"`."""
    return {**os.environ, **client_environment(serving.url, serving.region, serving.key), **more}


def run_script(name: str, *arguments: str, environ: Mapping[str, str]) -> list[Any]:
    """Run a script of this folder with the clients; return the values that it printed, a line of JSON each."""
    command = [BIN / "python", SCRIPTS / name, *arguments]
    ended = subprocess.run(command, check=False, env=environ, capture_output=True, text=True, timeout=SECS)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return [json.loads(line) for line in ended.stdout.splitlines()]


def commands_of(shell: str) -> list[list[str]]:
    """Return the arguments of the `aws` commands in a text that a shell could run."""
    lexer = shlex.shlex(shell.replace("\\\n", " "), posix=True)
    lexer.whitespace_split = True
    found: list[list[str]] = []
    for word in lexer:
        if word == "aws":
            found.append([])
        else:
            found[-1].append(word)
    return found


@dataclass(frozen=True)
class AwsCommandLine:
    """The AWS command line, in a process that runs one command after the other."""

    process: subprocess.Popen[str]

    def __call__(self, shell: str) -> str:
        """Run one command, written as for a shell; return what it prints."""
        (arguments,) = commands_of(shell)
        return self.run(arguments)

    def run(self, arguments: list[str]) -> str:
        """Run one command, given as its arguments; return what it prints."""
        code, out, err = self._run(arguments)
        assert code == 0, f"{arguments}: {err}"
        return out.strip()

    def json(self, shell: str) -> Any:
        """Run one command; return what it prints as JSON."""
        return json.loads(self(shell))

    def refused(self, shell: str) -> str:
        """Run one command that must fail; return its message."""
        (arguments,) = commands_of(shell)
        code, out, err = self._run(arguments)
        assert code, f"{arguments}: {out}"
        return err.strip()

    def _run(self, arguments: list[str]) -> tuple[int, str, str]:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(arguments) + "\n")
        self.process.stdin.flush()
        found = json.loads(self.process.stdout.readline())
        return found["code"], found["out"], found["err"]


@contextmanager
def aws_command_line(environ: Mapping[str, str]) -> Iterator[AwsCommandLine]:
    """Yield the AWS command line in an environment."""
    with subprocess.Popen(
        [BIN / "python", SCRIPTS / "aws_commands.py"],
        env={**environ, "AWS_DEFAULT_OUTPUT": "json"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield AwsCommandLine(process)
        assert process.stdin
        process.stdin.close()
        assert process.wait(SECS) == 0

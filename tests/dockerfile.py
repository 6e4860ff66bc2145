"""Reads as much of Dockerfiles as ours uses: no heredocs, no ONBUILD, no escape directive."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from docker.utils.build import exclude_paths

REPOSITORY = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Instruction:
    """One instruction, continuation lines joined; `flags` are those before its arguments, without the dashes."""

    keyword: str
    flags: Mapping[str, str]
    text: str

    @property
    def words(self) -> list[str]:
        """The arguments: of the exec form (a JSON list), else split as a shell does."""
        return json.loads(self.text) if self.is_exec_form else shlex.split(self.text)

    @property
    def is_exec_form(self) -> bool:
        return self.text.startswith("[")

    @property
    def pairs(self) -> dict[str, str]:
        """The arguments of ENV and LABEL."""
        return dict(word.split("=", 1) for word in self.words)

    @property
    def command(self) -> Instruction:
        """The CMD within a HEALTHCHECK."""
        return parse_instruction(self.text)


@dataclass(frozen=True)
class Stage:
    base: str
    name: str
    instructions: Sequence[Instruction]

    def all(self, keyword: str) -> list[Instruction]:
        return [instruction for instruction in self.instructions if instruction.keyword == keyword]

    def last(self, keyword: str) -> Instruction:
        return self.all(keyword)[-1]


def parse_instruction(line: str) -> Instruction:
    keyword, _, rest = line.partition(" ")
    flags = {}
    rest = rest.strip()
    while flag := re.match(r"--([a-z-]+)=(\S+)\s+", rest):
        flags[flag[1]] = flag[2]
        rest = rest[flag.end() :]
    return Instruction(keyword, flags, rest)


def parse_dockerfile(text: str) -> list[Stage]:
    """Return the stages in order; every one has a name."""
    code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    lines = [line.strip() for line in re.sub(r"\\\n\s*", "", code).splitlines() if line.strip()]
    stages: list[Stage] = []
    for instruction in map(parse_instruction, lines):
        if instruction.keyword == "FROM":
            base, _, name = instruction.words
            stages.append(Stage(base, name, []))
        else:
            stages[-1] = Stage(stages[-1].base, stages[-1].name, [*stages[-1].instructions, instruction])
    return stages


def build_context(repository: Path = REPOSITORY) -> list[Path]:
    """Return the files and links that .dockerignore lets into a build, relative to the repository, as Docker's own client reads it."""
    patterns = (repository / ".dockerignore").read_text().splitlines()
    rules = [line.strip() for line in patterns if line.strip() and not line.startswith("#")]
    # The client sends these two whether they are ignored or not, for the builder's own use.
    sent = exclude_paths(str(repository), rules) - {"Dockerfile", ".dockerignore"}
    return sorted(Path(name) for name in sent if (repository / name).is_symlink() or (repository / name).is_file())

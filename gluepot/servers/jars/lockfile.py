"""The lock file: which archives make up each set, down to their bytes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from gluepot.core.errors import ConfigError, did_you_mean

RELOCK = "python -m gluepot.servers.jars lock"


@dataclass(frozen=True, order=True, slots=True)
class Module:
    """A Maven module at one version, written `group:name:version`, or `group:name:version:classifier`."""

    group: str
    name: str
    version: str
    classifier: str = ""

    @classmethod
    def parse(cls, text: str) -> Module:
        """Read what `str` writes.

        Raises:
            ConfigError: the text has another shape.
        """
        parts = text.split(":")
        if len(parts) not in {3, 4} or not all(parts):
            raise ConfigError(
                f"'{text}' in the jar lock is not group:name:version or group:name:version:classifier; correct it and"
                f" run `{RELOCK}`."
            )
        return cls(*parts)

    def __str__(self) -> str:
        return ":".join(filter(None, (self.group, self.name, self.version, self.classifier)))

    @property
    def path(self) -> Path:
        """Where its archive lies under a folder of archives."""
        name = "-".join(filter(None, (self.name, self.version, self.classifier)))
        return Path(self.group, self.name, self.version, f"{name}.jar")


@dataclass(frozen=True, order=True, slots=True)
class LockedJar:
    """One archive; `sha256` in lower-case hexadecimal."""

    module: Module
    sha256: str


@dataclass(frozen=True, slots=True)
class JarSet:
    """Archives that go on one class path.

    Args:
        roots: what was asked for; written by hand, as `transitive` and `without`.
        transitive: whether the roots' own dependencies belong to the set.
        jars: what that comes to, sorted.
        without: groups of dependencies that are left out, since nothing here loads a class of them.
    """

    roots: tuple[Module, ...]
    transitive: bool
    jars: tuple[LockedJar, ...]
    without: tuple[str, ...] = ()


def parse_lock(text: str) -> dict[str, JarSet]:
    """Read a lock file.

    Raises:
        ConfigError: it is not a lock file.
    """
    try:
        return {
            name: JarSet(
                roots=tuple(Module.parse(root) for root in plain["roots"]),
                transitive=plain["transitive"],
                jars=tuple(LockedJar(Module.parse(module), sha) for module, sha in plain["jars"].items()),
                without=tuple(plain.get("without", ())),
            )
            for name, plain in json.loads(text).items()
        }
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ConfigError(f"The jar lock cannot be read ({error!r}); restore deploy/jars.lock.json.") from error


def dump_lock(sets: dict[str, JarSet]) -> str:
    """Write a lock file: equal sets give equal text."""
    plain = {
        name: {
            "roots": [str(root) for root in jars.roots],
            "transitive": jars.transitive,
            **({"without": list(jars.without)} if jars.without else {}),
            "jars": {str(jar.module): jar.sha256 for jar in sorted(jars.jars)},
        }
        for name, jars in sorted(sets.items())
    }
    return json.dumps(plain, indent=2) + "\n"


def find_set(sets: dict[str, JarSet], name: str) -> JarSet:
    """Return a set by name.

    Raises:
        ConfigError: there is none of that name.
    """
    if name not in sets:
        raise ConfigError(
            f"There is no jar set '{name}'; use one of {', '.join(sorted(sets))}.{did_you_mean(name, sets)}"
        )
    return sets[name]


def lock_path() -> Path:
    """Return the lock file: beside this package where it is installed, in deploy/ in a checkout."""
    installed = Path(str(resources.files("gluepot.servers"))) / "jars.lock.json"
    return installed if installed.exists() else Path(__file__).parents[3] / "deploy" / "jars.lock.json"

"""Finding the two files of a custom visual transform, on a disk or in S3, and bringing them to this machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gluepot.core.errors import ConfigError
from gluepot.core.storage import SourceStorage, open_source
from gluepot.core.storage.urls import LocalRoot, parse_url
from gluepot.job.custom_transforms.descriptor import Descriptor, parse_descriptor


@dataclass(frozen=True, slots=True)
class CustomTransform:
    """A transform on this machine.

    Args:
        module: the Python file.
        descriptor: what its JSON says.
    """

    module: Path
    descriptor: Descriptor


def fetched(url: str, folder: Path) -> tuple[Path, CustomTransform | None]:
    """Return a file of `--extra-py-files`, and the transform it is of where a descriptor lies beside it.

    Args:
        url: local or `s3://`.
        folder: takes what is in S3.

    Raises:
        ConfigError: there is no such file, or the descriptor is wrong.
    """
    parent, _, name = url.rpartition("/")
    source = open_source(parent or ".")
    path = _local(source, parent, name, folder)
    stem, _, suffix = name.rpartition(".")
    text = _text(source, f"{stem}.json") if suffix == "py" else None
    if text is None:
        return path, None
    return path, CustomTransform(path, parse_descriptor(f"{stem}.json", text))


def in_folder(url: str, folder: Path) -> list[CustomTransform]:
    """Return all transforms of a folder: one for each descriptor in it.

    Args:
        url: local or `s3://`.
        folder: takes what is in S3.

    Raises:
        ConfigError: there is no descriptor, one is wrong, or its Python file is not there.
    """
    source = open_source(url)
    names = [entry.name for entry in source.level("").files if entry.name.endswith(".json")]
    if not names:
        raise ConfigError(f"{source.url} has no transforms; each needs a JSON file and a Python file of the same name.")
    found = []
    for name in names:
        descriptor = parse_descriptor(name, _text(source, name) or b"")
        parent, _, module = (descriptor.path or f"{url.rstrip('/')}/{name.removesuffix('.json')}.py").rpartition("/")
        found.append(CustomTransform(_local(open_source(parent or "."), parent, module, folder), descriptor))
    return found


def _local(source: SourceStorage, parent: str, name: str, folder: Path) -> Path:
    """Return the file itself where it is on this machine, otherwise a copy."""
    root = parse_url(parent or ".")
    entry = source.entry(name)
    if entry is None:
        raise ConfigError(f"There is no file {name} in {source.url}; it is named by --extra-py-files or a descriptor.")
    if isinstance(root, LocalRoot):
        return root.path / name
    copy = folder / name
    with source.open(entry) as content:
        copy.write_bytes(content.read())
    return copy


def _text(source: SourceStorage, name: str) -> bytes | None:
    entry = source.entry(name)
    if entry is None:
        return None
    with source.open(entry) as content:
        return content.read()

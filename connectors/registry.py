"""Which sink writes which format. Each connector is imported when its format is first written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module

from connectors.ports import Sink

# format -> module, function(path, key, format_options, *, partition_keys, ctx, rejects_path)
_SINKS = {
    "glueparquet": ("connectors.glueparquet", "glueparquet_sink"),
    "parquet": ("connectors.glueparquet", "glueparquet_sink"),
    "json": ("connectors.textfiles", "json_sink"),
    "csv": ("connectors.textfiles", "csv_sink"),
}


class _Sinks(Mapping[str, Callable[..., Sink]]):
    def __getitem__(self, name: str) -> Callable[..., Sink]:
        module, function = _SINKS[name]
        made: Callable[..., Sink] = getattr(import_module(module), function)
        return made

    def __iter__(self) -> Iterator[str]:
        return iter(_SINKS)

    def __len__(self) -> int:
        return len(_SINKS)


SINKS: Mapping[str, Callable[..., Sink]] = _Sinks()

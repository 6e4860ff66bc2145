"""Makes the advice after each batch, writes it to a log, and passes it to those that follow it, if any."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import orjson

from gluepot.core.errors import ConfigError
from gluepot.streaming.advisor.advice import Advice
from gluepot.streaming.advisor.advise import RECENT_BATCHES, advise
from gluepot.streaming.advisor.history import Observation, observed
from gluepot.streaming.advisor.settings import AdvisorSettings
from gluepot.streaming.progress import BatchStats
from gluepot.streaming.side_tasks import Failed, name_of, side_task, warn


class AdviceLog:
    """Appends a JSON line per batch: query, observation, advice. Safe to call from the threads of several queries.

    Args:
        path: path of the file, which grows by about 1 kB a batch; None to write no file.
        workers: returns the current number of workers.
        settings: goals and bounds.
        ordered: returns the number of workers that exist or are requested; None if nothing requests workers.
        followers: functions that are called with query and advice after each batch; more may be added.
        failed: called with the error of a follower; the other followers still get the advice.
    """

    def __init__(
        self,
        path: Path | None,
        workers: Callable[[], int],
        settings: AdvisorSettings,
        *,
        ordered: Callable[[], int] | None = None,
        followers: Iterable[Callable[[str, Advice], object]] = (),
        failed: Failed = warn,
    ) -> None:
        self._path, self._workers, self._settings = path, workers, settings
        self._ordered = ordered or workers
        self.followers = list(followers)
        self._failed = failed
        self._histories: dict[str, deque[Observation]] = {}
        self._newest: dict[str, Advice] = {}
        self._turn = threading.Lock()

    def newest(self, query: str) -> Advice | None:
        """Return the last advice on a query; None before the first. Does not wait."""
        return self._newest.get(query)

    @side_task("advice_log")
    def update(self, stats: BatchStats) -> None:
        """Update the advice after a committed batch.

        Raises:
            OSError: the log cannot be written; the followers were called before.
        """
        with self._turn:
            history = self._histories.setdefault(stats.query, deque(maxlen=RECENT_BATCHES))
            history.append(observed(stats, self._workers(), self._ordered()))
            advice = self._newest[stats.query] = advise(list(history), self._settings)
            for follow in self.followers:
                try:
                    follow(stats.query, advice)
                except Exception as error:  # noqa: BLE001  whatever it is, others follow the same advice
                    self._failed(stats.query, name_of(follow), error)
            if self._path is not None:
                line = {"query": stats.query, "observation": history[-1].to_json(), "advice": advice.to_json()}
                with self._path.open("ab") as file:
                    file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))


def recorded(lines: Iterable[bytes]) -> Mapping[str, list[Observation]]:
    """Return the observations of an advice log by query, in the order in which they were written.

    An incomplete last line, which a killed job may leave, is ignored.

    Raises:
        ConfigError: another line is not one of an advice log.
    """
    found: dict[str, list[Observation]] = {}
    every = list(lines)
    for number, line in enumerate(every, 1):
        try:
            entry = orjson.loads(line)
            query, plain = entry["query"], entry["observation"]
        except (orjson.JSONDecodeError, KeyError, TypeError) as wrong:
            if number == len(every) and not line.endswith(b"\n"):
                break
            raise ConfigError(
                f"Line {number} is not one of an advice log ({wrong}); give a file that `gluepot run --advice-log`"
                " wrote."
            ) from wrong
        found.setdefault(query, []).append(Observation.from_json(plain))
    return found

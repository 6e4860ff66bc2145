"""Takes events that wait in a queue of SQS to where rules send them, in a thread of its own.

SQS delivers a message again until it is deleted, and sometimes after that. So its id is noted in the transaction in
which its events are taken, and a message whose id is noted is only deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from uuid import NAMESPACE_URL, uuid5

from gluepot.core.clock import Clock
from gluepot.core.errors import EtlError
from gluepot.core.logging import get_logger
from gluepot.crawl.queues import EventQueue, Message, open_queue
from gluepot.crawl.settings import read_queue_arn
from gluepot.service.controllers.publishing import new_event_id, take
from gluepot.service.controllers.workers import Repeating
from gluepot.service.events.envelopes import EventError, Origin, events_of_message
from gluepot.service.store.database import Store

# A queue is asked for as long as this, and the service ends no sooner.
_ASKED_SECS = 2
_IDLE_WAIT_SECS = 0.1
_FAULT_WAIT_SECS = 5.0

log = get_logger(__name__)


class QueuedEvents(Repeating):
    """Takes the events of one queue.

    Args:
        arn: of the queue.
        store: the service's database.
        origin: of notifications that do not say where they come from.
        clock: tells the time.
        told: each is called when there are new events.
        open_queue: opens a queue, given its ARN and for how many seconds it is asked.

    Raises:
        ConfigError: it is not the ARN of a queue.
    """

    def __init__(
        self,
        arn: str,
        store: Store,
        origin: Origin,
        clock: Clock,
        told: Sequence[Callable[[], None]] = (),
        open_queue: Callable[[str, int], EventQueue] = open_queue,
    ) -> None:
        super().__init__(clock, 0.0, _IDLE_WAIT_SECS)
        read_queue_arn(arn, "--event-queue")
        self._arn = arn
        self._store = store
        self._origin = origin
        self._told = told
        self._open_queue = open_queue
        self._queue: EventQueue | None = None

    def step(self) -> bool:
        """Take the events of some messages and delete these; return whether there may be more.

        A message that is no event stays, so that the queue's own rule for dead letters moves it.
        """
        self._idle_secs = _IDLE_WAIT_SECS
        try:
            self._queue = self._queue or self._open_queue(self._arn, _ASKED_SECS)
            messages = self._queue.receive(1)
        except EtlError as error:
            return self._give_up(error)
        if not messages:
            return False
        understood = self._take(messages)
        for one in self._told:
            one()
        try:
            self._queue.delete([one.receipt for one in understood])
        except EtlError as error:
            return self._give_up(error)
        return True

    def run(self) -> None:
        """Take steps until `end` is called, and close the queue then."""
        super().run()
        self._close()

    def _take(self, messages: Sequence[Message]) -> list[Message]:
        """Take the events of messages, unless that was done before; return the messages that are understood."""
        now_ms, understood, events = self._now_ms(), list[Message](), {}
        for one in messages:
            try:
                events[self._id(one)] = events_of_message(one.body, self._origin, new_event_id, now_ms)
            except EventError as error:
                self._warn(one, error)
            else:
                understood.append(one)
        with self._store.changes() as changes:
            changes.alone()
            told = changes.events.told(list(events))
            new = []
            for one in tuple(understood):
                if (name := self._id(one)) in told or name in new:
                    continue
                try:
                    take(changes, events[name], now_ms)
                except EventError as error:
                    self._warn(one, error)
                    understood.remove(one)
                else:
                    new.append(name)
            changes.events.note_told(new, now_ms)
        return understood

    def _warn(self, message: Message, error: EventError) -> None:
        log.warning("queued_event_not_understood", queue=self._arn, message=message.number, reason=str(error))

    def _id(self, message: Message) -> str:
        return str(uuid5(NAMESPACE_URL, f"{self._arn}/{message.number}"))

    def _give_up(self, error: EtlError) -> bool:
        """Have the next step open the queue anew, after a while."""
        log.warning("event_queue_not_read", queue=self._arn, reason=str(error))
        self._close()
        self._idle_secs = _FAULT_WAIT_SECS
        return False

    def _close(self) -> None:
        queue, self._queue = self._queue, None
        if queue is not None:
            with suppress(EtlError):
                queue.close()

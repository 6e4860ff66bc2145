"""Queues with the events of targets: SQS, or a server that speaks as it does.

Credentials and, as `AWS_ENDPOINT_URL_SQS` or `AWS_ENDPOINT_URL`, the server come from the environment, as AWS's own
tools take them. The region is that of the queue's ARN.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gluepot.core.errors import ConfigError, EtlError, TransientError
from gluepot.core.failpoints import reach
from gluepot.crawl.events import ChangedPlaces, changed_places, read_message
from gluepot.crawl.settings import Target, read_queue_arn

MOST_MESSAGES = 100_000
"""How many messages a round takes. SQS lets no more than 120,000 be received and not yet deleted."""

# SQS's own limit of a call.
_AT_ONCE = 10
# Calls are waited for more than they are computed.
_CALLS = 8
_OVER_LIMIT = "OverLimit"
_NO_QUEUE = ("QueueDoesNotExist", "NonExistentQueue")
_TRY_AGAIN = ("RequestThrottled", "ThrottlingException", "InternalFailure", "ServiceUnavailable")
_MOST_NOTES = 20


class Message(NamedTuple):
    """A message of a queue.

    Args:
        number: the id that it has in the queue.
        receipt: what deletes it; each time that it is received it has another one.
        body: its text.
    """

    number: str
    receipt: str
    body: str


class EventQueue:
    """A queue.

    Args:
        arn: of the queue.
        client: of SQS.
        url: of the queue.
        wait_secs: how long an empty queue is asked for messages. With 0, SQS asks only some of its servers.
    """

    def __init__(self, arn: str, client: Any, url: str, wait_secs: int) -> None:
        self.arn = arn
        self._client = client
        self._url = url
        self._wait_secs = wait_secs

    def receive(self, calls: int) -> list[Message]:
        """Return some waiting messages, ten a call at most. They come again if they are not deleted.

        Raises:
            EtlError: the queue cannot be read.
        """
        found = self._each(lambda _: self._receive(), range(calls))
        return [message for some in found for message in some]

    def delete(self, receipts: Sequence[str]) -> None:
        """Delete messages.

        Raises:
            EtlError: the queue does not let them be deleted.
        """
        self._each(self._delete, [receipts[at : at + _AT_ONCE] for at in range(0, len(receipts), _AT_ONCE)])

    def send(self, bodies: Sequence[str]) -> None:
        """Add messages.

        Raises:
            EtlError: the queue does not take them.
        """
        self._each(lambda body: self._client.send_message(QueueUrl=self._url, MessageBody=body), bodies)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _each(self, call: Callable[[Any], Any], arguments: Sequence[Any]) -> list[Any]:
        with explained(self.arn):
            if len(arguments) <= 1:
                return list(map(call, arguments))
            with ThreadPoolExecutor(_CALLS) as pool:
                return list(pool.map(call, arguments))

    def _receive(self) -> list[Message]:
        from botocore.exceptions import ClientError  # noqa: PLC0415  few crawls have queues

        try:
            answer = self._client.receive_message(
                QueueUrl=self._url, MaxNumberOfMessages=_AT_ONCE, WaitTimeSeconds=self._wait_secs
            )
        except ClientError as error:
            if error.response["Error"]["Code"].endswith(_OVER_LIMIT):
                return []  # the others can be received when some were deleted
            raise
        return [Message(one["MessageId"], one["ReceiptHandle"], one["Body"]) for one in answer.get("Messages", ())]

    def _delete(self, receipts: Sequence[str]) -> None:
        entries = [{"Id": str(at), "ReceiptHandle": receipt} for at, receipt in enumerate(receipts)]
        answer = self._client.delete_message_batch(QueueUrl=self._url, Entries=entries)
        if failed := answer.get("Failed"):
            said = f"{failed[0].get('Code')}: {failed[0].get('Message', '')}"
            raise TransientError(f"The queue {self.arn} did not delete {len(failed)} of its messages ({said}).", 5.0)


def open_queue(arn: str, wait_secs: int = 1) -> EventQueue:
    """Return a queue that exists.

    Args:
        arn: of the queue.
        wait_secs: see `EventQueue`.

    Raises:
        ConfigError: there is no such queue, or it may not be used.
        TransientError: the server does not answer.
    """
    import boto3  # noqa: PLC0415  few crawls have queues
    from botocore.config import Config  # noqa: PLC0415

    queue = read_queue_arn(arn)
    region = queue.region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    patient = Config(
        retries={"mode": "standard", "total_max_attempts": 5},
        connect_timeout=5,
        read_timeout=30,
        max_pool_connections=_CALLS,
    )
    owner = {"QueueOwnerAWSAccountId": queue.account} if queue.account else {}
    with explained(arn):
        client = boto3.client("sqs", region_name=region, config=patient)
        try:
            url = client.get_queue_url(QueueName=queue.name, **owner)["QueueUrl"]
        except BaseException:
            client.close()
            raise
    return EventQueue(arn, client, url, wait_secs)


@contextmanager
def explained(arn: str) -> Iterator[None]:
    """Turn errors of boto3 into ours.

    Args:
        arn: of the queue that is used.
    """
    from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError  # noqa: PLC0415  few crawls have queues
    from botocore.exceptions import ConnectionError as NoConnection  # noqa: PLC0415

    try:
        yield
    except ClientError as error:
        raise _refused(arn, error.response) from error
    except (NoConnection, HTTPClientError) as error:
        raise TransientError(f"The queue {arn} does not answer ({error}); check AWS_ENDPOINT_URL.", 5.0) from error
    except (BotoCoreError, ValueError) as error:
        raise ConfigError(f"The queue {arn} cannot be used ({error}); check region and credentials.") from error


def _refused(arn: str, answer: Any) -> EtlError:
    code, said = answer["Error"]["Code"], answer["Error"].get("Message", "")
    if code.endswith(_NO_QUEUE):
        return ConfigError(f"There is no queue {arn}; create it, or correct the ARN.")
    if code.endswith(_TRY_AGAIN) or answer["ResponseMetadata"]["HTTPStatusCode"] >= 500:
        return TransientError(f"The queue {arn} cannot be used for now ({code}: {said}).", 5.0)
    return ConfigError(
        f"The queue {arn} cannot be used ({code}: {said}); allow sqs:GetQueueUrl, sqs:ReceiveMessage and"
        " sqs:DeleteMessage for it, and sqs:SendMessage for a queue of dead letters."
    )


@dataclass(slots=True)
class Round:
    """Messages that were received.

    Args:
        changed: which places they name, for each target.
        receipts: by the numbers of the messages.
        misunderstood: the first messages that were not understood, each with the reason.
        misunderstood_messages: how many there are.
        is_last: whether no other message waited.
    """

    changed: list[ChangedPlaces]
    receipts: dict[str, str] = field(default_factory=dict)
    misunderstood: list[tuple[str, str]] = field(default_factory=list)
    misunderstood_messages: int = 0
    is_last: bool = False

    @property
    def messages(self) -> int:
        """How many messages were received."""
        return len(self.receipts)


def next_round(
    queue: EventQueue,
    targets: Sequence[Target],
    most: int = MOST_MESSAGES,
    *,
    keeps_all: bool = False,
    open_queue: Callable[[str], EventQueue] = open_queue,
) -> Round:
    """Receive the waiting messages, and put those that are not understood out of the way.

    These are sent to the queue of dead letters, if there is one, and deleted. All others stay in the queue until
    `EventQueue.delete` is called, and so do those that are understood in part.

    Args:
        queue: of the targets.
        targets: that have this queue.
        most: stop at this number of messages.
        keeps_all: delete no message and send none.
        open_queue: opens the queue of dead letters.

    Raises:
        EtlError: one of the queues cannot be used.
    """
    found = Round([ChangedPlaces() for _ in targets])
    calls = 1
    while found.messages < most:
        received = queue.receive(calls)
        new = [one for one in received if one.number not in found.receipts]
        # A message that was hidden for too short a time is here again, and has another receipt.
        found.receipts.update((one.number, one.receipt) for one in received)
        if not new:
            found.is_last = not received
            break
        if (odd := _note(new, targets, found)) and not keeps_all:
            _put_away(queue, odd, targets, open_queue)
        calls = _CALLS if len(received) >= calls * _AT_ONCE else 1
    return found


def _note(messages: Sequence[Message], targets: Sequence[Target], found: Round) -> list[tuple[Message, bool]]:
    """Note which places messages name; return those that are not understood, each with whether a part of it is."""
    odd = []
    for message in messages:
        said = read_message(message.body)
        for target, changed in zip(targets, found.changed, strict=True):
            changed.update(changed_places(target, said.events))
        if said.wrong:
            odd.append((message, bool(said.events)))
            found.misunderstood_messages += 1
            if len(found.misunderstood) < _MOST_NOTES:
                found.misunderstood.append((message.number, said.wrong))
    return odd


def _put_away(
    queue: EventQueue,
    odd: Sequence[tuple[Message, bool]],
    targets: Sequence[Target],
    open_queue: Callable[[str], EventQueue],
) -> None:
    if dead_letters := dead_letters_of(targets):
        with closing(open_queue(dead_letters)) as other:
            other.send([message.body for message, _ in odd])
        reach("crawl.sent_away")
    queue.delete([message.receipt for message, is_used in odd if not is_used])


def dead_letters_of(targets: Sequence[Target]) -> str:
    """Return the ARN of the queue for messages of these targets that are not understood; empty for none."""
    return next((one.dead_letters for one in targets if one.dead_letters), "")

"""Signed calls to the Kinesis API: botocore's credentials and signatures, urllib3's connections, orjson's parser.

botocore's own client needs some 20 microseconds a record to parse an answer, which is most of the time of a read. This
client returns the parsed JSON as it is, with `Data` still in base64.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, cast
from urllib.parse import urlsplit

import botocore.session
import orjson
import urllib3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import AssumeRoleCredentialFetcher, Credentials, DeferredRefreshableCredentials
from botocore.exceptions import BotoCoreError, ClientError

from gluepot.connectors.aws.errors import PASSING
from gluepot.connectors.kinesis.errors import AWAY_STATUS, from_service
from gluepot.connectors.kinesis.events import GarbledMessage, read_message
from gluepot.connectors.kinesis.settings import Role, StreamAddress
from gluepot.core.errors import ConfigError, TransientError

CONNECT_SECS, ANSWER_SECS = 5.0, 30.0
EVENT_SECS = 35.0
"""Longest time without an event. The service sends empty events to a shard that has no new records, so a longer silence
means that the connection is broken."""
SUBSCRIBE = "SubscribeToShard"
_CONTENT_TYPE = "application/x-amz-json-1.1"
_DEFAULT_REGION = "us-east-1"  # Glue's own default endpoint lies there


class KinesisClient:
    """A client for one stream. Safe to use from several threads.

    Args:
        address: address of the stream.
        connections: largest number of connections that are kept open.
        answer_secs: how long a call waits for an answer.

    Raises:
        ConfigError: there are no credentials.
    """

    def __init__(self, address: StreamAddress, connections: int = 8, answer_secs: float = ANSWER_SECS) -> None:
        session = botocore.session.get_session()
        self._region = address.region or session.get_config_variable("region") or _DEFAULT_REGION
        self._endpoint = address.endpoint or _endpoint_of(session, self._region)
        self._address = address
        self._credentials = _credentials(session, address.role, self._region)
        self._pool = urllib3.PoolManager(
            maxsize=connections,
            retries=False,
            timeout=_timeout(answer_secs),
            ca_certs=os.environ.get("AWS_CA_BUNDLE"),
        )

    @property
    def where(self) -> str:
        """The stream, for messages."""
        return f"Kinesis stream {self._address.name} at {self._endpoint}"

    @property
    def host(self) -> str:
        """Host of the service, with its port if the endpoint names one."""
        return urlsplit(self._endpoint).netloc

    def on_stream(self, operation: str, **parameters: Any) -> dict[str, Any]:
        """Call an operation that names the stream; see `call`."""
        return self.call(operation, {**self._address.parameters(), **parameters})

    def call(self, operation: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Call an operation once.

        Returns:
            The parsed answer; empty if it has no body.

        Raises:
            EtlError: see `from_service`; TransientError if no answer came.
        """
        answer = self._post(operation, parameters)
        try:
            plain = orjson.loads(answer.data) if answer.data else {}
        except orjson.JSONDecodeError as garbled:
            raise TransientError(f"{self.where} returned no JSON for {operation} (HTTP {answer.status}).") from garbled
        if answer.status == 200:
            return cast("dict[str, Any]", plain)
        code = str(plain.get("__type", "")).rpartition("#")[2]
        raise from_service(operation, self.where, answer.status, code, _message(plain))

    def subscribe(self, **parameters: Any) -> EventStream:
        """Call SubscribeToShard once.

        Raises:
            EtlError: see `call`.
        """
        answer = self._post(SUBSCRIBE, parameters, preload_content=False, timeout=_timeout(EVENT_SECS))
        if answer.status == 200:
            return EventStream(answer, self.where)
        try:
            plain = orjson.loads(answer.data)
        except (orjson.JSONDecodeError, urllib3.exceptions.HTTPError):
            plain = {}
        code = str(plain.get("__type", "")).rpartition("#")[2]
        raise from_service(SUBSCRIBE, self.where, answer.status, code, _message(plain))

    def close(self) -> None:
        """Close all connections."""
        self._pool.clear()

    def _post(self, operation: str, parameters: Mapping[str, Any], **how: Any) -> urllib3.BaseHTTPResponse:
        body = orjson.dumps(parameters)
        headers = {"Content-Type": _CONTENT_TYPE, "X-Amz-Target": f"Kinesis_20131202.{operation}"}
        signed = self._signed(headers, body)
        try:
            return self._pool.request("POST", self._endpoint + "/", body=body, headers=signed, **how)
        except urllib3.exceptions.HTTPError as away:
            raise TransientError(f"{self.where} did not answer {operation} ({away}); check the network.") from away

    def _signed(self, headers: dict[str, str], body: bytes) -> dict[str, str]:
        request = AWSRequest("POST", self._endpoint + "/", headers, body)
        try:
            SigV4Auth(self._credentials.get_frozen_credentials(), "kinesis", self._region).add_auth(request)
        except (BotoCoreError, ClientError) as away:
            raise TransientError(f"The credentials for {self.where} could not be renewed ({away}).") from away
        return dict(request.headers.items())


class EventStream:
    """The events of one subscription. One thread reads; any thread may close it.

    Args:
        answer: the service's answer, whose body has not been read.
        where: the stream, for messages.
    """

    def __init__(self, answer: urllib3.BaseHTTPResponse, where: str) -> None:
        self._answer = answer
        self._where = where

    def next_event(self) -> dict[str, Any] | None:
        """Wait for the next SubscribeToShardEvent and return it, parsed; None if the service has ended the stream.

        Raises:
            EtlError: the service reports a failure, see `from_service`; TransientError if the connection was lost.
        """
        while True:
            try:
                message = read_message(self._answer.read)
            except GarbledMessage as garbled:
                raise TransientError(
                    f"{self._where} sent an unreadable event ({garbled}); Gluepot subscribes to the shard again."
                ) from garbled
            except (urllib3.exceptions.HTTPError, OSError, ValueError) as away:
                raise TransientError(
                    f"{self._where} stopped sending events ({away}); Gluepot subscribes to the shard again."
                ) from away
            if message is None:
                return None
            kind = message.headers.get(":message-type")
            if kind == "event":
                if message.headers.get(":event-type") == "SubscribeToShardEvent":
                    return cast("dict[str, Any]", self._parsed(message.payload))
                continue  # The service begins with an `initial-response`.
            code = message.headers.get(":exception-type") or message.headers.get(":error-code") or "UnknownError"
            said = message.headers.get(":error-message") or _message(self._parsed(message.payload or b"{}"))
            status = AWAY_STATUS if code in PASSING else 400
            raise from_service(SUBSCRIBE, self._where, status, code, said)

    def close(self) -> None:
        """Close the connection."""
        with suppress(ValueError, OSError, RuntimeError):  # It is closed already.
            self._answer.shutdown()  # wakes a thread that waits for an event
        self._answer.close()

    def _parsed(self, payload: bytes) -> Any:
        try:
            return orjson.loads(payload)
        except orjson.JSONDecodeError as garbled:
            raise TransientError(
                f"{self._where} sent an event that is not JSON; Gluepot subscribes to the shard again."
            ) from garbled


def _message(plain: Mapping[str, Any]) -> str:
    return str(plain.get("message") or plain.get("Message") or "")


def _timeout(answer_secs: float) -> urllib3.Timeout:
    return urllib3.Timeout(connect=CONNECT_SECS, read=answer_secs)


def _endpoint_of(session: Any, region: str) -> str:
    """Return the environment's endpoint (`AWS_ENDPOINT_URL_KINESIS`, `AWS_ENDPOINT_URL`) or the service's own."""
    named = os.environ.get("AWS_ENDPOINT_URL_KINESIS") or os.environ.get("AWS_ENDPOINT_URL")
    if not named and session.profile:
        named = session.get_scoped_config().get("endpoint_url")
    if named:
        return str(named).rstrip("/")
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return f"https://kinesis.{region}.{suffix}"


def _credentials(session: Any, role: Role | None, region: str) -> Credentials:
    found = session.get_credentials()
    if found is None:
        raise ConfigError(
            "There are no AWS credentials for Kinesis; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE."
            " For the emulator of `gluepot up kinesis`, export what `gluepot status --output env` prints."
        )
    if role is None:
        return cast("Credentials", found)

    def token_service(name: str, **more: Any) -> Any:
        return session.create_client(name, region_name=region, endpoint_url=role.endpoint or None, **more)

    fetcher = AssumeRoleCredentialFetcher(
        client_creator=token_service,
        source_credentials=found,
        role_arn=role.arn,
        extra_args={"RoleSessionName": role.session_name},
    )
    return cast("Credentials", DeferredRefreshableCredentials(fetcher.fetch_credentials, "assume-role"))

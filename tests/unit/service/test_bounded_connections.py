"""Connections that are slow, half open or too many, over real sockets."""

import asyncio

import pytest
import uvicorn
from starlette.responses import Response
from uvicorn.server import ServerState

from gluepot.service.errors import ServiceError
from gluepot.service.wire.bounded_connections import BoundedConnection, most_connections
from gluepot.service.wire.unsigned_bodies import UnsignedBodies

HALF = b"POST / HTTP/1.1\r\nhost: here\r\ncontent-length: 10\r\n"
WHOLE = b"POST / HTTP/1.1\r\nhost: here\r\ncontent-length: 0\r\n\r\n"


class Impatient(BoundedConnection):
    """A connection with small limits."""

    request_secs = 0.3
    most = 4


def played(play, app=None):
    """Let `play` open connections to a server."""

    async def main():
        config = uvicorn.Config(app or Response(b"{}"), http=Impatient, lifespan="off", log_config=None)
        config.load()
        loop, state = asyncio.get_running_loop(), ServerState()
        server = await loop.create_server(lambda: Impatient(config, state, {}, loop), "127.0.0.1", 0)
        async with server:
            return await play(lambda: asyncio.open_connection(*server.sockets[0].getsockname()))

    return asyncio.run(main())


async def end_of(reader):
    try:
        return await asyncio.wait_for(reader.read(), 5)
    except ConnectionError:
        return b""


@pytest.mark.parametrize("sent", [b"", HALF, HALF + b"\r\nhalf"])
def test_a_connection_without_a_whole_request_ends(sent):
    async def play(connect):
        reader, writer = await connect()
        writer.write(sent)
        return await end_of(reader)

    if sent.endswith(b"half"):

        async def reading(scope, receive, send):
            while (await receive()).get("more_body"):
                pass

        assert played(play, reading) in {b"", b"Internal Server Error"}
    else:
        assert played(play) == b""


def test_a_request_that_arrives_byte_by_byte_ends():
    async def play(connect):
        reader, writer = await connect()
        for at in range(40):
            writer.write(HALF[at : at + 1])
            await asyncio.sleep(0.02)
        return await end_of(reader)

    assert played(play) == b""


def test_a_client_that_does_not_read_its_answer_is_cut_off():
    async def play(connect):
        reader, writer = await connect()
        writer.write(WHOLE)
        await asyncio.sleep(1.5)
        return len(await end_of(reader))

    assert played(play, Response(b"x" * 50_000_000)) < 50_000_000


def test_a_new_connection_ends_the_one_that_has_waited_longest():
    async def play(connect):
        waiting = [await connect() for _ in range(4)]
        reader, writer = await connect()
        writer.write(WHOLE)
        answer = await asyncio.wait_for(reader.readuntil(b"{}"), 5)
        return answer, await end_of(waiting[0][0])

    answer, oldest = played(play)
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert oldest == b""


@pytest.mark.parametrize(("files", "most"), [(-1, 512), (100_000, 512), (700, 444), (100, 16)])
def test_connections_leave_files_for_others(files, most):
    assert most_connections(files) == most


def test_large_bodies_share_a_limit_until_they_are_verified():
    bodies = UnsignedBodies(100_000)
    with bodies.reserved() as first, bodies.reserved() as second:
        first(90_000)
        second(16_000)  # small
        with pytest.raises(ServiceError, match="retry"):
            second(10_000)
    assert bodies.held_bytes == 0
    with bodies.reserved() as third:
        third(100_000)

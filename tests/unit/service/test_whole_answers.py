from __future__ import annotations

import asyncio

import uvicorn
from starlette.responses import Response, StreamingResponse
from uvicorn.server import ServerState

from gluepot.service.wire.whole_answers import WholeAnswers

REQUEST = b"POST / HTTP/1.1\r\nhost: here\r\ncontent-length: 0\r\n"


class Wire(asyncio.Transport):
    """Keeps what is written, and how a connection ends."""

    def __init__(self):
        super().__init__()
        self.writes = []

    def write(self, data):
        self.writes.append(data)

    def close(self):
        self.writes.append("closed")

    def is_closing(self):
        return "closed" in self.writes

    def pause_reading(self):
        pass

    def resume_reading(self):
        pass


def answered(app, *requests):
    """What is written to the wire for requests."""

    async def ask():
        config = uvicorn.Config(app, http=WholeAnswers, lifespan="off", log_config=None)
        config.load()
        protocol, wire = WholeAnswers(config, ServerState(), {}, asyncio.get_running_loop()), Wire()
        protocol.connection_made(wire)
        for request in requests:
            protocol.data_received(request)
            await asyncio.sleep(0.01)
        return wire.writes

    return asyncio.run(ask())


def test_the_head_of_an_answer_never_goes_without_its_body():
    (first, second) = answered(Response(b"{}"), REQUEST + b"\r\n", REQUEST + b"\r\n")
    assert first.startswith(b"HTTP/1.1 200 OK\r\n")
    assert first.endswith(b"\r\n\r\n{}")
    assert second == first


def test_a_connection_is_closed_after_the_whole_answer():
    written, closed = answered(Response(b"last"), REQUEST + b"connection: close\r\n\r\n")
    assert written.endswith(b"\r\n\r\nlast")
    assert closed == "closed"


def test_what_takes_its_time_is_not_held_back():
    async def slowly():
        yield b"now"
        await asyncio.sleep(0.001)
        yield b"later"

    assert len(answered(StreamingResponse(slowly()), REQUEST + b"\r\n")) > 1

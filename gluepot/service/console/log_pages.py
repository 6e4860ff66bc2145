"""What the console shows of logs: what is added while somebody looks, and the whole of a stream in parts."""

from __future__ import annotations

from gluepot.service.console.log_lines import LogPiece, first_lines, newest_lines
from gluepot.service.console.page import Page, Query, Reader
from gluepot.service.console.values import short_id, url
from gluepot.service.decisions.log_streams import CRAWLERS, ERROR, OUTPUT, group_prefix, text_of
from gluepot.service.decisions.states import OPEN, Run, crawl_subject, crawler_of
from gluepot.service.errors import not_found
from gluepot.service.operations.runs import run_of
from gluepot.service.store.database import Changes

STREAMS = {"error": ERROR, "output": OUTPUT}
# What a page shows of a log at first, and of what has been added since the last look.
_SHOWN_LINES, _SHOWN_BYTES = 300, 100_000
_LINES_OF_PAGE = 1000
# No file is larger.
_MOST_DIGITS = 18


def log(reader: Reader, query: Query) -> Page:
    """Return what a stream of a run or crawl has had since the last look, for its page."""
    found, stream, begin = _stream(reader, query)
    logs, text = reader.service.logs, text_of(found, STREAMS[stream])
    with reader.service.store.changes() as changes:
        goes_on = run_or_crawl(changes, query).state in OPEN
    piece = newest_lines(logs.events(text, begin, found.started_ms), begin, _SHOWN_LINES)
    values = {"of": address_of(found), "stream": stream, "piece": piece, "goes_on": goes_on}
    return Page("log_piece.html", "", "", values)


def whole_log(reader: Reader, query: Query) -> Page:
    """Return a part of a stream of a run or crawl."""
    found, stream, begin = _stream(reader, query)
    logs, text = reader.service.logs, text_of(found, STREAMS[stream])
    piece = first_lines(logs.events(text, begin, found.started_ms), begin, _LINES_OF_PAGE)
    here = {**address_of(found), "stream": stream}
    crawler = crawler_of(found.job)
    values = {
        "piece": piece,
        "begin": begin,
        "group": f"{group_prefix(found)}/{stream}" if crawler is None else f"{CRAWLERS}/{crawler}",
        "first": url("whole-log", **here) if begin else "",
        "following": url("whole-log", **here, at=piece.end) if piece.lines else "",
        "last": url("whole-log", **here, at=logs.tail_offset(text, most_bytes=_SHOWN_BYTES)),
    }
    title = f"{stream.capitalize()} log"
    if crawler is None:
        above = [("Jobs", url("jobs")), (found.job, url("job", name=found.job))]
        above.append((short_id(found.id), url("run", **address_of(found))))
        return Page("whole_log.html", title, "runs", values, path=above)
    above = [("Crawlers", url("crawlers")), (crawler, url("crawler", name=crawler))]
    above.append((short_id(found.id), url("crawl", **address_of(found))))
    return Page("whole_log.html", title, "crawlers", values, path=above)


def tail(reader: Reader, of: Run, stream: str) -> LogPiece:
    """Return the end of a stream of a run or crawl."""
    logs, text = reader.service.logs, text_of(of, STREAMS[stream])
    begin = logs.tail_offset(text, most_bytes=_SHOWN_BYTES)
    return newest_lines(logs.events(text, begin, of.started_ms), begin, _SHOWN_LINES)


def address_of(run: Run) -> dict[str, str]:
    """Return what names a run or crawl in addresses of pages."""
    crawler = crawler_of(run.job)
    return {"job": run.job, "id": run.id} if crawler is None else {"crawler": crawler, "id": run.id}


def run_or_crawl(changes: Changes, query: Query) -> Run:
    """Return the run or crawl that an address names.

    Raises:
        ServiceError: `EntityNotFoundException`.
    """
    run_id, crawler = query.get("id", ""), query.get("crawler")
    if crawler is None:
        return run_of(changes, query.get("job", ""), run_id)
    found = changes.run(run_id)
    if found is None or found.job != crawl_subject(crawler):
        raise not_found(f"Crawl {run_id} of crawler {crawler} not found.")
    return found


def _stream(reader: Reader, query: Query) -> tuple[Run, str, int]:
    """Return the run, the stream and the place in it that an address names."""
    stream, at = query.get("stream", ""), query.get("at", "0")
    if stream not in STREAMS:
        raise not_found(f"There is no stream {stream!r}; use one of {', '.join(STREAMS)}.")
    with reader.service.store.changes() as changes:
        found = run_or_crawl(changes, query)
    return found, stream, int(at) if at.isascii() and at.isdecimal() and len(at) <= _MOST_DIGITS else 0

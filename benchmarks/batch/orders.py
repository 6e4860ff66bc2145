"""The rows of the batch jobs: made-up orders, as JSON lines with an object in them and as flat CSV."""

from __future__ import annotations

from pathlib import Path

import duckdb

FILES = 16
COUNTRIES = ("DE", "FR", "US", "IN", "BR", "JP", "GB", "ES")
CATEGORIES = 50

# Each value follows from the number of its row, so that files are the same for the same number of rows.
_COLUMNS = f"""
    i AS order_id,
    strftime(TIMESTAMP '2026-01-01' + to_milliseconds(i * 137), '%Y %b %d %H:%M:%S.%g') AS ordered_at,
    draw(i, 1, 1000000) AS user_id,
    {list(COUNTRIES)}[1 + draw(i, 2, {len(COUNTRIES)})] AS country,
    'category ' || draw(i, 3, {CATEGORIES}) AS category,
    1 + draw(i, 4, 9) AS quantity,
    CASE WHEN draw(i, 5, 10) > 0 THEN draw(i, 6, 50000) / 100 END AS price,
    '/item/' || draw(i, 7, 5000) AS page
"""
_OF_JSON = """,
    {os: ['android', 'ios', 'linux', 'windows'][1 + draw(i, 8, 4)], version: draw(i, 9, 18) || '.' || draw(i, 10, 9),
     mobile: draw(i, 11, 5) < 3} AS device,
    md5(i::VARCHAR) AS session
"""


def write(folder: Path, rows: int) -> dict[str, Path]:
    """Write the rows as files of each format; return the folders by format."""
    folders = {name: folder / name for name in ("json", "csv")}
    for made in folders.values():
        made.mkdir()
    with duckdb.connect() as db:
        db.execute("CREATE MACRO draw(i, n, most) AS CAST(hash(i, n) % most AS INT)")
        for number in range(FILES):
            first, last = rows * number // FILES, rows * (number + 1) // FILES
            given = f"FROM range({first}, {last}) AS numbers(i)"
            json, csv = (made / f"part-{number:02}.{name}" for name, made in folders.items())
            db.execute(f"COPY (SELECT {_COLUMNS}{_OF_JSON} {given}) TO '{json}' (FORMAT json)")
            db.execute(f"COPY (SELECT {_COLUMNS} {given}) TO '{csv}' (FORMAT csv, HEADER)")
    return folders

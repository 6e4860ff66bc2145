"""Where our own files lie in a table's folder.

    <table>/day=1/run-...parquet                                          what readers see
    <table>/_rejects/run-...rejects                                       records that could not be written
    <table>/_gluepot/staging/<query>.<target>/<write>/<token>/<attempt>/0-0.staged
                                                                          files that no reader sees yet
    <table>/_gluepot/intents/<query>/<write>.<generation>.<token>.json    what a publication in progress will name
    <table>/_gluepot/commits/<query>/<first>/<write>.<generation>.json    what was published by a thousand batches,
                                                                          counted from batch <first> on
    <table>/_gluepot/commits/<write>.<generation>.json                    the same, by older versions of Gluepot
    <table>/_gluepot/rollups/<query>/<first>.<number>.parquet             the live manifests of such a thousand
    <table>/_gluepot/rollups/<query>/<number>.json                        which rollups of the query hold
    <table>/_gluepot/compactions/<number>.json                            which of its files others took the place of
    <table>/_gluepot/compactions/intents/<number>.<id>.json               what a compaction in progress will name
    <table>/_gluepot/compactions/emptied/<number>                         says that this purge left the table empty

`<query>` and `<write>` are digests, so nothing a user names becomes part of a path here. Suffixes differ from those of
data files: not every reader leaves out folders that begin with an underscore.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gluepot.connectors.values import CommitKey

HOME = "_gluepot"
COMMITS = f"{HOME}/commits"
ROLLUPS = f"{HOME}/rollups"
INTENTS = f"{HOME}/intents"
COMPACTIONS = f"{HOME}/compactions"
COMPACTION_INTENTS = f"{COMPACTIONS}/intents"
EMPTIED = f"{COMPACTIONS}/emptied"
REJECTS = "_rejects"
STAGED_SUFFIX = ".staged"

_COMPACTION = re.compile(rf"{COMPACTIONS}/[1-9][0-9]*\.json")
_COMMIT = re.compile(rf"{COMMITS}/(?:[0-9a-f]{{32}}/([0-9]+)/)?([0-9a-f]{{32}})\.([1-9][0-9]*)\.json")
_ROLLUP_INDEX = re.compile(rf"{ROLLUPS}/([0-9a-f]{{32}})/([1-9][0-9]*)\.json")
_OF_ROLLUPS = re.compile(rf"{ROLLUPS}/[0-9a-f]{{32}}/(?:[0-9]+\.)?([1-9][0-9]*)\.(?:json|parquet)")

FOLDER_BATCHES = 1000
"""How many batches have their manifests in one folder, and are rolled up together."""


STAGING = f"{HOME}/staging"


def staging_of_query(query_id: str, target: str = "") -> str:
    """Return the folder with everything that a query has staged for one target.

    Args:
        query_id: of the query.
        target: as in the commit key; several tables may stage rejects in one folder, at the same time.
    """
    return f"{STAGING}/{_digest(query_id)}.{target}" if target else f"{STAGING}/{_digest(query_id)}"


def is_staged_by(folder: str, query_id: str) -> bool:
    """Tell whether a key lies in what a query has staged, for whichever target."""
    return folder.removeprefix(f"{STAGING}/").split("/", 1)[0].split(".", 1)[0] == _digest(query_id)


def staging_of_attempt(key: CommitKey, attempt: str) -> str:
    """Return the folder of one attempt; an attempt `a/3` lies below the attempt `a`.

    Attempts begin with the driver's token: no driver removes what another one stages.
    """
    return f"{staging_of_query(key.query_id, key.target)}/{_write(key)}/{attempt}"


def token_of_staged(key: str) -> int:
    """Return the token of the driver that staged a file; 0 where none is to be read."""
    token = key.removeprefix(f"{HOME}/staging/").split("/")[2:3]
    return int(token[0]) if token and token[0].isdecimal() else 0


def intents_of_query(query_id: str) -> str:
    """Return the folder of the publications of a query that have begun and not ended."""
    return f"{INTENTS}/{_digest(query_id)}"


def intent_key(key: CommitKey, generation: int, token: int) -> str:
    """Return where a driver writes down its intent to publish."""
    return f"{intents_of_query(key.query_id)}/{_write(key)}.{generation}.{token}.json"


def commit_key(key: CommitKey, generation: int) -> str:
    """Return where the manifest lies; the highest generation there is counts, counted from 1.

    The folder follows from the key, so that two drivers with the same batch collide there.
    """
    return f"{commits_from(key.query_id, first_of_folder(key.batch_id))}/{_write(key)}.{generation}.json"


def first_of_folder(batch_id: int) -> int:
    """Return the first batch whose manifests are in the same folder as those of a batch."""
    return batch_id - batch_id % FOLDER_BATCHES


def commits_of_query(query_id: str) -> str:
    """Return the folder of a query's manifests."""
    return f"{COMMITS}/{_digest(query_id)}"


def commits_from(query_id: str, first: int) -> str:
    """Return the folder of the manifests of a query's batches from `first` on."""
    return f"{commits_of_query(query_id)}/{first:012}"


def is_of_older_layout(key: str) -> bool:
    """Tell whether a manifest's key is one that older versions of Gluepot gave it."""
    return key.count("/") == COMMITS.count("/") + 1


def rollups_of_query(query_id: str) -> str:
    """Return the folder of a query's rollups."""
    return f"{ROLLUPS}/{_digest(query_id)}"


def rollup_key(query_id: str, first: int, number: int) -> str:
    """Return where the rollup of the batches from `first` on lies that the index of a number was the first to name."""
    return f"{rollups_of_query(query_id)}/{first:012}.{number}.parquet"


def rollup_index_key(query_id: str, number: int) -> str:
    """Return where the index of a query's rollups lies; the highest number there is counts, counted from 1."""
    return f"{rollups_of_query(query_id)}/{number}.json"


def rollup_index(key: str) -> tuple[str, int] | None:
    """Return the query's digest and the number that an index's key names; None for the key of another file."""
    found = _ROLLUP_INDEX.fullmatch(key)
    return (found[1], int(found[2])) if found else None


def rollup_number(key: str) -> int | None:
    """Return the number in the key of an index or of a rollup; None for the key of another file."""
    found = _OF_ROLLUPS.fullmatch(key)
    return int(found[1]) if found else None


def compaction_key(number: int) -> str:
    """Return where the record of a compaction lies; they are counted from 1, without gaps."""
    return f"{COMPACTIONS}/{number}.json"


def is_compaction(key: str) -> bool:
    """Tell whether a key is that of a compaction's record."""
    return _COMPACTION.fullmatch(key) is not None


def emptied_key(number: int) -> str:
    """Return where a purge notes that it left a table without files."""
    return f"{EMPTIED}/{number}"


def compaction_intent_key(number: int, owner: str) -> str:
    """Return where somebody writes down the intent to make the compaction of a number; others may intend the same."""
    return f"{COMPACTION_INTENTS}/{number}.{owner}.json"


def staging_of_compaction(owner: str) -> str:
    """Return where the files of a compaction are staged."""
    return f"{HOME}/staging/compaction/{owner}"


def write_and_generation(key: str) -> tuple[str, int] | None:
    """Return the write's digest and the generation that a manifest's key names; None for the key of another file."""
    found = _COMMIT.fullmatch(key)
    return (found[2], int(found[3])) if found else None


def first_batch(key: str) -> int | None:
    """Return the first batch of the folder that a manifest lies in; None for other keys and for the older layout."""
    found = _COMMIT.fullmatch(key)
    return int(found[1]) if found and found[1] else None


def _write(key: CommitKey) -> str:
    return _digest(json.dumps([key.query_id, key.batch_id, key.ctx]))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]

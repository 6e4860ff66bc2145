"""Publishes the files that the tasks of one write staged: exactly once per key, whichever process dies at any moment.

    target = open_target(sink)
    recover(target, query_id, token)       # once, before the first batch of a query
    adopted(target, Manifest(key, ...))    # before the Spark job: was this input published already?
    publish(target, Manifest(key, parts))  # after the Spark job; abort(target, key, attempt) if that failed

The steps in order, each of them one action of a storage. On the right is what recovery does after a crash in that step:

1. intent: the list of final names, durable                    -> seal the generation, remove the named files
2. staged files move to their final names, rejects first       -> seal the generation, remove the named files
3. manifest: exclusive create; from here on it is published    -> nothing is lost; do step 4 again
4. files of an earlier generation, intent, staging are removed -> remove the rest

A stream does step 4 while its next batch runs (`Background`), and leaves out reads whose answer it knows (`OpenTable`).

Recovery may safely remove the files that an intent names, because it looks for the manifest first, and because names
contain the commit key, the generation and the driver's token, so that no other driver uses them.

Fencing: every driver has a token that is higher than the tokens of the drivers before it. The token is part of the
manifest, and manifests are created exclusively, generation by generation. A driver leaves a manifest under every key
that it meets, even if it only confirms what an earlier driver published. Before it removes the files of an unfinished
publication, it takes that publication's generation. So a driver that was taken for dead finds its generation taken,
whenever it wakes up.
"""

from gluepot.commit.history import Published, live
from gluepot.commit.journal import Journal, Write, newest_state, place_digest
from gluepot.commit.later import Background
from gluepot.commit.overlap import History
from gluepot.commit.publish import abort, adopted, publish, published, recover
from gluepot.commit.refusal import Origin, refuse_overlap
from gluepot.commit.tally import Tally
from gluepot.commit.target import Target, open_target
from gluepot.commit.writes import FILES, OpenTable, QueryWrites

__all__ = [
    "FILES",
    "Background",
    "History",
    "Journal",
    "OpenTable",
    "Origin",
    "Published",
    "QueryWrites",
    "Tally",
    "Target",
    "Write",
    "abort",
    "adopted",
    "live",
    "newest_state",
    "open_target",
    "place_digest",
    "publish",
    "published",
    "recover",
    "refuse_overlap",
]

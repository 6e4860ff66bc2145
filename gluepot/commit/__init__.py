"""Publishing what the tasks of one write staged: exactly once per key, whatever dies when.

    target = open_target(sink)
    recover(target, query_id, token)       # once, before the first batch of a query
    adopted(target, Manifest(key, ...))    # before the Spark job: was this input published already?
    publish(target, Manifest(key, parts))  # after the Spark job; abort(target, key, attempt) if that failed

The order of steps, each of them one action of a storage, with what recovery does after a crash behind it:

1. intent: the list of final names, durable                    -> its generation is sealed, the names are removed
2. staged files move to their final names, rejects first       -> its generation is sealed, the names are removed
3. manifest: exclusive create; from here on it is published    -> nothing is lost, step 4 is done again
4. files of an earlier generation, intent, staging are removed -> the rest is removed

Removing what an intent names is safe because names are made from the commit key, its generation and the driver's
token, so nobody else uses them, and because a manifest is looked for first.

Fencing: every driver has a token, higher than those of the drivers before it. The token is part of the manifest, and
manifests are created exclusively, generation by generation; a driver leaves one under every key it meets, also where
it only agrees with what is there, and takes the generation of an unfinished one before it removes its files. So one
that was taken for dead finds its generation taken, whenever it wakes up.
"""

from gluepot.commit.history import Published, live
from gluepot.commit.journal import Journal, Write, place_digest
from gluepot.commit.overlap import History
from gluepot.commit.publish import abort, adopted, publish, recover
from gluepot.commit.refusal import Origin, refuse_overlap
from gluepot.commit.tally import Tally
from gluepot.commit.target import Target, open_target
from gluepot.commit.writes import FILES, OpenTable, QueryWrites

__all__ = [
    "FILES",
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
    "open_target",
    "place_digest",
    "publish",
    "recover",
    "refuse_overlap",
]

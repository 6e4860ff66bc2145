"""Publishing what the tasks of one write staged: exactly once per key, whatever dies when.

    target = open_target(sink)
    recover(target, query_id)              # once, before the first batch of a query
    publish(target, Manifest(key, parts))  # after the Spark job; abort(target, key, attempt) if that failed

The order of steps, each of them one action of a storage, with what recovery does after a crash behind it:

1. intent: the list of final names, durable                    -> the names are removed
2. staged files move to their final names, rejects first       -> the names are removed
3. manifest: exclusive create; from here on it is published    -> nothing is lost, step 4 is done again
4. files of an earlier generation, intent, staging are removed -> the rest is removed

Removing what an intent names is safe because names are made from the commit key and its generation, so nobody else
uses them, and because a manifest is looked for first.
"""

from batch.commit.publish import abort, publish, recover
from batch.commit.target import Target, open_target

__all__ = ["Target", "abort", "open_target", "publish", "recover"]

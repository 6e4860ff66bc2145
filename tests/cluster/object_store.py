"""The S3 server of a cluster, as a process of its own: `python -m tests.cluster.object_store HOST PORT`."""

from __future__ import annotations

import signal
import sys

from tests.moto_server import moto_endpoint

if __name__ == "__main__":
    with moto_endpoint(host=sys.argv[1], port=int(sys.argv[2])):
        signal.pause()

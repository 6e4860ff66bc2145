"""The S3 server of a cluster, as a process of its own: `python -m tests.cluster.object_store HOST PORT`."""

from __future__ import annotations

import logging
import signal
import sys

from tests.servers import one_change_at_a_time

if __name__ == "__main__":
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # it writes a line per request
    with one_change_at_a_time():
        ThreadedMotoServer(ip_address=sys.argv[1], port=int(sys.argv[2]), verbose=False).start()
        signal.pause()

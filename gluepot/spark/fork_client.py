"""A program that Spark starts in the place of Python, and that has a fork server run its module. See `fork_server`.

It is run as a file, without site packages, and loads next to nothing, because it is on the way of a start:
`python -I -S fork_client.py SOCKET -m MODULE ...`. If no fork server answers, it becomes a usual Python.
"""

import json
import os
import socket
import sys

ANSWER_SECS = 5.0
"""How long a fork server may take to say that it has forked."""


def asked(connection: socket.socket, arguments: list[str]) -> bool:
    """Send a fork server what a new process would inherit; return whether it has forked one that has it."""
    told = json.dumps({"arguments": arguments, "environ": dict(os.environ), "folder": os.getcwd()}).encode()  # noqa: PTH109  as below
    connection.settimeout(ANSWER_SECS)
    try:
        socket.send_fds(connection, [len(told).to_bytes(4, "big")], [0, 1, 2])
        connection.sendall(told)
        return connection.recv(1) == b"+"
    except OSError:
        return False


def main() -> None:
    """Run the module in a fork, and end as that ends."""
    server, *arguments = sys.argv[1:]
    connection = socket.socket(socket.AF_UNIX)
    folder, name = os.path.split(server)  # pathlib takes longer to load than all the rest
    try:
        # The way through the folder's descriptor is short; the path of a socket has at most 107 bytes.
        opened = os.open(folder, os.O_RDONLY)
        connection.connect(f"/proc/self/fd/{opened}/{name}")
    except OSError:
        is_forked = False
    else:
        is_forked = asked(connection, arguments)
    if not is_forked:
        os.execv(sys.executable, [sys.executable, *arguments])  # noqa: S606  it takes no shell to become Python
    connection.settimeout(None)
    ended = connection.recv(1)  # nothing if the server is gone
    os._exit(ended[0] if ended else 1)


if __name__ == "__main__":
    main()

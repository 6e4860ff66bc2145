"""The process that stands for a job of the host: it hands its arguments, folder, environment and output files over.

It ends with the exit code of the job. Run as a program with the path of the host's socket, and `-m MODULE ARGUMENTS` as Python takes them.
"""

import json
import os
import socket
import sys

connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
connection.connect(sys.argv[1])
request = {"arguments": sys.argv[2:], "folder": os.getcwd(), "environ": dict(os.environ)}  # noqa: PTH109  pathlib takes longer to load than all the rest
socket.send_fds(connection, [json.dumps(request).encode()], [1, 2])
answer = connection.recv(1 << 16)
os._exit(json.loads(answer)["exit_code"] if answer else 1)

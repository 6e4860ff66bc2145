"""`gluepot down` stops the servers of its own installation; all installations of a user share one folder of servers."""

import subprocess
import sys

import pytest

from gluepot.cli.servers import down
from gluepot.servers.process import identify
from gluepot.servers.state import ServerState, server_folder, write_state


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A process that stands for a server of another checkout."""
    monkeypatch.setenv("GLUEPOT_HOME", str(tmp_path))
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    folder = server_folder({"GLUEPOT_HOME": str(tmp_path)}, "kafka")
    folder.mkdir(parents=True)
    write_state(folder, ServerState("kafka", identify(process.pid), 20001, "/log", "/other/.venv"))
    yield process
    process.kill()
    process.wait()


def test_a_server_of_another_checkout_goes_on_until_it_is_asked_for(server, capsys):
    down()
    said = "kafka was started by /other/.venv; `gluepot down --others` stops it, too.\n"
    assert (capsys.readouterr().out, server.poll()) == (said, None)
    down(others=True)
    assert (capsys.readouterr().out, server.wait(5)) == ("kafka is stopped.\n", -15)
    down()
    assert capsys.readouterr().out == "No server runs.\n"

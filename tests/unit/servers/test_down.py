"""`gluepot down` stops the servers of its own installation; all installations of a user share one folder of servers."""

import subprocess
import sys

import pytest

from gluepot.cli.servers import down, up
from gluepot.core.errors import ConfigError
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


def test_a_server_that_runs_elsewhere_than_the_project_file_says_is_not_taken_for_it(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gluepot.toml").write_text("[servers.kafka]\nport = 29092\n")
    with pytest.raises(
        ConfigError, match=r"kafka already runs at 127\.0\.0\.1:20001, and not at the port 29092; stop it"
    ):
        up()

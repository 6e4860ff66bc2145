"""Modules are installed by pip from a local folder of wheels, once for each content."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import zipfile

import pytest

from gluepot.core.clock import SystemClock
from gluepot.core.errors import ConfigError
from gluepot.core.python_modules.installation import installed, root_of
from gluepot.core.python_modules.requests import request_of
from gluepot.core.python_modules.site_path import on_path
from tests.wheels import wheel


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def install(home):
    """Install modules in a cache of the tests."""
    environ = {**os.environ, "GLUEPOT_HOME": str(home), "PIP_TARGET": "/elsewhere"}

    def install(modules, options="", **kept):
        return installed(request_of(modules, options), environ, SystemClock(), **kept)

    return install


def ran(installation, code):
    done = subprocess.run([installation.python, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_a_name_with_its_dependency_comes_from_a_folder_of_wheels(install, tmp_path):
    wheel(tmp_path, "orders", "1.2", requires=["amounts>=1", "numpy"])
    wheel(tmp_path, "amounts", "3.0")
    offline = f"--no-index --find-links={tmp_path}"
    first = install("orders==1.2", offline)
    assert ran(first, "import orders, amounts; print(orders.VERSION, amounts.VERSION)") == "1.2 3.0"
    assert not list(first.site.glob("numpy*")), "Gluepot's own packages count as installed"
    assert install("orders==1.2", offline).folder == first.folder
    wheel(tmp_path, "amounts", "3.1")
    second = install("orders==1.2", offline)
    assert ran(second, "import amounts; print(amounts.VERSION)") == "3.1", "the folder has another content now"


def test_what_pip_reads_itself_is_part_of_the_content(install, tmp_path):
    offline = f"--no-index --find-links={tmp_path} -c {tmp_path}/limits.txt"
    for version in ("1.0", "2.0"):
        wheel(tmp_path, "orders", version)
    for version in ("1.0", "2.0"):
        (tmp_path / "limits.txt").write_text(f"orders=={version}\n")
        made = install("orders", offline)
        assert ran(made, "import orders; print(orders.VERSION)") == version


def test_a_package_that_hides_the_products_modules_is_refused(install, tmp_path):
    path = wheel(tmp_path, "helper")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("awsglue/__init__.py", "")
    made = install(str(path), "--no-index")
    with pytest.raises(ConfigError, match="brings helper, whose module awsglue would hide"), on_path(made.site):
        pass


def test_a_zip_of_wheels_and_a_file_of_requirements(install, tmp_path):
    wheel(tmp_path, "orders", requires=["amounts"])
    wheel(tmp_path, "amounts")
    with zipfile.ZipFile(tmp_path / "all.gluewheels.zip", "w") as archive:
        for path in tmp_path.glob("*.whl"):
            archive.write(path, f"wheels/{path.name}")
        archive.writestr("wheels/requirements.txt", "orders==1.0\n")
    (tmp_path / "requirements.txt").write_text(f"{wheel(tmp_path, 'totals')}\n")
    made = install(f"{tmp_path}/all.gluewheels.zip,{tmp_path}/requirements.txt", "--no-index")
    assert ran(made, "import orders, amounts, totals; print(totals.VERSION)") == "1.0"


def test_what_cannot_be_installed_is_one_sentence_with_pips_reason_and_nothing_is_kept(install, home, tmp_path):
    before = set(home.rglob("complete"))
    with pytest.raises(ConfigError) as failed:
        install("nosuch==9", f"--no-index --find-links={tmp_path}")
    assert str(failed.value) == (
        "--additional-python-modules: pip cannot install nosuch==9: Could not find a version that satisfies the"
        " requirement nosuch==9 (from versions: none); correct the name or version, or name a folder of wheels with"
        ' --python-modules-installer-option "--no-index --find-links=FOLDER".'
    )
    assert set(home.rglob("complete")) == before
    assert not list(home.rglob("*.building"))


@pytest.mark.parametrize("name", ["gone-1.whl", "broken.gluewheels.zip"])
def test_a_file_that_cannot_be_read_is_told(install, tmp_path, name):
    (tmp_path / "broken.gluewheels.zip").write_text("no zip")
    with pytest.raises(ConfigError, match=f"no file {name}|{name} is not a zip file"):
        install(f"{tmp_path}/{name}")


def test_two_jobs_at_once_share_one_installation_and_another_content_has_its_own(install, tmp_path):
    old = install(str(wheel(tmp_path, "shared", code="WORD = 'old'\n")), "--no-index")
    path = str(wheel(tmp_path, "shared", code="WORD = 'new'\n"))
    made = []
    threads = [threading.Thread(target=lambda: made.append(install(path, "--no-index"))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({one.folder for one in made}) == 1
    assert [ran(one, "import shared; print(shared.WORD)") for one in (old, made[0])] == ["old", "new"]


def test_what_is_in_use_stays_and_what_a_killed_process_left_goes(install, home, tmp_path):
    paths = [str(wheel(tmp_path, f"kept_{number}")) for number in range(3)]
    used, unused = (install(path, "--no-index") for path in paths[:2])
    unused.lock.close()
    left = home / "python-modules" / ".0123.building"
    left.mkdir()
    newest = install(paths[2], "--no-index", kept_bytes=0)
    assert [one.folder.exists() for one in (used, newest, unused)] == [True, True, False]
    assert not left.exists()


def test_a_cache_that_cannot_be_written_to_gives_way_to_the_state_folder(tmp_path):
    (tmp_path / "home").write_text("a file")
    environ = {"GLUEPOT_HOME": str(tmp_path / "home"), "GLUEPOT_STATE": str(tmp_path / "state")}
    assert root_of(environ) == tmp_path / "state" / "python-modules"


def test_a_process_imports_the_modules_and_forgets_them(tmp_path):
    with zipfile.ZipFile(wheel(tmp_path, "imported_here", "7")) as archive:
        archive.extractall(tmp_path)
    path = list(sys.path)
    with on_path(tmp_path):
        assert __import__("imported_here").VERSION == "7"
    assert sys.path == path


def test_another_version_of_what_gluepot_runs_with_is_refused(tmp_path):
    wheel(tmp_path, "numpy", "1.26.4")
    with zipfile.ZipFile(tmp_path / "numpy-1.26.4-py3-none-any.whl") as archive:
        archive.extractall(tmp_path / "site")
    with pytest.raises(ConfigError, match=r"installs numpy 1\.26\.4, but Gluepot runs with numpy 2"):
        on_path(tmp_path / "site").__enter__()

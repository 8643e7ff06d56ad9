"""upload_files: files of this machine in the file inputs of a page."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.harness import Home
from tests.e2e.stage import HEAR, Stage, refused
from tests.site import Site

CHANGES = f"{HEAR}<script>hear('input', 'change')</script>"
HELD = "[...document.querySelector('input').files].map(file => file.name)"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Three files."""
    names = ("one.txt", "two words ü.csv", "three.bin")
    for number, name in enumerate(names):
        (tmp_path / name).write_text(f"content {number}", "utf-8")
    return [str(tmp_path / name) for name in names]


@pytest.mark.parametrize(
    ("html", "selector"),
    [
        ("<input type=file id=f>", "#f"),
        ("<input type=file id=f hidden>", "#f"),
        ("<label for=f>Choose a file</label><input type=file id=f style='display: none'>", "text=Choose a file"),
        ("<label><span>Pick</span><input type=file style='opacity: 0'></label>", "text=Pick"),
        ("<div><button onclick='f.click()'>Browse</button><input type=file id=f hidden></div><p>else", "text=Browse"),
        ("<div><button>Browse</button></div><form><input type=file id=f hidden></form>", "role=button[name=Browse]"),
        ("<div id=zone>Drop here<p><input type=file hidden></div>", "#zone"),
    ],
)
def test_a_file(stage: Stage, files: list[str], html: str, selector: str) -> None:
    """Into the input itself, seen or hidden, or by what people click for it; by trusted events, no dialog opens."""
    stage.show(html + CHANGES)
    answer = stage.ok("upload_files", selector=selector, paths=files[:1])
    assert "warnings" not in answer
    assert stage.js(HELD) == ["one.txt"]
    assert [(event["type"], event["trusted"]) for event in stage.heard()] == [("input", True), ("change", True)]
    assert stage.js("await document.querySelector('input').files[0].text()") == "content 0"


@pytest.mark.core
def test_several_files_replace_what_was_there(stage: Stage, files: list[str]) -> None:
    """They are set, not added."""
    stage.show("<input type=file id=f multiple>" + CHANGES)
    stage.ok("upload_files", selector="#f", paths=files[:2])
    assert stage.js(HELD) == ["one.txt", "two words ü.csv"]
    stage.ok("upload_files", selector="#f", paths=files[2:])
    assert stage.js(HELD) == ["three.bin"]


def test_wrong_paths_are_refused(stage: Stage, files: list[str], tmp_path: Path) -> None:
    """By name, before anything happens, also where others are right."""
    stage.show("<input type=file id=f multiple>" + CHANGES)
    missing = str(tmp_path / "missing.txt")
    for paths, said in (
        ([files[0], missing], f"'{missing}' does not exist."),
        ([str(tmp_path)], f"'{tmp_path}' is no file."),
        (["x" * 3000], "xxx…' cannot be a file."),
        (["/\x00"], "does not exist."),
        (["~nobody-of-that-name/x"], "cannot be a file."),
        ([], "'paths'"),
    ):
        assert said in refused(stage.call("upload_files", selector="#f", paths=paths), "invalid_argument")
    assert stage.heard() == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_refused(stage: Stage, files: list[str]) -> None:
    """By name."""
    Path(files[0]).chmod(0)
    stage.show("<input type=file id=f>")
    assert "cannot be read" in refused(stage.call("upload_files", selector="#f", paths=files[:1]), "invalid_argument")


@pytest.mark.parametrize(
    ("html", "code", "said"),
    [
        ("<input type=file id=f>", "invalid_argument", "takes one file only"),
        ("<input type=file id=f multiple disabled>", "not_actionable", "is disabled"),
        ("<button id=f>Go</button>", "not_actionable", "is no file input and leads to none, or to several"),
        (
            "<button id=f>Go</button><input type=file><input type=file>",
            "not_actionable",
            "leads to none, or to several",
        ),
    ],
)
def test_inputs_that_do_not_take_them(stage: Stage, files: list[str], html: str, code: str, said: str) -> None:
    """Nothing is set."""
    stage.show(html + CHANGES)
    assert said in refused(stage.call("upload_files", selector="#f", paths=files[:2], timeout=100), code)
    assert stage.heard() == []


def test_a_page_that_empties_its_input_is_told(stage: Stage, files: list[str]) -> None:
    """The files were taken; many pages send them at once and start anew."""
    stage.show("<input type=file id=f onchange='taken = f.files[0].name; f.value = ``'>")
    [warning] = stage.ok("upload_files", selector="#f", paths=files[:1])["warnings"]
    assert warning == "The input took the files; the page then left none in it."
    assert stage.js("taken") == "one.txt"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same-origin", "cross-origin"])
def test_inputs_in_frames(stage: Stage, files: list[str], host: str) -> None:
    """Hidden behind a button in there."""
    told = "<p id=out></p><script>f.onchange = () => { out.textContent = `got ${f.files.length}` }</script>"
    page = f"<button>Attach</button><input type=file id=f multiple hidden>{told}"
    stage.show(f"<iframe src='{stage.page(page).replace('127.0.0.1', host)}'></iframe>")
    stage.ok("upload_files", selector="text=Attach", paths=files)
    stage.ok("wait_for", selector="#out", text="got 3")


def test_an_input_in_a_shadow_root_as_a_step(stage: Stage, files: list[str]) -> None:
    """By its label."""
    stage.show(
        "<x-a></x-a><script>root = document.querySelector('x-a').attachShadow({mode: 'open'});"
        "root.innerHTML = '<label>Photo<input type=file hidden></label>'</script>"
    )
    step = {"action": "upload_files", "selector": "text=Photo", "paths": files[:1]}
    assert stage.ok("execute_sequence", actions=[step])["completed"] == 1
    assert stage.js("root.querySelector('input').files[0].name") == "one.txt"


def test_a_driver_that_takes_no_files(home: Home, site: Site, files: list[str]) -> None:
    """One of this machine finds them where they are; one far away cannot, which is told, and nothing is set."""
    url = site.page("/", "<input type=file id=f>")
    with home.serve() as server:
        server.ok("start_browser", sessionId="far", navigationUrl=url)
        driver = home.record("far").remote_url
        _make_far(home, driver)
        server.ok("upload_files", selector="#f", paths=files[:1])
        assert server.ok("execute_script", script="return f.files[0].text()")["value"] == "content 0"
        _make_far(home, driver.replace("127.0.0.1", "127.0.0.2"))
        text = refused(server.call("upload_files", selector="#f", paths=files[:1]), "unsupported")
        assert "does not know the command se/file" in text
        server.ok("close_session", sessionId="far")


def _make_far(home: Home, url: str) -> None:
    """Let the session's record say that nothing on this machine drives it, and where its remote end is."""
    with closing(sqlite3.connect(home.folder / "sessions.db")) as db, db:
        [[text]] = db.execute("SELECT record FROM sessions WHERE id = 'far'")
        record = json.loads(text) | {"provider": "remote_url", "remoteUrl": url}
        for process in record["processes"]:
            process["beside"] = True
        db.execute("UPDATE sessions SET record = ? WHERE id = 'far'", (json.dumps(record),))

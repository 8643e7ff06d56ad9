"""upload_files: files of this machine for the file inputs of a page."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.harness import Home
from tests.e2e.stage import HEAR, Stage, refused
from tests.servers.site import Site

pytestmark = pytest.mark.full

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
def test_a_file_is_uploaded_by_its_input_or_by_what_people_click_for_it(
    stage: Stage, files: list[str], html: str, selector: str
) -> None:
    """Files are set on an input, visible or hidden, or by its label, button or drop zone, with trusted events."""
    stage.show(html + CHANGES)
    answer = stage.ok("upload_files", selector=selector, paths=files[:1])
    assert "warnings" not in answer
    assert stage.js(HELD) == ["one.txt"]
    assert [(event["type"], event["trusted"]) for event in stage.heard()] == [("input", True), ("change", True)]
    assert stage.js("await document.querySelector('input').files[0].text()") == "content 0"


@pytest.mark.core
def test_uploaded_files_replace_those_set_before(stage: Stage, files: list[str]) -> None:
    """Files are set, not added to those of the input."""
    stage.show("<input type=file id=f multiple>" + CHANGES)
    stage.ok("upload_files", selector="#f", paths=files[:2])
    assert stage.js(HELD) == ["one.txt", "two words ü.csv"]
    stage.ok("upload_files", selector="#f", paths=files[2:])
    assert stage.js(HELD) == ["three.bin"]


def test_an_upload_with_an_invalid_path_is_refused_as_a_whole(stage: Stage, files: list[str], tmp_path: Path) -> None:
    """A wrong path is named before anything happens, even among valid paths."""
    stage.show("<input type=file id=f multiple>" + CHANGES)
    missing = str(tmp_path / "missing.txt")
    for paths, said in (
        ([files[0], missing], f"'{missing}' does not exist."),
        ([str(tmp_path)], f"'{tmp_path}' is not a file."),
        (["x" * 3000], "xxx…' cannot be a file."),
        (["/\x00"], "cannot be a file: embedded null byte."),
        (["~nobody-of-that-name/x"], "cannot be a file: "),
        ([], "'paths'"),
    ):
        assert said in refused(stage.call("upload_files", selector="#f", paths=paths), "invalid_argument")
    assert stage.heard() == []


def test_uploading_an_unreadable_file_is_refused(home: Home, files: list[str]) -> None:
    """A file that this user cannot read is refused by name; root cannot read what Linux only takes writes for."""
    Path(files[0]).chmod(0)
    path = "/sys/bus/platform/uevent" if os.geteuid() == 0 else files[0]
    with home.serve(file_roots=path) as server:
        server.ok("navigate", url="data:text/html,<input type=file id=f>")
        text = refused(server.call("upload_files", selector="#f", paths=[os.path.realpath(path)]), "invalid_argument")
    assert f"{os.path.realpath(path)!r} cannot be read." in text


@pytest.mark.parametrize(
    ("html", "code", "expected"),
    [
        ("<input type=file id=f>", "invalid_argument", "takes one file only"),
        ("<input type=file id=f multiple disabled>", "not_actionable", "is disabled"),
        ("<button id=f>Go</button>", "not_actionable", "is not a file input and leads to none, or to several"),
        (
            "<button id=f>Go</button><input type=file><input type=file>",
            "not_actionable",
            "leads to none, or to several",
        ),
    ],
)
def test_an_upload_is_refused_where_no_input_can_take_the_files(
    stage: Stage, files: list[str], html: str, code: str, expected: str
) -> None:
    """Nothing is set if the input takes one file only, is disabled, or cannot be determined."""
    stage.show(html + CHANGES)
    assert expected in refused(stage.call("upload_files", selector="#f", paths=files[:2], timeout=100), code)
    assert stage.heard() == []


EMPTIED = "The page has emptied the input since it got the files: it took them over, or does not want them."


@pytest.mark.parametrize(
    ("handler", "warning"),
    [
        ("<input type=file id=f onchange='read(); f.value = ``'>", EMPTIED),
        (
            "<input type=file id=f><script>addEventListener('input', () => { read(); f.value = `` }, true)</script>",
            EMPTIED,
        ),
        (
            "<input type=file id=f onchange='read(); f.files = other()'>",
            "The page has changed the input's files since it got them: it now holds small.txt.",
        ),
    ],
    ids=["emptied", "emptied at once", "changed"],
)
def test_a_page_that_changes_its_file_input_gives_a_warning(
    stage: Stage, files: list[str], handler: str, warning: str
) -> None:
    """The warning says what the input holds now, and not that it got nothing."""
    stage.show(
        "<script>read = () => { taken = f.files[0].name }; other = () => { const one = new DataTransfer();"
        f"one.items.add(new File([1], 'small.txt')); return one.files }}</script>{handler}"
    )
    assert stage.ok("upload_files", selector="#f", paths=files[:1])["warnings"] == [warning]
    assert stage.js("taken") == "one.txt"


@pytest.mark.parametrize(
    "handler",
    ["this.form.submit()", "location.reload()", "f.remove()", "f.replaceWith(f.cloneNode())"],
    ids=["submitted", "reloaded", "removed", "replaced"],
)
def test_an_input_that_is_gone_after_an_upload_gives_no_warning(stage: Stage, files: list[str], handler: str) -> None:
    """Forms that send themselves and pages that make a new input for the next file have taken the file."""
    stage.show(f"<form><input type=file id=f onchange='{handler}'></form>")
    assert "warnings" not in stage.ok("upload_files", selector="#f", paths=files[:1])


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same-origin", "cross-origin"])
def test_files_are_uploaded_in_frames_of_any_origin(stage: Stage, files: list[str], host: str) -> None:
    """A hidden file input in a frame is reached by its button."""
    told = "<p id=out></p><script>f.onchange = () => { out.textContent = `got ${f.files.length}` }</script>"
    page = f"<button>Attach</button><input type=file id=f multiple hidden>{told}"
    stage.show(f"<iframe src='{stage.page(page).replace('127.0.0.1', host)}'></iframe>")
    stage.ok("upload_files", selector="iframe >> text=Attach", paths=files)
    stage.ok("wait_for", selector="#out", text="got 3")


def test_an_upload_step_reaches_an_input_in_a_shadow_root(stage: Stage, files: list[str]) -> None:
    """A step of a sequence uploads a file by the label of an input in a shadow root."""
    stage.show(
        "<x-a></x-a><script>root = document.querySelector('x-a').attachShadow({mode: 'open'});"
        "root.innerHTML = '<label>Photo<input type=file hidden></label>'</script>"
    )
    step = {"action": "upload_files", "selector": "text=Photo", "paths": files[:1]}
    assert stage.ok("execute_sequence", actions=[step])["completed"] == 1
    assert stage.js("root.querySelector('input').files[0].name") == "one.txt"


def test_an_upload_is_refused_by_a_remote_driver_that_takes_no_files(home: Home, site: Site, files: list[str]) -> None:
    """A local driver reads the files itself; a remote one without se/file refuses the upload."""
    url = site.page("/", "<input type=file id=f>")
    with home.serve() as server:
        server.ok("start_browser", sessionId="far", navigationUrl=url)
        driver = home.record("far").remote_url
        _make_far(home, driver)
        server.ok("upload_files", selector="#f", paths=files[:1])
        assert server.ok("execute_script", script="return f.files[0].text()")["value"] == "content 0"
        _make_far(home, driver.replace("127.0.0.1", "127.0.0.2"))
        text = refused(server.call("upload_files", selector="#f", paths=files[:1]), "unsupported")
        assert "lacks the command se/file" in text
        server.ok("close_session", sessionId="far")


def _make_far(home: Home, url: str) -> None:
    """Change the session's record to a remote end without any process of this machine."""
    with closing(sqlite3.connect(home.folder / "sessions.db")) as db, db:
        [[text]] = db.execute("SELECT record FROM sessions WHERE id = 'far'")
        record = json.loads(text) | {"provider": "remote_url", "remoteUrl": url}
        for process in record["processes"]:
            process["beside"] = True
        db.execute("UPDATE sessions SET record = ? WHERE id = 'far'", (json.dumps(record),))

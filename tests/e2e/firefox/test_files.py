"""File choosers and downloads of Firefox, which BiDi reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.stage import Stage, refused
from tests.servers.site import Reply
from tests.waiting import until

pytestmark = pytest.mark.full

FILE = {"Content-Disposition": "attachment; filename=tea.bin"}


def events(stage: Stage) -> str:
    """Return the events that the next call of the session reports, as one text."""
    return " ".join(stage.ok("get_text", sessionId="fox").get("events", ()))


def test_a_file_chooser_of_firefox_is_reported_with_a_ref_for_upload_files(fox: Stage, tmp_path: Path) -> None:
    """The event names the hidden input behind a button, which then takes the file."""
    file = tmp_path / "a.txt"
    file.write_text("x")
    fox.show("<input type=file id=f hidden><button onclick='f.click()'>Choose</button>", sessionId="fox")
    told = " ".join(fox.ok("click_element", selector="text=Choose", sessionId="fox").get("events", ()))
    told = told or str(until(lambda: events(fox), "the event"))
    assert "The page asks for a file for" in told
    ref = told.partition("with selector ")[2].split()[0]
    fox.ok("upload_files", selector=ref, paths=[str(file)], sessionId="fox")
    assert fox.js("f.files[0].name", sessionId="fox") == "a.txt"
    answer = fox.server.call("set_policy", filePickers="deny", sessionId="fox")
    assert "no command to close one" in refused(answer, "unsupported")


def test_a_download_of_firefox_is_saved_or_denied_by_policy(fox: Stage) -> None:
    """The file is in the session's folder, and its path in an event; under `deny` there is none."""
    url = fox.site.page("/tea", Reply(b"tea", 200, "application/octet-stream", FILE))
    fox.show(f"<a href='{url}'>Get</a>", sessionId="fox")
    told = " ".join(fox.ok("click_element", selector="text=Get", sessionId="fox").get("events", ()))
    told = told or str(until(lambda: events(fox), "the event"))
    path = Path(told.partition("was downloaded to ")[2].strip().rstrip("."))
    assert path.read_bytes() == b"tea"
    fox.ok("set_policy", downloads="deny", sessionId="fox")
    told = " ".join(fox.ok("click_element", selector="text=Get", sessionId="fox").get("events", ()))
    told = told or str(until(lambda: events(fox), "the event"))
    assert "was denied by policy" in told
    fox.ok("set_policy", downloads="raise", sessionId="fox")

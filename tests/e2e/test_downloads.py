"""Downloads of a browser on this machine: where they go, and who is told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.e2e.harness import until
from tests.e2e.stage import Stage
from tests.served import Answer
from tests.site import Reply

FOLDER = Path("downloads", "stage", "browser")


def offered(stage: Stage, path: str, body: bytes, name: str) -> str:
    """A file on the site, under a name of the site's choice; its address."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return stage.site.page(path, Reply(body, content_type="application/octet-stream", headers=headers))


def told(stage: Stage, answer: Answer, part: str, name: str = "browser") -> str:
    """The event of a download, of this answer or one of the next."""

    def look() -> str:
        nonlocal answer
        found = [event for event in answer.data.get("events", []) if part in event]
        if not found:
            answer = stage.call("get_text", sessionId=name)
        return found[0] if found else ""

    return until(look, "the event")


def test_a_download_is_told_with_its_path(stage: Stage) -> None:
    """It is in the session's folder below home, whole; a later one of the name takes its place."""
    folder = Path(os.environ["ORCHESTRATOR_HOME"]) / FOLDER
    stage.show("<a href=/report>Get</a>")
    for body in (b"first" * 1000, b"second"):
        offered(stage, "/report", body, "report.pdf")
        event = told(stage, stage.call("click_element", selector="text=Get"), "report")
        assert event == f"'report.pdf' was downloaded to {folder / 'report.pdf'}."
        assert (folder / "report.pdf").read_bytes() == body
    assert "events" not in stage.ok("get_text"), "each is told once"


@pytest.mark.parametrize("name", ["../../outside.txt", "/etc/passwd", "..\\..\\outside.txt", ".hidden", "con.txt"])
def test_a_name_leads_nowhere_else(stage: Stage, name: str) -> None:
    """Names are the site's: whatever they say, the file is in the folder."""
    folder = Path(os.environ["ORCHESTRATOR_HOME"]) / FOLDER
    stage.show(f"<a href={offered(stage, '/odd', name.encode(), name)}>Get</a>")
    event = told(stage, stage.call("click_element", selector="text=Get"), "was downloaded to")
    path = Path(event.partition(" was downloaded to ")[2].removesuffix("."))
    assert path.parent == folder
    assert path.read_bytes() == name.encode()


def test_what_a_page_makes_itself_is_downloaded_too(stage: Stage) -> None:
    """By a link with `download`, with a name of the page's choice."""
    stage.show("<a download='made by page.txt' href='data:text/plain,made'>Get</a>")
    event = told(stage, stage.call("click_element", selector="text=Get"), "made")
    assert Path(event.partition(" was downloaded to ")[2].removesuffix(".")).read_text("utf-8") == "made"


def test_going_to_a_file_downloads_it(stage: Stage) -> None:
    """The page stays, and the call has not failed."""
    here = stage.show("<p>here")
    url = offered(stage, "/direct", b"direct", "direct.bin")
    answer = stage.call("navigate", url=url)
    assert not answer.failed, answer.text
    assert answer.data["url"] == here
    assert told(stage, answer, "direct.bin").startswith("'direct.bin' was downloaded to ")


def test_a_download_that_breaks_off_is_told(stage: Stage) -> None:
    """With its name; there is no file."""
    headers = {"Content-Disposition": 'attachment; filename="broken.bin"', "Content-Length": "100000"}
    stage.site.page("/broken", Reply(b"x", content_type="application/octet-stream", headers=headers))
    stage.show("<a href=/broken>Get</a>")
    event = told(stage, stage.call("click_element", selector="text=Get"), "broken.bin")
    assert event == "The download of 'broken.bin' ended without a file."


def test_each_context_has_a_folder_of_its_own(stage: Stage) -> None:
    """Also when another session in the same browser was started later, and after a policy that stopped downloads."""
    for name in ("shop", "shop:ann"):
        stage.ok("start_browser", sessionId=name)
    url = offered(stage, "/mine", b"mine", "mine.bin")
    for change in ("", "deny", "raise"):
        if change:
            stage.ok("set_policy", sessionId="shop", downloads=change)
        for name in ("shop", "shop:ann"):
            folder = Path(os.environ["ORCHESTRATOR_HOME"], "downloads", "stage", name)
            stage.show(f"<a href={url}>Get</a>", sessionId=name)
            event = told(stage, stage.call("click_element", selector="text=Get", sessionId=name), "mine", name)
            stopped = change == "deny" and name == "shop"
            assert ("was stopped" if stopped else f"downloaded to {folder / 'mine.bin'}") in event
    for name in ("shop", "shop:ann"):
        stage.ok("close_session", sessionId=name)

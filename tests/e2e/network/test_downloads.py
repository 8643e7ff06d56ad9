"""Downloads of a browser on this machine: their folders, and the events that report them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.e2e.harness import NAMESPACE, Home
from tests.e2e.stage import Stage
from tests.servers.endless import endless_download
from tests.servers.mcp import Answer
from tests.servers.site import Reply, Site
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.full

FOLDER = Path("downloads", "stage", "browser")


def offered(stage: Stage, path: str, body: bytes, name: str) -> str:
    """Offer a file on the site, under a name of the site's choice; return its address."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return stage.site.page(path, Reply(body, content_type="application/octet-stream", headers=headers))


def download_event(stage: Stage, answer: Answer, part: str, name: str = "browser") -> str:
    """Return the event of a download, from this answer or one of the next."""

    def look() -> str:
        nonlocal answer
        found = [event for event in answer.data.get("events", []) if part in event]
        if not found:
            answer = stage.call("get_text", sessionId=name)
        return found[0] if found else ""

    return until(look, "the event")


def test_a_download_is_reported_with_its_path(stage: Stage) -> None:
    """A download is complete in the session's folder below home; a later one of the same name replaces it.

    Firefox gives the later one a name of its own.
    """
    folder = Path(os.environ["ORCHESTRATOR_HOME"]) / FOLDER
    stage.show("<a href=/report>Get</a>")
    for body, later in ((b"first" * 1000, ""), (b"second", "(1)")):
        name = f"report{later if stage.browser == 'firefox' else ''}.bin"
        offered(stage, "/report", body, "report.bin")
        event = download_event(stage, stage.call("click_element", selector="text=Get"), "report")
        assert event == f"{name!r} was downloaded to {folder / name}."
        assert (folder / name).read_bytes() == body
    assert "events" not in stage.ok("get_text"), "each is told once"


@pytest.mark.parametrize("name", ["../../outside.txt", "/etc/passwd", "..\\..\\outside.txt", ".hidden", "con.txt"])
def test_a_download_name_with_a_path_stays_in_the_download_folder(stage: Stage, name: str) -> None:
    """The file is in the session's folder, whatever path the site put into its name."""
    folder = Path(os.environ["ORCHESTRATOR_HOME"]) / FOLDER
    stage.show(f"<a href={offered(stage, '/odd', name.encode(), name)}>Get</a>")
    event = download_event(stage, stage.call("click_element", selector="text=Get"), "was downloaded to")
    path = Path(event.partition(" was downloaded to ")[2].removesuffix("."))
    assert path.parent == folder
    assert path.read_bytes() == name.encode()


def test_a_data_url_behind_a_download_link_is_downloaded(stage: Stage) -> None:
    """A link with `download` saves data made by the page, under a name of its choice."""
    stage.show("<a download='made by page.txt' href='data:text/plain,made'>Get</a>")
    event = download_event(stage, stage.call("click_element", selector="text=Get"), "made")
    assert Path(event.partition(" was downloaded to ")[2].removesuffix(".")).read_text("utf-8") == "made"


def test_navigating_to_a_file_downloads_it_and_keeps_the_page(stage: Stage) -> None:
    """The page stays, and the call succeeds."""
    here = stage.show("<p>here")
    url = offered(stage, "/direct", b"direct", "direct.bin")
    answer = stage.call("navigate", url=url)
    assert not answer.failed, answer.text
    assert answer.data["url"] == here
    assert download_event(stage, answer, "direct.bin").startswith("'direct.bin' was downloaded to ")


def test_a_download_that_breaks_off_is_reported_as_such(stage: Stage) -> None:
    """The event names the download and reports that there is no file; Firefox leaves what came of it."""
    headers = {"Content-Disposition": 'attachment; filename="broken.bin"', "Content-Length": "100000"}
    stage.site.page("/broken", Reply(b"x", content_type="application/octet-stream", headers=headers))
    stage.show("<a href=/broken>Get</a>")
    event = download_event(stage, stage.call("click_element", selector="text=Get"), "broken.bin")
    path = Path(os.environ["ORCHESTRATOR_HOME"], FOLDER, "broken.bin")
    broken = f"The download of 'broken.bin' broke off: 1 of 100,000 bytes are in {path}."
    # Firefox ends it as cancelled, too, if it had begun to save the file before the break.
    assert event in {"The download of 'broken.bin' ended without a file.", *([broken] if path.exists() else ())}


def test_each_context_has_a_download_folder_of_its_own(stage: Stage) -> None:
    """Each context keeps its folder when another one starts later, and after a policy stopped downloads."""
    for name in ("shop", "shop:ann"):
        stage.ok("start_browser", sessionId=name)
    url = offered(stage, "/mine", b"mine", "mine.bin")
    for change in ("", "deny", "raise"):
        if change:
            stage.ok("set_policy", sessionId="shop", downloads=change)
        for name in ("shop", "shop:ann"):
            folder = Path(os.environ["ORCHESTRATOR_HOME"], "downloads", "stage", name)
            stage.show(f"<a href={url}>Get</a>", sessionId=name)
            event = download_event(
                stage, stage.call("click_element", selector="text=Get", sessionId=name), "mine", name
            )
            stopped = change == "deny" and name == "shop"
            assert ("was denied" if stopped else f"downloaded to {folder / 'mine.bin'}") in event
    for name in ("shop", "shop:ann"):
        stage.ok("close_session", sessionId=name)


def test_a_download_is_cancelled_once_the_session_has_downloaded_too_much(home: Home, site: Site) -> None:
    """An endless download ends by itself, while no call is made; its beginning is removed, and a later one may come."""
    with home.serve(downloads_max="20", tools="all") as server, endless_download() as endless:
        server.ok("start_browser", sessionId="browser")
        stage = Stage(server, site)
        folder = home.folder / "downloads" / NAMESPACE / "browser"
        stage.show(
            f"<a href={endless.url}>Get all</a> <a href={offered(stage, '/small', b'small', 'small.bin')}>Get</a>"
        )
        answer = stage.call("click_element", selector="text=Get all")
        assert endless.ended.wait(PATIENCE)
        assert download_event(stage, answer, "endless.bin") == (
            "The download of 'endless.bin' was cancelled: a session's downloads may have 20 MB and 1,000 files "
            "together (setting downloads_max). Move or remove earlier ones."
        )
        until(lambda: not [*folder.iterdir()], "the removal of what was loaded")
        event = download_event(stage, stage.call("click_element", selector="text=Get"), "small.bin")
        assert "was downloaded to" in event

        (folder / "small.bin").unlink()
        (folder / "large").write_bytes(b"x" * 21_000_000)
        event = download_event(stage, stage.call("click_element", selector="text=Get"), "small")
        assert "was cancelled: a session's downloads" in event
        until(lambda: [path.name for path in folder.iterdir()] == ["large"], "the removal")

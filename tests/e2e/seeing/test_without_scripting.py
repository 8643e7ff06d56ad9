"""Documents in which no script of the page runs and no timer fires: raw files, mails, previews."""

from __future__ import annotations

import pytest

from tests.e2e.stage import Stage
from tests.servers.site import Reply

pytestmark = pytest.mark.full

MAIL = """<!doctype html><title>Mail</title><h1>Offer</h1><p>Dear Ann</p><a href="#details">Details</a>
<input aria-label="Answer"><div style="height:3000px"></div><h2 id="details">More</h2>"""


@pytest.fixture
def mail(stage: Stage) -> Stage:
    """A session at a document that its server put into a sandbox."""
    url = stage.site.page("/mail", Reply(MAIL, headers={"Content-Security-Policy": "sandbox"}))
    stage.ok("navigate", url=url)
    return stage


def test_a_document_without_scripting_is_read(mail: Stage) -> None:
    """Outline and text are those of any document."""
    assert [line.partition(" [")[0] for line in mail.outline(scope="page")] == [
        '- heading "Offer"',
        "- text: Dear Ann",
        '- link "Details"',
        '- textbox "Answer"',
        '- heading "More"',
    ]
    assert mail.ok("get_text", selector="p")["text"] == "Dear Ann"


def test_a_document_without_scripting_is_acted_in(mail: Stage) -> None:
    """Click, hover, typing and scrolling end as soon as they are done."""
    mail.ok("hover", selector="text=Details")
    mail.ok("set_value", selector="label=Answer", value="Yes")
    assert not mail.call("expect", selector="label=Answer", value="Yes").failed
    mail.ok("click_element", selector="text=Details")
    assert any('heading "More"' in line for line in mail.outline())
    mail.ok("scroll", direction="up", pixels=100_000)
    assert any('heading "Offer"' in line for line in mail.outline())


def test_a_full_page_picture_of_a_document_without_scripting_is_taken(mail: Stage) -> None:
    """The picture is as high as the document."""
    assert not mail.call("take_screenshot", fullPage=True).failed


def test_a_frame_without_scripting_is_read_and_acted_in(stage: Stage) -> None:
    """`<iframe sandbox>` is a document of another origin in which no timer fires."""
    stage.show("<iframe sandbox srcdoc='<label>Name <input></label><button>Go</button>'></iframe>")
    assert any('button "Go"' in line for line in stage.outline())
    stage.ok("set_value", selector="label=Name", value="Ann")
    stage.ok("click_element", selector="text=Go")
    assert not stage.call("expect", selector="label=Name", value="Ann").failed

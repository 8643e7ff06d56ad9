"""The actions of the self-test in a browser, on the page of this package."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from orchestrator.cli.doctor.check.page import data_page
from orchestrator.cli.doctor.check.steps import CheckStep, LeftOut, describe_screenshot, require
from orchestrator.cli.doctor.check.target import LOCAL
from orchestrator.errors import OrchestratorError
from orchestrator.session import Session
from orchestrator.system.machine import is_this_machine

_TITLE = "Check"
_STATUS = "role=status"
_REF = re.compile(r'button "Press" \[(e\d+)\]')
_COOKIE = "check"
_TYPED = "Ada Byron ä"
_NO_SITE = "A data: page has no cookies."
_MAYBE_ELSEWHERE = (
    "If its browser runs elsewhere, such as in a container, give --url, this machine's address as it reaches it."
)
_GIVE_URL = "Give --url, this machine's address as the browser reaches it, to test them."


class WebCheck:
    """The actions in one browser.

    Args:
        url: The page's address on this machine, or as a browser elsewhere reaches it.
        is_reachable: True for the latter. Without it browsers elsewhere and on phones get a `data:` page.
        on_phone: True for a phone's browser, which has one tab.
    """

    def __init__(self, url: str, *, is_reachable: bool, on_phone: bool) -> None:
        self._url = url
        self._is_reachable = is_reachable
        self._on_phone = on_phone
        self._button = "role=button[name=Press]"

    def steps(self) -> Sequence[CheckStep]:
        """Return the actions between start and end, in order."""
        frames = "switch_frame" if self._on_phone else "switch_frame, tabs"
        return [
            CheckStep("navigate", self._navigate, is_first=True),
            CheckStep("get_visible_elements", self._outline),
            CheckStep("click_element", self._click),
            CheckStep("set_value", self._set_value),
            CheckStep("press_keys", self._press_keys),
            CheckStep("wait_for", self._wait_for),
            CheckStep("take_screenshot", self._screenshot),
            CheckStep("execute_script", self._script),
            CheckStep(frames, self._frames if self._on_phone else self._frames_and_tabs),
            CheckStep("cookies", self._cookies),
        ]

    async def _navigate(self, session: Session) -> str:
        if not self._is_reachable and (self._on_phone or not _is_here(session)):
            self._url = data_page()
        try:
            done = await session.navigate(self._url)
        except OrchestratorError as error:
            if not self._is_reachable and not self._is_data and session.facts.provider != LOCAL:
                error.hint = f"{error.hint} {_MAYBE_ELSEWHERE}".strip()
            raise
        require(done.title == _TITLE, f"The page's title is {done.title!r}, not {_TITLE!r}.")
        return "a data: page" if self._is_data else self._url

    async def _outline(self, session: Session) -> str:
        found = await session.get_visible_elements()
        ref = _REF.search(found.outline or "")
        require(ref, "The outline has no button Press.")
        if ref:
            self._button = ref[1]
        require('textbox "Name"' in (found.outline or ""), "The outline has no text field Name.")
        return f"{found.shown} elements"

    async def _click(self, session: Session) -> str:
        await session.click_element(self._button)
        await session.expect(_STATUS, text="pressed")
        return ""

    async def _set_value(self, session: Session) -> str:
        await session.set_value("label=Name", _TYPED)
        await session.expect("label=Name", value=_TYPED)
        return ""

    async def _press_keys(self, session: Session) -> str:
        await session.click_element("label=Note")
        await session.press_keys(text="so")
        await session.press_keys("Enter")
        await session.expect(_STATUS, text="noted so")
        return ""

    async def _wait_for(self, session: Session) -> str:
        await session.click_element("role=button[name=Later]", observe="none")
        await session.wait_for(text="it came")
        return ""

    async def _screenshot(self, session: Session) -> str:
        return describe_screenshot(await session.take_screenshot())

    async def _script(self, session: Session) -> str:
        found = await session.execute_script("return Promise.resolve(args[0] * 7)", args=[6])
        require(found.value == 42, f"6 times 7 is {found.value!r} there.")  # noqa: PLR2004 the answer
        return ""

    async def _frames(self, session: Session) -> str:
        await session.switch_frame("iframe")
        try:
            await session.click_element("role=button")
            await session.expect("role=button", text="Pressed inside")
        finally:
            await session.switch_frame()
        return ""

    async def _frames_and_tabs(self, session: Session) -> str:
        await self._frames(session)
        first = await session.tabs("list")
        opened = await session.tabs("new")
        require(len(opened.tabs) == len(first.tabs) + 1, f"A new tab makes {len(opened.tabs)} of {len(first.tabs)}.")
        left = await session.tabs("close")
        require(len(left.tabs) == len(first.tabs), f"{len(left.tabs)} tabs are left of {len(opened.tabs)}.")
        await session.expect(title=_TITLE)
        return ""

    async def _cookies(self, session: Session) -> str | LeftOut:
        if self._is_data:
            return LeftOut(_NO_SITE, _GIVE_URL)
        await session.cookies("set", _COOKIE, value="1")
        seen = await session.execute_script("return document.cookie")
        require(f"{_COOKIE}=1" in str(seen.value), f"The page sees {seen.value!r} of the cookie that was set.")
        await session.cookies("delete", _COOKIE)
        left = await session.cookies("get")
        require(not left.cookies, f"{len(left.cookies)} cookies are left after the only one was deleted.")
        return ""

    @property
    def _is_data(self) -> bool:
        return self._url.startswith("data:")


def _is_here(session: Session) -> bool:
    """Return True if the remote end is on this machine, as far as its address tells."""
    host = urlsplit(session.facts.remote_url).hostname
    return host is not None and is_this_machine(host)

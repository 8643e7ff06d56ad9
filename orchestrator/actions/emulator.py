"""Makes a session's browser be what its record says that it pretends to be, in every tab."""

from __future__ import annotations

from contextlib import suppress
from math import ceil
from typing import Any

from orchestrator import abilities
from orchestrator.actions.fitting import fit, lay_out_anew, stretch
from orchestrator.actions.pretending import ASPECTS, Commands, by_bidi, by_cdp, device_by_bidi, device_by_cdp, metrics
from orchestrator.actions.turn import Turn
from orchestrator.emulation import HIGHEST, USUAL, Emulation, Viewport
from orchestrator.errors import InvalidArgument, OrchestratorError, RemoteFailure, Unsupported
from orchestrator.models import Tab
from orchestrator.presets import Device, device
from orchestrator.webdriver.bidi import Bidi
from orchestrator.webdriver.remote import Remote

_METRICS, _NO_METRICS = "Emulation.setDeviceMetricsOverride", "Emulation.clearDeviceMetricsOverride"
_REFUSED = "invalid argument"


class Emulator:
    """The emulation of one session.

    BiDi tells the browser once and for all tabs, those that are opened later included, and outlives whoever told it.
    Without it each tab is told by CDP. A device takes both: that a page is laid out as on a phone is CDP's alone.
    """

    def __init__(self, remote: Remote, bidi: Bidi | None, turn: Turn) -> None:
        self._remote = remote
        self._bidi = bidi
        self._turn = turn

    def begin(self) -> None:
        """Tell a browser that has just started all that its record says."""
        wanted = self._turn.record.emulation
        self._turn.change(emulation=Emulation())
        if wanted != Emulation():
            self.change(wanted, self._turn.record.viewport or USUAL)

    def change(self, wanted: Emulation, size: Viewport | None) -> None:
        """Pretend this from now on, the page area being of this size, which a device needs; else None leaves it alone.

        Raises:
            InvalidArgument: The browser does not know this time zone or language; all is as it was.
            Unsupported: The browser cannot do it; all is as it was.
        """
        before, was = self._turn.record.emulation, self._turn.record.viewport
        try:
            self._become(wanted, size)
        except (InvalidArgument, Unsupported):
            with suppress(OrchestratorError):
                self._become(before, was or wanted.window)
                self._turn.change(viewport=was)
            raise

    def _become(self, wanted: Emulation, size: Viewport | None) -> None:
        """Tell the browser what differs; the record follows step by step."""
        resized = bool(wanted.device) and size != self._turn.record.viewport
        had_device = bool(self._turn.record.emulation.device)
        for aspect in ASPECTS:
            before = self._turn.record.emulation
            same = getattr(before, aspect) == getattr(wanted, aspect)
            if same and not (aspect == "device" and resized):
                continue
            by_tab = {*before.by_tab} - {aspect}
            if not self._everywhere(aspect, wanted, size or USUAL):
                by_tab.add(aspect)
                self._here(aspect, wanted, size or USUAL)
            now = {aspect: getattr(wanted, aspect), "window": wanted.window, "by_tab": tuple(sorted(by_tab))}
            self._turn.change(emulation=before.changed(**now))
        self._turn.change(viewport=size)
        if size is not None and (had_device or wanted.device):
            self._lay_out(size, had_device=had_device)

    def resize(self, size: Viewport) -> Viewport:
        """Give the page area this size, of a device, too; what that came to."""
        record = self._turn.record
        if record.emulation.device:
            self.change(record.emulation, size)
            return size
        reached = fit(self._remote, size)
        self._turn.change(viewport=size)
        return reached

    def meet(self, tab: Tab) -> None:
        """Tell a tab that is new what only tabs can be told."""
        one, size = self._device, self._turn.record.viewport
        if one is not None and size is not None:
            with suppress(RemoteFailure):  # it has gone meanwhile
                self._send_to(tab.handle, one, size)

    def selected(self, tab: Tab) -> Tab:
        """Tell the tab that has become current what it was not told yet; the tab as it is now."""
        record = self._turn.record
        wanted, size = record.emulation, record.viewport
        for aspect in wanted.by_tab:
            if getattr(tab.emulation, aspect) != getattr(wanted, aspect):
                self._here(aspect, wanted, size or USUAL)
        if size is not None and (tab.viewport, tab.emulation.device) != (size, wanted.device):
            self._measure(size, was_device=bool(tab.emulation.device))
        return tab.model_copy(update={"viewport": size, "emulation": wanted})

    def stretch(self, width: int, height: int) -> None:
        """Make the current tab's page area so high for a picture; `lay_out_anew` puts it back. Chromium only."""
        if (one := self._device) is None:
            stretch(self._remote, width, height)
            return
        size = self._turn.record.viewport or Viewport(width=one.width, height=one.height)
        high = Viewport(width=size.width, height=min(ceil(height * size.width / width), HIGHEST))
        self._remote.cdp(_METRICS, **metrics(one, high))

    def lay_out_anew(self, width: int, height: int) -> None:
        """Give the page its size and scroll bars back."""
        size = self._turn.record.viewport
        if self._device is None or size is None:
            lay_out_anew(self._remote, width, height)
        else:
            self._measure(size, was_device=True)

    @property
    def _device(self) -> Device | None:
        name = self._turn.record.emulation.device
        return device(name) if name else None

    @property
    def _version(self) -> str:
        return str(self._turn.record.capabilities.get("browserVersion", ""))

    def _everywhere(self, aspect: str, wanted: Emulation, size: Viewport) -> bool:
        """Tell all tabs by BiDi; False where that cannot be."""
        if self._bidi is None:
            return False
        one = device(wanted.device) if wanted.device else None
        commands = device_by_bidi(one, size, self._version) if aspect == "device" else by_bidi(aspect, wanted)
        try:
            for method, params in commands:
                self._bidi.call(method, userContexts=[self._bidi.user_context], **params)
        except RemoteFailure as error:
            if error.details.get("error") == _REFUSED:
                raise _unknown(aspect, wanted) from error
            return False
        return True

    def _here(self, aspect: str, wanted: Emulation, size: Viewport) -> None:
        """Tell the current tab by CDP."""
        if aspect == "device":
            one = device(wanted.device) if wanted.device else None
            commands = device_by_cdp(one, size, self._version, wanted.locale) if one else _NO_DEVICE
        else:
            commands = by_cdp(aspect, wanted)
        abilities.need("emulate", self._turn.record.capabilities.get("browserName"))
        for method, params in commands:
            try:
                self._remote.cdp(method, **params)
            except RemoteFailure as error:
                if error.details.get("error") == _REFUSED:
                    raise _unknown(aspect, wanted) from error
                raise Unsupported(
                    f"This browser emulates no {aspect.replace('_', ' ')}: {error.message}",
                    hint="Leave it away, or use Chrome.",
                ) from error

    def _lay_out(self, size: Viewport, *, had_device: bool) -> None:
        for tab in self._turn.record.tabs:
            self.meet(tab)
        self._measure(size, was_device=had_device)

    def _send_to(self, handle: str, one: Device, size: Viewport) -> None:
        """Tell a tab by the connection that BiDi has to it, where there is one."""
        if self._bidi is None:
            return
        for method, params in device_by_cdp(one, size, self._version, self._turn.record.emulation.locale):
            self._bidi.cdp(method, context=handle, **params)

    def _measure(self, size: Viewport, *, was_device: bool) -> None:
        """Give the current tab's page area this size."""
        one = self._device
        if one is not None:
            # The driver's own connection must know it, too: it puts back what it knows after each picture.
            self._remote.cdp(_METRICS, **metrics(one, size))
            return
        if was_device:
            self._remote.cdp(_NO_METRICS)
        fit(self._remote, size)


_NO_DEVICE: Commands = [
    ("Emulation.setUserAgentOverride", {"userAgent": ""}),
    ("Emulation.setTouchEmulationEnabled", {"enabled": False}),
]


def _unknown(aspect: str, wanted: Emulation) -> InvalidArgument:
    value: Any = getattr(wanted, aspect)
    known = {"timezone": "Such as Europe/Berlin.", "locale": "Such as de-DE."}
    return InvalidArgument(f"The browser does not know the {aspect} {str(value)[:64]!r}.", hint=known.get(aspect, ""))

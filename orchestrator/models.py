"""The nouns as frozen values: a session's record, its id, its processes, and the wish to start one."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field, SecretStr

from orchestrator.emulation import USUAL, Emulation, Viewport
from orchestrator.policies import Approval, Policies
from orchestrator.wire import Kept
from orchestrator.wire import Wire as Wire  # noqa: PLC0414 — the nouns are had from here


class SessionType(StrEnum):
    """Which actions apply to a session, and how a snapshot of it is taken."""

    BROWSER = "browser"
    IOS = "ios"
    ANDROID = "android"


APPS = (SessionType.IOS, SessionType.ANDROID)
"""The types that an app can be on."""


class SessionState(StrEnum):
    """Where a session is in its life: starting, active, parked while its caller is away, then closed.

    It is lost when the remote end is gone.
    """

    STARTING = "starting"
    ACTIVE = "active"
    PARKED = "parked"
    LOST = "lost"
    CLOSED = "closed"


NATIVE = "NATIVE_APP"
"""The context of an app's own screens, as Appium calls it."""

Door = Literal["mcp", "cli", "python"]
Mode = Literal["incognito", "persistent", "attached"]
"""A browser's profile: an empty one that goes with it, one that is kept, or that of a browser which is the user's."""


class ProcessInfo(Wire):
    """A process that we started, known by pid and creation time so that a reused pid is never mistaken for it.

    `folder` is the temporary folder that is removed with it, named by its owner. One `beside` a session drives it not.
    """

    pid: int
    created: float
    name: str
    folder: str | None = None
    beside: bool = False


class ArmedDialog(Wire):
    """The answer that the next dialog gets, whatever the policy says."""

    accept: bool
    prompt_text: str | None = None


class Tab(Wire):
    """A tab by the name that callers use, with the remote end's handle of it.

    `prepared` says that the page engine is put into its documents from their start, `viewport` what it was fitted to,
    `emulation` what it was told to be.
    """

    name: str
    handle: str
    prepared: bool = False
    viewport: Viewport | None = None
    emulation: Emulation = Emulation()


class Instance(Wire):
    """The browser that a session is in, where others may be in it, too; each of their records names its processes.

    `wishes` are digests, by name, of what the start that launched it asked for. `profile` is the browser and the name
    of its profile, where that is kept. `context` is the browser context that the session's tabs are in, `default` the
    one that the browser had from its start. The `root` is the session whose driver session launched the browser; it has
    the BiDi socket. `ready` says that others can share it.
    """

    wishes: dict[str, str] = Field(default_factory=dict)
    profile: str = ""
    default: str = ""
    context: str = ""
    root: bool = False
    ready: bool = False

    @property
    def isolated(self) -> bool:
        """Whether the session has a browser context that was made for it."""
        return bool(self.context) and self.context != self.default


class SessionRecord(Kept):
    """What the store holds of a session: enough to drive it from any process.

    Times are seconds since the epoch. `capabilities` are those that the remote end answered with. `ref_next` is the
    first element ref number that was never reserved in this session, `tab_next` the first number that no tab was named
    by. `tabs_used` are the names of tabs in the order in which they were last current, the current one at the end.
    `frame` are the refs that lead to the frame which selectors are taken in, from the top; empty at the top itself.
    With `strict`, a selector that finds several elements is an error. `context` is where an app session's commands go:
    `NATIVE_APP`, or the web view's name that its remote end gave; empty in a browser. `claims` are what no other
    session of this home may have while it lives: a device, a port. `secret` is the name of the secret that holds the
    remote URL with user and password. `approvals` are the permissions that pages got under the policy `allow`: they
    keep them. `remote_end` is what is to be known of its place (`nodeId`, `nodeUrl`, `liveViewUrl`, `dashboardUrl`);
    after `keep_alive` seconds without a command the remote end would end the session.
    `routes` are the rules for its requests, as `network.rules.Rule` has them, the last added first; `replays` are the
    archives that answer the others (`path`, `notFound`); `har` is where its traffic is recorded to. `routed_by` is the
    process that sees to all that now. From `parked_at` on nobody has looked after it, and at `parked_until` it is
    ended; see `leases`. `world` is the script world that was last used, whichever process has it.
    """

    id: str
    namespace: str
    type: SessionType
    provider: str
    owner: str
    state: SessionState = SessionState.STARTING
    mode: Mode = "incognito"
    instance: Instance | None = None
    owned: bool = True
    remote_url: str = ""
    remote_session_id: str = ""
    capabilities: dict[str, Any] = Field(default_factory=dict)
    url: str | None = None
    title: str | None = None
    created_at: float
    last_active_at: float
    processes: tuple[ProcessInfo, ...] = ()
    limits: dict[str, float] = Field(default_factory=dict)
    vars: dict[str, str] = Field(default_factory=dict)
    policies: Policies = Policies()
    approvals: tuple[Approval, ...] = ()
    strict: bool = False
    armed: ArmedDialog | None = None
    events: tuple[str, ...] = ()
    ref_next: int = 1
    viewport: Viewport | None = None
    emulation: Emulation = Emulation()
    tabs: tuple[Tab, ...] = ()
    tab_next: int = 1
    tabs_used: tuple[str, ...] = ()
    frame: tuple[str, ...] = ()
    context: str = ""
    claims: tuple[str, ...] = ()
    secret: str = ""
    remote_end: dict[str, str] = Field(default_factory=dict)
    keep_alive: float | None = None
    routes: tuple[dict[str, Any], ...] = ()
    replays: tuple[dict[str, str], ...] = ()
    har: str = ""
    routed_by: str = ""
    parked_at: float | None = None
    parked_until: float | None = None
    lost_reason: str | None = None
    world: str = ""

    @property
    def native(self) -> bool:
        """Whether it shows an app's own screens, and no document of a browser or web view."""
        return self.type is not SessionType.BROWSER and self.context == NATIVE

    @property
    def far(self) -> bool:
        """Whether nothing on this machine drives it: files are sent to it, and waits are longer."""
        return all(one.beside for one in self.processes)

    def __hash__(self) -> int:
        # Not of every field, some of which have no hash: what is looked up by a record is compared with it, too.
        return hash((self.namespace, self.id, self.last_active_at))


class StartRequest(Wire):
    """The typed wish for a session; `options` are the provider's own and are checked against its model.

    What stands between `browser` and `storage_state` is of browsers; what follows `options` is of apps. `app_path` is
    a file or folder of this machine, `app` anything that the remote end understands. `new_command_timeout` is in
    seconds.
    """

    session_id: str | None = None
    type: SessionType = SessionType.BROWSER
    provider: str = "local"
    browser: str = "chrome"
    browser_version: str | None = None
    headless: bool | None = None
    navigation_url: str | None = None
    device: str | None = None
    viewport: Viewport = USUAL
    mode: Mode | None = None
    profile: str | None = None
    debugger_address: str | None = None
    args: tuple[str, ...] = ()
    storage_state: str | dict[str, Any] | None = Field(default=None, repr=False)
    capabilities: dict[str, Any] = Field(default_factory=dict)
    options: dict[str, Any] = Field(default_factory=dict)
    app_path: str | None = None
    app: str | None = None
    bundle_id: str | None = None
    app_package: str | None = None
    app_activity: str | None = None
    browser_name: str | None = None
    device_name: str | None = None
    platform_version: str | None = None
    udid: str | None = None
    automation_name: str | None = None
    no_reset: bool | None = None
    full_reset: bool | None = None
    auto_grant_permissions: bool = True
    auto_accept_alerts: bool | None = None
    new_command_timeout: int | None = Field(default=None, ge=0)


def chosen(kind: SessionType, browser: str | None) -> dict[str, Any]:
    """A browser as a request says it: on a device it is one of the apps there, and there is none unless it is said."""
    if browser is None:
        return {}
    return {"browser": browser} if kind is SessionType.BROWSER else {"browser_name": browser}


class AttachRequest(Wire):
    """The typed wish to drive a session that was started elsewhere, at any W3C WebDriver endpoint."""

    remote_url: str
    remote_session_id: str
    session_id: str | None = None
    platform: SessionType = SessionType.BROWSER
    capabilities: dict[str, Any] = Field(default_factory=dict)


class Endpoint(Wire):
    """Where to create a session, and what to ask for: the W3C `alwaysMatch` capabilities.

    `remote_url` may hold user and password; they go to the remote end alone. `secret` is the name of the secret that
    the URL was read from, and `secrets` are those in the capabilities: no record, log or result will show them.
    With `hang_up` a request that is given up has its connection closed; otherwise what comes of it is ended.
    """

    remote_url: str
    capabilities: dict[str, Any]
    secret: str = ""
    secrets: tuple[SecretStr, ...] = ()
    hang_up: bool = False


class Started(Wire):
    """What is known of a session once its remote end has answered.

    `processes` are those that the remote end started on this machine; the rest is the record's.
    """

    processes: tuple[ProcessInfo, ...] = ()
    remote_end: dict[str, str] = Field(default_factory=dict)
    keep_alive: float | None = None


class Caller(Wire):
    """Who calls: a random key, and the process that stands for it, by pid and creation time. `door` is its way in."""

    key: str
    pid: int
    created: float
    door: Door = "python"

"""A session's record and its parts: type, state, processes, tabs, instance, caller."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from orchestrator.models.base import StoredModel
from orchestrator.models.base import Wire as Wire  # noqa: PLC0414 — re-exported
from orchestrator.models.emulation import Emulation, Viewport
from orchestrator.models.identifiers import split_claim
from orchestrator.models.policies import Approval, Policies


class SessionType(StrEnum):
    """The kind of a session, which decides the actions that apply and the way snapshots are taken."""

    BROWSER = "browser"
    IOS = "ios"
    ANDROID = "android"


APPS = (SessionType.IOS, SessionType.ANDROID)
"""The types of app sessions."""


class SessionState(StrEnum):
    """The state of a session: starting, active, parked while its caller is away, lost with its remote end, closed."""

    STARTING = "starting"
    ACTIVE = "active"
    PARKED = "parked"
    LOST = "lost"
    CLOSED = "closed"


NATIVE = "NATIVE_APP"
"""Appium's name for the context of an app's own screens."""

Door = Literal["mcp", "cli", "python"]
Mode = Literal["incognito", "persistent", "attached"]
"""A browser's profile: empty and temporary, persistent, or that of the user's running browser."""


PROFILE_CLAIM = "profile "
"""Beginning of the claim of a profile, before `browser/name`, where sessions cannot share its browser."""


class ProcessInfo(Wire):
    """A process that this project started, by pid and start, so that a reused pid is never mistaken for it.

    `created` and `started` are as `ProcessKey` has them. `program` is the path of a browser's program, by which its own
    helpers are told from what it opened for a person; it is empty for any other process. `folder` is its temporary
    folder, removed with it. A process `beside` a session does not drive it.
    """

    pid: int
    created: float
    started: str = ""
    name: str
    program: str = ""
    folder: str | None = None
    beside: bool = False


class ArmedDialog(Wire):
    """The answer to the next dialog, which overrides the policy."""

    accept: bool
    prompt_text: str | None = None


class Tab(Wire):
    """A tab by the name that callers use, with the remote end's window handle.

    `prepared` is true if its documents get the page engine, `had_page` if it has left about:blank; `viewport` and
    `emulation` are the settings applied to it. `authenticator` is the id of its virtual authenticator, if it has one.
    """

    name: str
    handle: str
    prepared: bool = False
    had_page: bool = False
    viewport: Viewport | None = None
    emulation: Emulation = Emulation()
    authenticator: str = ""


class Instance(Wire):
    """The browser of a session, if sessions may share it; the record of each of them names its processes.

    `wishes` are digests, by name, of the settings it was launched with. `profile` is `browser/name` of a persistent
    profile. `context` is the browser context of the session's tabs, `default` the one that the browser started with.
    The `root` is the session whose driver session launched the browser; it has the BiDi socket. `ready` is true once
    others can share it.
    """

    wishes: dict[str, str] = Field(default_factory=dict)
    profile: str = ""
    default: str = ""
    context: str = ""
    root: bool = False
    ready: bool = False

    @property
    def isolated(self) -> bool:
        """True if the session has a browser context of its own."""
        return bool(self.context) and self.context != self.default


class Use(Wire):
    """A changing call in a session: its number there, its caller by key and label, and its verb."""

    number: int
    caller: str
    label: str
    verb: str


class TypedSecret(Wire):
    """A value typed into a password field, as it is kept: keyed digests of its spellings, with their lengths.

    A `pin` is a number of four or five digits.
    """

    digests: tuple[str, ...]
    pin: bool = False


class SessionRecord(StoredModel):
    """A session as the store holds it: enough to drive it from any process.

    Times are in seconds since the epoch.

    Attributes:
        capabilities: The capabilities that the remote end answered with.
        request: The request that started the session; None if that held credentials.
        started_by: Name of the caller that started or attached it.
        fresh_since: Start of its age, if its first remote end was replaced for being too old.
        approvals: Permissions that pages got under the policy `allow`, and keep.
        consents: Tools that the setting `confirm` holds back, and a person has allowed for the whole session.
        strict: If true, a selector that finds several elements is an error.
        uses: The last changing calls.
        use_count: Number of changing calls so far.
        seen: By key of a caller the `use_count` at its last call.
        ref_next: First element ref number that was never reserved in this session.
        tab_next: First number that no tab was named by.
        tabs_used: Names of tabs in the order in which they were last current, the current one at the end.
        frame: Refs from the top to the frame in which selectors are resolved; empty at the top.
        context: Context of an app session: `NATIVE_APP` or a web view's name; empty in a browser.
        screen_refs: Ref numbers of an app's elements, as `snapshot.native.refs` packs them.
        claims: Resources that no other session of this home may have while it lives: a device, a port, a profile.
        waits_for: Resources of which it waits for one, while it starts.
        secret: Name of the secret that holds the remote URL with user and password.
        remote_end: Facts about its place: `nodeId`, `nodeUrl`, `liveViewUrl`, `dashboardUrl`.
        keep_alive: Seconds without a command after which the remote end would end the session.
        routes: Rules for its requests, as `network.rules.Rule` has them, the last added first.
        replays: Archives that answer the other requests (`path`, `notFound`).
        har: Path of the recording of its traffic.
        opens_files: True once it was sent to a page that is a file of this machine: what that loads is watched.
        routed_by: The process that now serves `routes`, `replays` and `har`, and watches files.
        intercept: Id of the BiDi intercept that pauses its requests for these.
        parked_at: Time from which the session is unattended; at `parked_until` it is ended (see `leases`).
        world: The script world last used, in whichever process.
        typed: What was typed into its password fields, as digests (`system.redaction.typed_secrets`).
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
    started_by: str = ""
    remote_url: str = ""
    remote_session_id: str = ""
    capabilities: dict[str, Any] = Field(default_factory=dict)
    url: str | None = None
    title: str | None = None
    request: dict[str, Any] | None = None
    created_at: float
    fresh_since: float | None = None
    last_active_at: float
    processes: tuple[ProcessInfo, ...] = ()
    limits: dict[str, float] = Field(default_factory=dict)
    vars: dict[str, str] = Field(default_factory=dict)
    policies: Policies = Policies()
    approvals: tuple[Approval, ...] = ()
    consents: tuple[str, ...] = ()
    strict: bool = False
    armed: ArmedDialog | None = None
    events: tuple[str, ...] = ()
    uses: tuple[Use, ...] = ()
    use_count: int = 0
    seen: dict[str, int] = Field(default_factory=dict)
    ref_next: int = 1
    viewport: Viewport | None = None
    emulation: Emulation = Emulation()
    tabs: tuple[Tab, ...] = ()
    tab_next: int = 1
    tabs_used: tuple[str, ...] = ()
    frame: tuple[str, ...] = ()
    context: str = ""
    screen_refs: str = ""
    claims: tuple[str, ...] = ()
    waits_for: tuple[str, ...] = ()
    secret: str = ""
    remote_end: dict[str, str] = Field(default_factory=dict)
    keep_alive: float | None = None
    routes: tuple[dict[str, Any], ...] = ()
    replays: tuple[dict[str, str], ...] = ()
    har: str = ""
    opens_files: bool = False
    routed_by: str = ""
    intercept: str = ""
    parked_at: float | None = None
    parked_until: float | None = None
    lost_reason: str | None = None
    world: str = ""
    typed: tuple[TypedSecret, ...] = ()

    @property
    def native(self) -> bool:
        """True if it shows an app's own screens, not a document of a browser or web view."""
        return self.type is not SessionType.BROWSER and self.context == NATIVE

    @property
    def profile(self) -> str:
        """`browser/name` of its persistent profile; empty for any other."""
        if self.mode != "persistent":
            return ""
        if self.instance is not None:
            return self.instance.profile
        return next((one.removeprefix(PROFILE_CLAIM) for one in self.claims if one.startswith(PROFILE_CLAIM)), "")

    @property
    def has_profile_alone(self) -> bool:
        """True if its browser keeps a profile and has one session: its driver ends it, so that it saves the profile."""
        return self.mode == "persistent" and self.instance is None

    @property
    def is_routed(self) -> bool:
        """True if its requests are answered by rules or archives, recorded, or watched."""
        return bool(self.routes or self.replays or self.har or self.opens_files)

    @property
    def is_private(self) -> bool:
        """True if its browser was started without a debugger's port."""
        return bool(((self.request or {}).get("options") or {}).get("private"))

    @property
    def is_remote(self) -> bool:
        """True if no process of this machine drives it: files are sent to it, and waits are longer."""
        return all(process.beside for process in self.processes)


class Caller(Wire):
    """A caller: an agent that its host names, else a connection or a script, in a process of this project.

    Attributes:
        key: Random; that of an agent whose host names it follows from the name, and is the same after a restart.
        pid: The process that it calls.
        created: That process's creation time.
        started: That process's start, as `ProcessKey` has it.
        door: How it comes in.
        named: True if it has a name by which it comes back: that of an agent, or of a token.
        is_agent: True if its host names it; several agents may share any other one, which nobody can tell apart.
        parent: Key of the caller that started this agent, where the host says so.
        client: Name of the program, as far as known.
        agent: Name of the agent in it, as far as known.
        claims: Ends of the names of claims under which the present call uses sessions, by the ids of these.
        is_admin: True if its token, over HTTP, is that of an administrator.
    """

    key: str
    pid: int
    created: float
    started: str = ""
    door: Door = "python"
    named: bool = False
    is_agent: bool = False
    parent: str | None = None
    client: str = ""
    agent: str = ""
    claims: dict[str, str] = Field(default_factory=dict)
    is_admin: bool = False

    @property
    def may_override(self) -> bool:
        """True for a person and an administrator: they may end others' claims, and close what others have claimed."""
        return self.door != "mcp" or self.is_admin

    def with_claims(self, names: Iterable[str]) -> Caller:
        """Return it for a call that names these sessions: those that it names by a claim are used under the claim."""
        claims = dict(filter(operator.itemgetter(1), map(split_claim, names)))
        return self.model_copy(update={"claims": claims}) if claims else self

    @property
    def label(self) -> str:
        """The name that others read: the agent, the program, or else the way in."""
        name = self.client or self.door
        return f"{self.agent}, {name}" if self.agent else name

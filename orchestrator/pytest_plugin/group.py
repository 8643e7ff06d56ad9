"""Sessions of one test: started by name, ended or kept after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, NoReturn
from urllib.parse import urljoin

from orchestrator.errors import InvalidArgument
from orchestrator.execution.compare import Difference
from orchestrator.execution.sequence import Steps
from orchestrator.models.test_status import Status
from orchestrator.pytest_plugin.baselines import Baselines
from orchestrator.pytest_plugin.cloud_names import cloud_options
from orchestrator.pytest_plugin.handles import AwaitedSession, RecordedSession
from orchestrator.pytest_plugin.login import LoginStates
from orchestrator.pytest_plugin.options import WEB, PluginOptions
from orchestrator.pytest_plugin.parity import (
    BaselineFailure,
    Parity,
    SessionsDiffer,
    write_baseline_parity,
    write_parity,
)
from orchestrator.pytest_plugin.steps import StepLog
from orchestrator.pytest_plugin.worker import APPIUM, LOCAL, SessionPlan, Worker

_APPS_AT = {LOCAL: APPIUM}
"""Providers of apps, where that of browsers has none."""


class SessionGroup(Mapping[str, RecordedSession]):
    """The sessions of one test by name.

    Args:
        worker: The source of sessions.
        options: The options of the run.
        title: The id of the test, by which clouds list its sessions.
        file: The file of the test, beside which its baselines are.
        defaults: Parameters of every session of the test.
        base_url: The URL that relative URLs belong to.
        platform: The platform of sessions for which none is given.

    Attributes:
        log: The calls of the test.
        failure: The reason, once the test has failed.
        folder: The folder of its artifacts; None if none are wanted.
        parities: The files about users that differ, from each other or from a baseline: a page first, and its pictures.
        attachments: Further contents for the artifacts, by the names of their files.
        login: Returns the storage state of a role, for the parameter `login` of a start.
    """

    def __init__(
        self,
        worker: Worker,
        options: PluginOptions,
        *,
        title: str,
        file: Path,
        defaults: Mapping[str, Any],
        base_url: str,
        platform: str,
    ) -> None:
        self.worker = worker
        self.options = options
        self.log = StepLog(slow_mo=options.slow_mo / 1000)
        self.failure: str | None = None
        self.folder: Path | None = None
        self.parities: list[list[Path]] = []
        self.attachments: dict[str, bytes | str] = {}
        self.login: LoginStates
        self._recorded: set[str] = set()
        self._title = title
        self._defaults = defaults
        self._base_url = base_url
        self._baselines = Baselines(file.parent / "baselines" / file.stem, options.baselines, self._add_baseline)
        self._platform = platform
        self._sessions: dict[str, RecordedSession] = {}
        self._numbers = {WEB: 0}

    def __getitem__(self, name: str) -> RecordedSession:
        if name not in self._sessions:
            known = ", ".join(self._sessions) or "none"
            raise KeyError(f"No session {name!r} in this test (started: {known}). Name it in users, or start it.")
        return self._sessions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sessions)

    def __len__(self) -> int:
        return len(self._sessions)

    def start(self, name: str | None = None, **given: Any) -> RecordedSession:
        """Start a session; `given` are `platform`, `provider`, `login` (a role) and parameters of the start.

        Raises:
            OrchestratorError: It was not started.
        """
        plan = self._plan(name, given)
        if plan.name in self._sessions:
            raise InvalidArgument(f"This test has a session {plan.name!r} already.", hint="Use it, or choose a name.")
        session = RecordedSession(
            self.worker.start(plan), plan.name, self.log, base_url=self._base_url, baselines=self._baselines
        )
        self._sessions[plan.name] = session
        return session

    def start_all(self, wanted: Mapping[str, Mapping[str, Any]]) -> None:
        """Start several sessions at the same time.

        Raises:
            OrchestratorError: One was not started.
        """
        with ThreadPoolExecutor(max(1, len(wanted))) as pool:
            starts = [pool.submit(self.start, name, **given) for name, given in wanted.items()]
        for start in starts:
            start.result()
        self._sessions = {**{name: self._sessions[name] for name in wanted}, **self._sessions}

    def close(self, session: RecordedSession) -> None:
        """End a session before the end of the test, which has none of this name then."""
        self.worker.close(session.id, None, None)
        del self._sessions[session.name]

    def awaited(self, session: RecordedSession) -> AwaitedSession:
        """Return the same session with `await`."""
        return AwaitedSession(session, self.log, self._base_url)

    def expect_same(
        self, *names: str, of: Literal["text", "elements", "screenshot"] = "elements", ignore: Sequence[str] = ()
    ) -> None:
        """Expect that users show the same; those of different platforms are compared by role and name.

        Args:
            *names: The users; default: all.
            of: The content to compare.
            ignore: Selectors of parts that may differ.

        Raises:
            SessionsDiffer: They do not; the artifacts have a page about it.
            OrchestratorError: A session could not be read.
        """
        compared = [self[name].id for name in names or self]
        found = self.worker.orchestrator.compare_sessions(compared, of, ignore=ignore)
        if not found.same:
            self._fail_parity(Parity(f"Not the same {of}.", found.base, found.differences, ignore))

    def run_in_step(self, actions: Steps, *names: str) -> None:
        """Run the same steps in several users, who must show the same by role and name after each.

        Args:
            actions: The steps, as mappings or as actions.
            *names: The users; default: all.

        Raises:
            SessionsDiffer: They did not; the artifacts have a page about it.
            OrchestratorError: A step failed in all of them.
        """
        ids = [self[name].id for name in names or self]
        result = self.worker.orchestrator.execute_parallel(
            [{"session_ids": ids, "actions": list(actions)}], lockstep=True
        )
        if (found := result.divergence) is not None:
            failed = "".join(f" {name}: {error}" for name, error in found.errors.items())
            title = f"Not the same after step {found.index} ({found.action}).{failed}"
            known = {one.session_id for one in found.differences}
            others = [Difference(session_id=odd) for odd in found.odd if odd not in known]
            self._fail_parity(Parity(title, found.base, [*found.differences, *others]))
        if (error := result.failure()) is not None:
            raise error

    def _fail_parity(self, parity: Parity) -> NoReturn:
        names = {session.id: session.name for session in self.values()}
        if self.folder is not None:
            plain = {session.id: session.plain for session in self.values()}
            self.parities.append(write_parity(self.folder, len(self.parities) + 1, parity, plain, names))
        raise SessionsDiffer(parity.describe(names))

    def _add_baseline(self, failure: BaselineFailure) -> None:
        if self.folder is not None:
            self.parities.append(write_baseline_parity(self.folder, len(self.parities) + 1, failure))

    def records(self, session: RecordedSession) -> bool:
        """Return True if the requests of a session are recorded as a HAR."""
        return session.name in self._recorded

    def end(self) -> None:
        """End the sessions, or keep those of a failed test if that is wanted."""
        if self.failure is not None and self.options.hand_over:
            for session in self.values():
                self.worker.keep(session.id)
            return
        status: Status = "passed" if self.failure is None else "failed"
        reason = None if self.failure is None else self.failure.partition("\n")[0]
        self._for_each(lambda session: self.worker.close(session.id, status, reason))

    def _for_each(self, function: Callable[[RecordedSession], object]) -> None:
        if self._sessions:
            with ThreadPoolExecutor(len(self._sessions)) as pool:
                list(pool.map(function, self.values()))

    def _plan(self, name: str | None, given: Mapping[str, Any]) -> SessionPlan:
        platform = given.get("platform") or self._platform
        common = {**self.options.platforms.get(platform, {}), **self._defaults, **given}
        common.pop("platform", None)
        provider = common.pop("provider", None) or self._default_provider(platform)
        if (role := common.pop("login", None)) is not None:
            common["storage_state"] = str(self.login(role))
        parameters = {**self._from_options(platform, provider), **common}
        if self._base_url and parameters.get("navigation_url"):
            parameters["navigation_url"] = urljoin(self._base_url, parameters["navigation_url"])
        name = name or self._next_name(platform)
        if named := cloud_options(provider, f"{self._title} {name}", self.options.build):
            parameters["options"] = {**named, **parameters.get("options", {})}
        if provider == APPIUM:
            parameters["options"] = self._with_device_timeout(parameters.get("options", {}))
        plan = SessionPlan(name, platform, provider, parameters)
        if plan.is_context and self.folder is not None and self.options.artifacts == "on":
            self._recorded.add(plan.name)
            har = str(self.folder / f"{plan.name}-network.har")
            parameters["options"] = {"har": har, **parameters.get("options", {})}
        return plan

    def _default_provider(self, platform: str) -> str:
        chosen = self.options.provider
        return chosen if platform == WEB else _APPS_AT.get(chosen, chosen)

    def _from_options(self, platform: str, provider: str) -> dict[str, Any]:
        """Return the parameters that the options of the run stand for."""
        options = self.options
        if platform != WEB:
            return {"device_name": options.device} if options.device else {}
        parameters: dict[str, Any] = {"browser": options.browser} if options.browser else {}
        if options.headed:
            parameters["headless"] = False
        if options.device:
            parameters["device" if provider == LOCAL else "device_name"] = options.device
        return parameters

    def _with_device_timeout(self, given: Mapping[str, Any]) -> dict[str, Any]:
        own = {} if "device_timeout" in given else {"deviceTimeout": self.options.device_timeout}
        return {**own, **given}

    def _next_name(self, platform: str) -> str:
        self._numbers[platform] = self._numbers.get(platform, 0) + 1
        number = self._numbers[platform]
        return platform if number == 1 else f"{platform}-{number}"


def user_plans(marks: Sequence[tuple[tuple[Any, ...], Mapping[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Return the parameters of each user's start by name, of the arguments of `users` marks, the outermost first."""
    plans: dict[str, dict[str, Any]] = {}
    for names, common in marks:
        for name in names:
            plans[str(name)] = {**plans.get(str(name), {}), **common}
    return plans

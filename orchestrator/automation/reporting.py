"""Reports the effects of an action: the page's URL and title, or its changes."""

from __future__ import annotations

from typing import TypeVar

from orchestrator.automation.browser.element_errors import expect_found
from orchestrator.automation.browser.settling import ChangeObserver, LateOpening
from orchestrator.automation.scene import Scene
from orchestrator.errors import DialogOpen, NavigationWaits
from orchestrator.models.results import Acted
from orchestrator.snapshot.methods import SNAPSHOT, STATE

ActedT = TypeVar("ActedT", bound=Acted)
STABILITY, STABILITY_LIMIT = 0.15, 5.0
"""Seconds without a change that count as settled, and the longest wait for them, by default."""


def name_target(scene: Scene, result: ActedT) -> ActedT:
    """Name in a result what was found by a ref."""
    target = scene.scope.target
    return result.model_copy(update={"target": target}) if target else result


def add_url_and_title(scene: Scene, result: ActedT) -> ActedT:
    """Add the page's URL and title to a result that lacks them."""
    # An app's screen has no address, and its title costs a whole page source.
    if result.url is not None or scene.native:
        return result
    if scene.scope.warn:
        scene.scope.page_unread = True
        return result
    try:
        place = scene.query_page(STATE)
    except (DialogOpen, NavigationWaits) as unread:
        return result.model_copy(update={"warnings": [*result.warnings, str(unread)]})
    scene.record_url_and_title(place)
    return result.model_copy(update={"url": place["url"], "title": place["title"]})


def add_changes(
    scene: Scene,
    result: ActedT,
    observer: ChangeObserver,
    *,
    outline: bool = False,
    opening: LateOpening | None = None,
) -> ActedT:
    """Wait until the page has settled; add its changes to the result, and with `outline` the viewport's outline."""
    changes = observer.report_changes(scene, stability=STABILITY, limit=STABILITY_LIMIT, opening=opening)
    tab_before = scene.tabs.current_name
    scene.tabs.refresh()
    if scene.tabs.current_name != tab_before and not scene.navigations.pending:
        place = scene.query_page(STATE)
        changes |= {"url": place["url"], "title": place["title"]}
        scene.record_url_and_title(place)
    is_unread = changes.pop("unread", False)
    if outline and not is_unread:
        snapshot = expect_found(scene.query_page(SNAPSHOT, scope="viewport", limit=200, offset=0))
        changes["outline"] = "\n".join(snapshot["lines"])
    changes["warnings"] = [*result.warnings, *changes.get("warnings", ())]
    return result.model_copy(update=changes)

"""Types secrets by name, `secret:NAME` and `totp:NAME`, where their entry allows it."""

from __future__ import annotations

import time
from typing import Any

from pydantic import Field, ValidationError, field_validator

from orchestrator.automation.browser.finder import FoundElement
from orchestrator.automation.fields.codes import fill_code, type_code
from orchestrator.automation.fields.form_controls import send_keys
from orchestrator.automation.input import is_chromium, press
from orchestrator.automation.keys import KEYS
from orchestrator.automation.scene import Scene
from orchestrator.errors import InvalidArgument, NotActionable, SecretDenied, Unsupported
from orchestrator.models.origin_patterns import Origin
from orchestrator.models.session import Wire
from orchestrator.snapshot.methods import FOCUSED, TYPED
from orchestrator.system.secret_store import entries
from orchestrator.system.secret_store.entries import SecretEntry
from orchestrator.system.secret_store.one_time_codes import OneTimeCodes
from orchestrator.system.secrets import SHORTEST

_LEAST_LEFT = 3.0
"""Seconds that a one-time code must be valid for; else the next one is waited for, so that it arrives in time."""
_PAUSE = 0.1


def type_secret(
    scene: Scene, given: str, hit: FoundElement | None = None, *, replace: bool = False, keystrokes: bool = False
) -> list[str]:
    """Type what `secret:NAME` or `totp:NAME` stands for into a field of the current frame; return warnings.

    Args:
        scene: The scene of the call.
        given: The reference.
        hit: The field; without one it is the field that has the focus.
        replace: Replace what the field holds.
        keystrokes: Press a key for each character.
    """
    place = scene.query_page(FOCUSED, acted=hit is not None)
    if "frame" in place or not place["kind"]:
        raise NotActionable(
            f"No field that takes text has the focus; {given} was not typed.", hint="Give the field's selector."
        )
    text = read_secret(scene, given, place["owner"], hidden=place["secret"])
    if place.get("code"):
        return fill_code(scene, text, secret=True)[1] if replace else type_code(scene, text, secret=True)
    by_engine = not keystrokes and is_chromium(scene)
    answer = scene.query_page(TYPED, replace=replace, **({"value": text} if by_engine else {}))
    if not answer["taken"]:
        raise NotActionable(
            f"The field does not keep the focus, or takes no such text; {given} was not typed.",
            hint="Look with get_visible_elements, and try again.",
        )
    if hit is not None and not by_engine and not keystrokes:
        send_keys(scene, hit, text, clear=replace)
    elif not by_engine:
        press(scene, [[KEYS["Enter"] if char == "\n" else char] for char in text])
    return [] if answer["same"] else [f"The page changed the value: the field holds something else than {given}."]


def read_secret(scene: Scene, given: str, owner: str, *, hidden: bool = False) -> str:
    """Return what `secret:NAME` or `totp:NAME` stands for, masked in the session from now on.

    Args:
        scene: The scene of the call.
        given: The reference.
        owner: The origin of the document that gets it; empty for an app's own screen.
        hidden: True if what gets it shows no value, as password fields do.

    Raises:
        Unsupported: It is an app's own screen, and the caller is limited to what the settings allow.
        InvalidArgument: There is no such secret, or it is too short to be masked.
        SecretDenied: Its entry does not allow the origin.
    """
    if scene.native and scene.files.is_limited:
        raise Unsupported(
            f"{given} is not typed into an app's own screen, which has no origin to check.",
            hint="In a web view it is; Python and the command line type secrets without origins anywhere.",
        )
    kind, _, name = given.partition(":")
    origin = _origin(owner)
    entry = _find(scene, name, origin)
    _check_origin(scene, given, entry, origin)
    text = _await_code(scene, entry) if kind == "totp" else entry.value
    if len(text) < SHORTEST and not hidden:
        raise InvalidArgument(
            f"The secret {name} is shorter than {SHORTEST} characters, so that it could not be masked.",
            hint="Nothing was typed; only password fields take so short a secret.",
        )
    # What the operator keeps is masked within longer words, too; a code soon means nothing.
    scene.redactor.add_operators(entry.value)
    scene.mask_typed(text)
    return text


def _find(scene: Scene, name: str, origin: Origin | None) -> SecretEntry:
    """Return the entry of a name; the error tells the names that the page's origin may have, and no others."""
    file = scene.settings.secrets_file
    entry = entries.find_entry(name, file)
    if entry is None:
        known = entries.list_names(origin, file) if origin else []
        listed = f" Those for {origin}: {', '.join(known)}." if known else ""
        raise InvalidArgument(f"There is no secret {name}.{listed}", hint=entries.how_to_add(name, file))
    return entry


def read_passkey(scene: Scene, given: str) -> dict[str, Any]:
    """Return the credential that `secret:NAME` holds as JSON, for a site that its entry's origins allow.

    Raises:
        InvalidArgument: There is no such secret, or it is no credential.
        SecretDenied: Its entry does not allow the site.
    """
    entry = _find(scene, given.partition(":")[2], None)
    try:
        credential = _Credential.model_validate_json(entry.value)
    except ValidationError:  # without its text, which quotes the value
        raise InvalidArgument(
            f"The secret {entry.name} is not a passkey.",
            hint="Whoever runs this server can write it as JSON with rpId, credentialId and privateKey, and userHandle "
            "and signCount where they are known.",
        ) from None
    site = credential.rp_id
    if (entry.origins or scene.files.is_limited) and not entry.allows_host(site):
        raise SecretDenied(
            f"{given} is not added as a passkey of {site}: that is not among the origins of its entry.",
            allow=entries.how_to_allow(entry.name, f"https://{site}", scene.settings.secrets_file),
        )
    for secret in (entry.value, credential.private_key):
        scene.redactor.add_operators(secret)
    return credential.model_dump(by_alias=True, exclude_none=True)


class _Credential(Wire):
    """A credential as the command Add Credential takes it; the private key may be PEM."""

    rp_id: str
    credential_id: str = Field(pattern=r"^[A-Za-z0-9_-]+$")
    private_key: str
    user_handle: str | None = None
    sign_count: int = 0
    is_resident_credential: bool = True

    @field_validator("private_key")
    @classmethod
    def _in_base64url(cls, given: str) -> str:
        lines = [line.strip() for line in given.splitlines() if not line.startswith("-----")]
        return "".join(lines).translate(str.maketrans("+/", "-_")).rstrip("=")


def _origin(owner: str) -> Origin | None:
    try:
        return Origin.of(owner)
    except ValueError:
        return None


def _check_origin(scene: Scene, given: str, entry: SecretEntry, origin: Origin | None) -> None:
    """Refuse a document whose origin the entry does not allow; without origins, all where callers are limited."""
    if (origin is not None and entry.allows(origin)) or not (entry.origins or scene.files.is_limited):
        return
    where = "an app's own screen" if scene.native else origin or "a page without an origin of its own"
    reason = "its entry allows no origins" if not entry.origins else "that is not among the origins of its entry"
    raise SecretDenied(
        f"{given} is not typed into {where}: {reason}.",
        allow=entries.how_to_allow(entry.name, str(origin or "https://shop.example"), scene.settings.secrets_file),
    )


def _await_code(scene: Scene, entry: SecretEntry) -> str:
    """Return the present one-time code of a seed, or the next one if that is about to end."""
    codes = OneTimeCodes(entry.name, entry.value)
    while codes.is_ending(_LEAST_LEFT):
        scene.check()
        time.sleep(_PAUSE)
    return codes.make_code()

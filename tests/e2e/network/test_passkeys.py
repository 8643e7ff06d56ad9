"""passkeys: registrations and logins with WebAuthn that need no person, in every tab, and never show a private key."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.doors.test_secrets import RecordedServer, recording
from tests.e2e.harness import Home
from tests.e2e.stage import Stage, refused
from tests.servers.mcp import Answer
from tests.servers.site import Site

pytestmark = pytest.mark.full

PAGE = """<!doctype html><title>Sign in</title>
<button id=register>Register</button><button id=login>Log in</button><button id=popup>Popup</button><p id=out></p>
<script>
const bytes = (text) => new TextEncoder().encode(text);
const shown = async (work) => {
  out.textContent = 'asking';
  try { out.textContent = await work() } catch (error) { out.textContent = `failed: ${error.name}` }
};
register.onclick = () => shown(async () => {
  const made = await navigator.credentials.create({publicKey: {
    challenge: bytes('c'), rp: {name: 'Shop', id: 'localhost'},
    user: {id: bytes('ann'), name: 'ann', displayName: 'Ann'},
    pubKeyCredParams: [{type: 'public-key', alg: -7}],
    authenticatorSelection: {residentKey: 'required', userVerification: 'required'}}});
  localStorage.spki = btoa(String.fromCharCode(...new Uint8Array(made.response.getPublicKey())));
  return `registered ${made.id}`;
});
login.onclick = () => shown(async () => {
  const found = await navigator.credentials.get({publicKey: {
    challenge: bytes('c'), rpId: 'localhost', userVerification: 'required', timeout: 3000}});
  const {clientDataJSON, authenticatorData, signature} = found.response;
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', clientDataJSON));
  const data = new Uint8Array([...new Uint8Array(authenticatorData), ...hash]);
  // The signature is DER: two integers, which Web Crypto wants in 32 bytes each.
  const der = new Uint8Array(signature);
  const second = 4 + der[3];
  const whole = (at) => [...Array(32).fill(0), ...der.slice(at + 2, at + 2 + der[at + 1])].slice(-32);
  const raw = new Uint8Array([...whole(2), ...whole(second)]);
  const spki = Uint8Array.from(atob(localStorage.spki), (one) => one.charCodeAt(0));
  const key = await crypto.subtle.importKey('spki', spki, {name: 'ECDSA', namedCurve: 'P-256'}, false, ['verify']);
  const good = await crypto.subtle.verify({name: 'ECDSA', hash: 'SHA-256'}, key, raw, data);
  const count = new DataView(authenticatorData).getUint32(33);
  const grows = count > Number(localStorage.count ?? 0);
  localStorage.count = count;
  return `welcome ${new TextDecoder().decode(found.response.userHandle)} ${good} ${grows}`;
});
popup.onclick = () => window.open(location.href);
</script>"""

MAKE_KEY = """
const pair = await crypto.subtle.generateKey({name: 'ECDSA', namedCurve: 'P-256'}, true, ['sign', 'verify']);
const spelled = async (form, key) =>
  btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.exportKey(form, key))));
return {private: await spelled('pkcs8', pair.privateKey), public: await spelled('spki', pair.publicKey)}
"""
"""Makes a key in the page, which the test then keeps as an operator would."""


def ok(answer: Answer) -> Answer:
    """Return an answer that must be no error."""
    assert not answer.failed, answer.text
    return answer


@pytest.fixture
def shop(home: Home, site: Site, tmp_path: Path) -> Iterator[RecordedServer]:
    """A server of this test's own, with a browser at a page that registers and logs in."""
    url = site.page("/signin", PAGE).replace("127.0.0.1", "localhost")
    with recording(home, url, tmp_path / "log") as recorded:
        ok(recorded.call("start_browser", sessionId="ann", navigationUrl=url))
        yield recorded


def press(shop: RecordedServer, button: str, said: str) -> None:
    """Press a button of the page and wait for its answer."""
    ok(shop.call("click_element", selector=f"#{button}"))
    ok(shop.call("wait_for", selector="#out", text=said))


def passkeys(shop: RecordedServer) -> list[dict[str, object]]:
    """Return the passkeys that are listed."""
    found: list[dict[str, object]] = ok(shop.call("passkeys", action="list")).data["passkeys"]
    return found


def test_a_login_with_a_passkey_runs_unattended_in_every_tab(shop: RecordedServer) -> None:
    """Added, registered, logged in; in a popup and a further tab, too, and the counter of the site never goes back."""
    steps = [
        {"action": "passkeys", "do": "add"},
        {"action": "click_element", "selector": "#register"},
        {"action": "wait_for", "selector": "#out", "text": "registered"},
        {"action": "click_element", "selector": "#login"},
        {"action": "expect", "selector": "#out", "text": "welcome ann true true"},
    ]
    assert ok(shop.call("execute_sequence", actions=steps)).data["completed"] == 5
    [made] = passkeys(shop)
    assert (made["rpId"], base64.urlsafe_b64decode(f"{made['userHandle']}==")) == ("localhost", b"ann")
    assert set(made) == {"rpId", "credentialId", "userHandle", "signCount"}
    ok(shop.call("click_element", selector="#popup"))
    ok(shop.call("tabs", action="select", tab="t2"))
    press(shop, "login", "welcome ann true true")
    press(shop, "login", "welcome ann true true")
    ok(shop.call("tabs", action="select", tab="t1"))
    press(shop, "login", "welcome ann true true")
    ok(shop.call("tabs", action="new", url=shop.url))
    press(shop, "login", "welcome ann true true")
    ok(shop.call("tabs", action="close"))
    press(shop, "login", "welcome ann true")
    everything = "".join(shop.answers) + json.dumps(shop.home.record("ann").model_dump(mode="json"))
    assert "privateKey" not in everything


def test_a_removed_passkey_opens_nothing(shop: RecordedServer) -> None:
    """One passkey is removed by its id; all of them with what answers for them."""
    ok(shop.call("passkeys", action="add"))
    press(shop, "register", "registered")
    press(shop, "register", "registered")
    first, *others = [one["credentialId"] for one in passkeys(shop)]
    assert ok(shop.call("passkeys", action="remove", credentialId=first)).text.startswith("Removed; passkeys left: ")
    assert [one["credentialId"] for one in passkeys(shop)] == others
    assert "There is no passkey" in refused(
        shop.call("passkeys", action="remove", credentialId=first), "invalid_argument"
    )
    assert ok(shop.call("passkeys", action="remove")).data["passkeys"] == []
    assert passkeys(shop) == []
    press(shop, "login", "failed: ")
    ok(shop.call("passkeys", action="add"))
    assert passkeys(shop) == []


def test_a_passkey_of_a_secret_logs_in_and_is_never_shown(shop: RecordedServer) -> None:
    """A credential that the operator keeps; only for sites that its entry's origins allow."""
    made = shop.server.call("execute_script", script=MAKE_KEY).data["value"]
    ok(shop.call("execute_script", script=f"localStorage.spki = '{made['public']}'"))
    pem = f"-----BEGIN PRIVATE KEY-----\\n{made['private']}\\n-----END PRIVATE KEY-----\\n"
    value = f'{{"rpId": "localhost", "credentialId": "Y3JlZA", "userHandle": "YW5u", "privateKey": "{pem}"}}'
    file = shop.home.folder / "secrets.toml"
    file.write_text(
        f"[KEY]\nvalue = '{value}'\norigins = ['http://localhost:*']\n[OTHER]\nvalue = '{value}'\n"
        f"origins = ['https://shop.example']\n[NONE]\nvalue = 'no credential'\norigins = ['localhost']\n"
    )
    file.chmod(0o600)
    text = refused(shop.call("passkeys", action="add", credential="secret:OTHER"), "denied")
    assert "secret:OTHER is not added as a passkey of localhost" in text
    assert 'origins = ["https://localhost"] below [OTHER] in ' in text
    assert "is not a passkey" in refused(
        shop.call("passkeys", action="add", credential="secret:NONE"), "invalid_argument"
    )
    [kept] = ok(shop.call("passkeys", action="add", credential="secret:KEY")).data["passkeys"]
    assert (kept["credentialId"], kept["signCount"]) == ("Y3JlZA", 0)
    press(shop, "login", "welcome ann true true")
    private = made["private"].rstrip("=")
    places = [place for place in shop.places_of(private) if not place.endswith("secrets.toml")]
    assert places == []
    assert shop.places_of(private.replace("+", "-").replace("/", "_")) in ([], [str(file)])


def test_passkeys_take_their_own_arguments_alone(stage: Stage) -> None:
    """A credential is for add, an id for remove; neither is anything else."""
    for arguments, said in (
        ({"action": "list", "credential": "secret:KEY"}, "List takes no credential"),
        ({"action": "add", "credentialId": "Y3JlZA"}, "Add takes no credentialId"),
        ({"action": "remove", "credentialId": "../x"}, "credentialId"),
        ({"action": "add", "credential": "hunter22"}, "credential"),
        ({"action": "add", "credential": "secret:NOBODY"}, "There is no secret NOBODY."),
    ):
        assert said in refused(stage.call("passkeys", **arguments), "invalid_argument")

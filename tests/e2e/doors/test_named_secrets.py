"""`secret:NAME` and `totp:NAME` are typed, never shown, and only into pages whose origin their entry allows."""

from __future__ import annotations

import base64
import hashlib
import hmac
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from orchestrator.errors import Denied
from orchestrator.settings import Settings
from orchestrator.sync import Orchestrator
from tests.e2e.doors.test_secrets import RecordedServer, recording
from tests.e2e.harness import Home
from tests.e2e.stage import refused
from tests.servers.mcp import Answer
from tests.servers.site import Site, Visit

pytestmark = pytest.mark.full

PASSWORD = "qX7-unguessable-3319"
SEED = base64.b32encode(b"a seed of twenty byte").decode().rstrip("=")
SECRETS = f"""
PLAIN = "{PASSWORD}"
SHORT = "tea"

[SHOP]
value = "{PASSWORD}"
origins = ["http://127.0.0.1:*"]

[ELSEWHERE]
value = "{PASSWORD}"
origins = "https://shop.example, https://*.shop.example"

[OTP]
value = "{SEED}"
origins = ["http://127.0.0.1:*"]

[OTP_URI]
value = "otpauth://totp/Shop:ann?secret={SEED}&digits=8&period=60&algorithm=SHA256"
origins = ["http://127.0.0.1:*"]

[BRIEF]
value = "otpauth://totp/Shop:ann?secret={SEED}&period=4"
origins = ["http://127.0.0.1:*"]

[TINY]
value = "tea"
origins = ["http://127.0.0.1:*"]

[IN_FILE]
origins = ["127.0.0.1"]
"""
VARIABLES = {"VAR": PASSWORD, "VAR_ORIGINS": "http://127.0.0.1:*", "IN_FILE": PASSWORD, "BARE": PASSWORD}
"""Secrets in the environment: with origins there, with origins in the file, and without any."""
FIELDS = (
    "<!doctype html><title>Fields</title><input id=pw type=password><input id=plain><textarea id=area></textarea>"
    "<div id=rich contenteditable>old</div><input id=tick type=checkbox><p id=out></p>"
)
HELD = "return [pw, plain, area].map((each) => each.value).join() + rich.textContent"


def code_of(seed: str, step: int, digits: int = 6, digest: str = "sha1") -> str:
    """Return a one-time code as RFC 6238 defines it."""
    key = base64.b32decode(seed + "=" * (-len(seed) % 8))
    hashed = hmac.new(key, struct.pack(">Q", step), digest).digest()
    at = hashed[-1] & 15
    return str((struct.unpack(">I", hashed[at : at + 4])[0] & 0x7FFFFFFF) % 10**digits).zfill(digits)


def keep(home: Home) -> None:
    """Write the secrets file."""
    file = home.folder / "secrets.toml"
    file.write_text(SECRETS, "utf-8")
    file.chmod(0o600)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RecordedServer, Site]]:
    """A server with secrets and a browser for the tests of this file, and a site."""
    folder = tmp_path_factory.mktemp("home")
    home = Home(folder)
    keep(home)
    with pytest.MonkeyPatch.context() as environ:
        for name, value in VARIABLES.items():
            environ.setenv(f"ORCHESTRATOR_SECRET_{name}", value)
        with _shop(home, folder / "log") as both:
            yield both


@contextmanager
def _shop(home: Home, log: Path) -> Iterator[tuple[RecordedServer, Site]]:
    with Site() as site, recording(home, site.page("/fields", FIELDS), log) as recorded:
        ok(recorded.call("start_browser", sessionId="ann"))
        yield recorded, site


@pytest.fixture
def shop(shared: tuple[RecordedServer, Site]) -> RecordedServer:
    """The server, with the browser at a page with fields."""
    ok(shared[0].call("navigate", url=shared[0].url))
    return shared[0]


def ok(answer: Answer) -> Answer:
    """Return an answer that must be no error."""
    assert not answer.failed, answer.text
    return answer


def is_held(shop: RecordedServer, expression: str, text: str) -> bool:
    """Return True if the page's value is the text, which no answer may show."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    script = (
        f"const bytes = new TextEncoder().encode({expression});"
        "const all = await crypto.subtle.digest('SHA-256', bytes);"
        "return [...new Uint8Array(all)].map((one) => one.toString(16).padStart(2, '0')).join('')"
    )
    return bool(ok(shop.call("execute_script", script=script)).data["value"] == digest)


def test_a_secret_is_typed_into_every_kind_of_text_field_and_shown_by_nothing(shop: RecordedServer) -> None:
    """Typed by set_value and press_keys, into a password field or not, by keys or at once: no answer or file has it."""
    for selector in ("#pw", "#plain", "#area", "#rich"):
        ok(shop.call("set_value", selector=selector, value="gone"))
        done = ok(shop.call("set_value", selector=selector, value="secret:SHOP"))
        assert "warnings" not in done.data
        name = selector[1:]
        assert is_held(shop, "rich.textContent" if name == "rich" else f"{name}.value", PASSWORD)
    ok(shop.call("set_value", selector="#plain", value="secret:SHOP", keystrokes=True))
    assert is_held(shop, "plain.value", PASSWORD)
    ok(shop.call("set_value", selector="#plain", value=""))
    ok(shop.call("press_keys", selector="#plain", text="secret:SHOP"))
    ok(shop.call("press_keys", text="secret:SHOP"))
    assert is_held(shop, "plain.value", PASSWORD * 2)
    outline = ok(shop.call("get_visible_elements")).text
    assert '= "•••"' in outline
    shop.call("get_text")
    shop.call("execute_script", script=HELD)
    shop.call(
        "execute_script", script="out.textContent = area.value; console.log(area.value); throw new Error(area.value)"
    )
    shop.call("get_console")
    assert shown(shop, PASSWORD) == []
    assert '"value":"secret:SHOP"' in log_of(shop.home), "the log names the secret"


def shown(recorded: RecordedServer, secret: str) -> list[str]:
    """Return the places that have a secret, beside the operator's own file and the browser's saved cookies."""
    own = (str(recorded.home.folder / "secrets.toml"), str(recorded.home.folder / "storage"))
    return [place for place in recorded.places_of(secret) if not place.startswith(own)]


def log_of(home: Home) -> str:
    """Return all activity logs."""
    return "".join(file.read_text("utf-8") for file in home.folder.rglob("*.jsonl"))


def test_a_secret_is_typed_in_each_form_of_call(shop: RecordedServer) -> None:
    """As a step, side by side, and by an action of a script."""
    clear = {"action": "set_value", "selector": "#plain", "value": ""}
    steps = [clear, {"action": "set_value", "selector": "#plain", "value": "secret:SHOP"}, {"action": "get_text"}]
    ok(shop.call("execute_sequence", actions=steps, verbose=True))
    assert is_held(shop, "plain.value", PASSWORD)
    ok(shop.call("set_value", selector="#plain", value=""))
    ok(shop.call("execute_parallel", sequences=[{"sessionId": "ann", "actions": steps}], verbose=True))
    assert is_held(shop, "plain.value", PASSWORD)
    ok(shop.call("set_value", selector="#plain", value=""))
    ok(shop.call("run_script", script="await page.setValue({selector: '#plain', value: 'secret:SHOP'})"))
    assert is_held(shop, "plain.value", PASSWORD)
    ok(shop.call("cookies", action="set", name="token", value="secret:SHOP"))
    assert is_held(shop, "document.cookie", f"token={PASSWORD}")
    assert shop.call("cookies", action="get", name="token").data["cookies"][0]["value"] == "•••"
    assert shown(shop, PASSWORD) == []


def test_a_secret_goes_only_into_pages_of_its_entrys_origins(shop: RecordedServer) -> None:
    """Another origin, no origins and a sandboxed page are denied; the refusal says who can allow it, and how."""
    for name, reason in (("ELSEWHERE", "that is not among the origins of its entry"), ("PLAIN", "allows no origins")):
        for tool, arguments in (
            ("set_value", {"selector": "#pw", "value": f"secret:{name}"}),
            ("press_keys", {"selector": "#pw", "text": f"secret:{name}"}),
            ("press_keys", {"text": f"secret:{name}"}),
            ("cookies", {"action": "set", "name": "token", "value": f"secret:{name}"}),
            ("set_value", {"selector": "#pw", "value": f"totp:{name}"}),
        ):
            text = refused(shop.call(tool, **arguments), "denied")
            assert f":{name} is not typed into http://127.0.0.1:" in text
            assert reason in text
            assert 'Only whoever runs this server can allow it: origins = ["http://127.0.0.1:' in text
            assert f"below [{name}] in " in text
            assert f"ORCHESTRATOR_SECRET_{name}_ORIGINS" in text
    ok(shop.call("navigate", url=shop.url.replace("127.0.0.1", "localhost")))
    assert "into http://localhost:" in refused(shop.call("set_value", selector="#pw", value="secret:SHOP"), "denied")
    assert shop.call("execute_script", script=HELD).data["value"] == ",,old"
    assert shown(shop, PASSWORD) == []


FRAME = "<!doctype html><title>Frame</title><input id=f aria-label=Card>"


def test_a_secret_goes_into_the_frame_whose_own_origin_is_allowed(
    shop: RecordedServer, shared: tuple[RecordedServer, Site]
) -> None:
    """Not the page's origin counts but the frame's; a sandboxed frame has none, one of srcdoc has the page's."""
    site = shared[1]
    inner = site.page("/inner", FRAME)
    foreign = inner.replace("127.0.0.1", "localhost")
    site.page(
        "/outer",
        f"<iframe id=frame src='{inner}'></iframe><iframe id=other src='{foreign}'></iframe>"
        f"<iframe id=box sandbox='allow-scripts' src='{inner}'></iframe><iframe id=doc srcdoc='<input id=f>'></iframe>",
    )
    ok(shop.call("navigate", url=site.url("/outer", host="localhost")))
    assert not shop.call("set_value", selector="#frame >> #f", value="secret:SHOP").failed
    ok(shop.call("expect", selector="#frame >> #f", value=PASSWORD))
    assert "into http://localhost:" in refused(
        shop.call("set_value", selector="#other >> #f", value="secret:SHOP"), "denied"
    )
    ok(shop.call("navigate", url=site.url("/outer")))
    assert "into a page without an origin of its own" in refused(
        shop.call("set_value", selector="#box >> #f", value="secret:SHOP"), "denied"
    )
    ok(shop.call("set_value", selector="#doc >> #f", value="secret:SHOP"))
    ok(shop.call("expect", selector="#doc >> #f", value=PASSWORD))
    assert shown(shop, PASSWORD) == []


GRABS = (
    "<input id=f aria-label=Card><script>setInterval(() => f.focus(), 0);"
    "f.oninput = () => { fetch('/stolen', {method: 'POST', body: f.value}); f.value = '' }</script>"
)


def test_a_frame_that_grabs_the_focus_gets_no_secret(shop: RecordedServer, shared: tuple[RecordedServer, Site]) -> None:
    """Secrets, and other values of password fields, go to the document that was checked, whoever takes the focus."""
    site = shared[1]
    foreign = site.page("/grabs", GRABS).replace("127.0.0.1", "localhost")
    site.page("/stolen", "")
    ok(shop.call("navigate", url=site.page("/page", f"<input id=pw><iframe src='{foreign}'></iframe>")))
    given = [
        shop.call(tool, selector="#pw", **{name: "secret:SHOP"}).failed
        for _ in range(5)
        for tool, name in (("set_value", "value"), ("press_keys", "text"))
    ]
    assert "frame of another site" in refused(shop.call("press_keys", text="secret:SHOP"), "not_actionable")
    assert not all(given), "none was typed"
    ok(shop.call("navigate", url=site.page("/page", f"<input id=pw type=password><iframe src='{foreign}'></iframe>")))
    for _ in range(5):
        ok(shop.call("set_value", selector="#pw", value="typed by its value"))
        assert is_held(shop, "pw.value", "typed by its value")
    assert [visit.body for visit in site.visits("/stolen")] == []


def test_names_that_are_unknown_or_cannot_be_masked_are_refused(shop: RecordedServer) -> None:
    """An unknown name is told with those for this page; a short secret goes into password fields only."""
    text = refused(shop.call("set_value", selector="#pw", value="secret:SHOPP"), "invalid_argument")
    assert "There is no secret SHOPP. Those for http://127.0.0.1:" in text
    assert "BRIEF, IN_FILE, OTP, OTP_URI, SHOP, TINY, VAR" in text
    assert "ELSEWHERE" not in text, "names of other origins' secrets are not told"
    assert "shorter than 6 characters" in refused(
        shop.call("set_value", selector="#plain", value="secret:TINY"), "invalid_argument"
    )
    ok(shop.call("set_value", selector="#pw", value="secret:TINY"))
    assert "is no seed of one-time codes" in refused(
        shop.call("set_value", selector="#pw", value="totp:SHOP"), "invalid_argument"
    )
    refused(shop.call("set_value", selector="#tick", value="secret:SHOP"), "invalid_argument")
    ok(shop.call("set_value", selector="#plain", value="secret: no name"))
    ok(shop.call("expect", selector="#plain", value="secret: no name"))


def test_variables_hold_secrets_with_their_origins(shop: RecordedServer) -> None:
    """`ORCHESTRATOR_SECRET_NAME` with `ORCHESTRATOR_SECRET_NAME_ORIGINS`, or with the origins in the file's table."""
    for name in ("VAR", "IN_FILE"):
        ok(shop.call("set_value", selector="#plain", value=""))
        ok(shop.call("set_value", selector="#plain", value=f"secret:{name}"))
        assert is_held(shop, "plain.value", PASSWORD)
    refused(shop.call("set_value", selector="#plain", value="secret:BARE"), "denied")
    assert shown(shop, PASSWORD) == []


def test_python_types_secrets_without_origins_and_keeps_to_those_that_are_given(home: Home, site: Site) -> None:
    """A script could read the file itself; the origins of an entry hold for it, too."""
    keep(home)
    url = site.page("/fields", FIELDS)
    with Orchestrator(Settings.load({"home": home.folder, "namespace": "python", **home.settings})) as orchestrator:
        ann = orchestrator.start_browser(navigation_url=url)
        ann.set_value("#pw", "secret:PLAIN")
        assert ann.execute_script("return pw.value").value == PASSWORD
        with pytest.raises(Denied, match="not among the origins"):
            ann.set_value("#pw", "secret:ELSEWHERE")


class Account:
    """A login of two steps: the password, then the code of the second factor."""

    def __init__(self, site: Site) -> None:
        site.page("/code", self.ask_code)
        site.page("/account", self.welcome)
        self.url = site.page(
            "/signin",
            "<!doctype html><title>Sign in</title><form method=post action=/code><label>User <input name=user></label>"
            "<label>Password <input name=pw type=password></label><button>Next</button></form>",
        )

    def ask_code(self, visit: Visit) -> str:
        """Ask for the code once the password is right."""
        if parse_qs(visit.body.decode()).get("pw") != [PASSWORD]:
            return "<title>Wrong</title>Wrong password"
        return (
            "<!doctype html><title>Code</title><form method=post action=/account>"
            "<label>Code <input name=code autocomplete=one-time-code></label><button>Go</button></form>"
        )

    def welcome(self, visit: Visit) -> str:
        """Let in whoever has the code of now, or of the step before."""
        step = int(time.time()) // 30
        [code] = parse_qs(visit.body.decode()).get("code", [""])
        right = code in {code_of(SEED, step), code_of(SEED, step - 1)}
        return f"<!doctype html><title>{'Welcome' if right else 'Wrong'}</title><p>code {code}</p>"


def test_a_login_with_a_second_factor_runs_unattended(
    shop: RecordedServer, shared: tuple[RecordedServer, Site]
) -> None:
    """Password and code by name, in one call over MCP: signed in, and neither is shown, even where the page says it."""
    ok(shop.call("navigate", url=Account(shared[1]).url))
    ok(shop.call("har", action="start"))
    steps = [
        {"action": "set_value", "selector": "label=User", "value": "ann"},
        {"action": "set_value", "selector": "label=Password", "value": "secret:SHOP", "submit": True},
        {"action": "set_value", "selector": "label=Code", "value": "totp:OTP", "submit": True},
        {"action": "expect", "title": "Welcome"},
        {"action": "get_text"},
    ]
    done = ok(shop.call("execute_sequence", actions=steps, verbose=True))
    assert done.data["completed"] == 5
    assert "code •••" in done.text
    ok(shop.call("har", action="stop"))
    step = int(time.time()) // 30
    for secret in (PASSWORD, *(code_of(SEED, step - back) for back in range(3))):
        assert shown(shop, secret) == []


def test_codes_follow_the_uri_of_their_seed(shop: RecordedServer) -> None:
    """Digits, period and algorithm of an otpauth URI."""
    before = int(time.time()) // 60
    ok(shop.call("set_value", selector="#plain", value="totp:OTP_URI"))
    codes = [code_of(SEED, step, 8, "sha256") for step in (before, before + 1)]
    assert any(is_held(shop, "plain.value", code) for code in codes)


BOXES = (
    "<!doctype html><title>Code</title><div id=group>"
    + "".join(f"<input class=box maxlength=1 aria-label='Digit {n}'>" for n in range(1, 7))
    + "</div><script>boxes = [...document.querySelectorAll('.box')];"
    "boxes.forEach((box, at) => box.oninput = () => boxes[at + 1]?.focus())</script>"
)


@pytest.mark.parametrize("tool", ["set_value", "press_keys"])
def test_a_code_is_typed_into_boxes_of_one_character(shared: tuple[RecordedServer, Site], tool: str) -> None:
    """Each box gets its digit, and no outline shows one."""
    shop, site = shared
    ok(shop.call("navigate", url=site.page("/boxes", BOXES)))
    before = int(time.time()) // 30
    given = {"set_value": {"selector": "#group", "value": "totp:OTP"}, "press_keys": {"text": "totp:OTP"}}
    ok(shop.call("execute_script", script="boxes[0].focus()"))
    assert "warnings" not in ok(shop.call(tool, **given[tool])).data
    codes = [code_of(SEED, step) for step in (before, before + 1)]
    assert any(is_held(shop, "boxes.map(({ value }) => value).join('')", code) for code in codes)
    lines = [line for line in ok(shop.call("get_visible_elements")).text.splitlines() if "Digit" in line]
    assert [line.rpartition(" = ")[2] for line in lines] == ['"•••"'] * 6


def test_a_code_that_is_about_to_end_is_not_typed(shop: RecordedServer) -> None:
    """The next one is waited for, so that a code is valid for half of its period at least, three seconds at most."""
    ok(shop.call("execute_script", script="plain.oninput = () => { typedAt = Date.now() }"))
    for _ in range(3):
        ok(shop.call("set_value", selector="#plain", value="totp:BRIEF"))
        at = ok(shop.call("execute_script", script="return typedAt")).data["value"] / 1000
        assert is_held(shop, "plain.value", code_of(SEED, int(at) // 4))
        assert 4 - at % 4 > 1, "it was typed shortly before its end"


@pytest.mark.usefixtures("needs_webkitgtk")
def test_secrets_are_typed_by_the_driver_where_the_page_has_no_world_of_ours(shop: RecordedServer) -> None:
    """In WebKitGTK: by set_value and press_keys, into allowed pages alone, and shown by nothing."""
    ok(shop.call("start_browser", sessionId="kit", browser="webkitgtk", navigationUrl=shop.url))
    ok(shop.call("set_current_session", sessionId="kit"))
    ok(shop.call("set_value", selector="#plain", value="old"))
    ok(shop.call("set_value", selector="#plain", value="secret:SHOP"))
    assert is_held(shop, "plain.value", PASSWORD)
    ok(shop.call("press_keys", selector="#area", text="secret:SHOP"))
    ok(shop.call("press_keys", text="secret:SHOP"))
    assert is_held(shop, "area.value", PASSWORD * 2)
    refused(shop.call("set_value", selector="#pw", value="secret:ELSEWHERE"), "denied")
    ok(shop.call("get_visible_elements"))
    ok(shop.call("navigate", url=shop.url.replace("127.0.0.1", "localhost")))
    refused(shop.call("set_value", selector="#pw", value="secret:SHOP"), "denied")
    assert "WebKitGTK has no virtual authenticators" in refused(shop.call("passkeys", action="add"), "unsupported")
    assert shown(shop, PASSWORD) == []
    ok(shop.call("close_session", sessionId="kit"))
    ok(shop.call("set_current_session", sessionId="ann"))

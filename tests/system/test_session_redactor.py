"""Masking of typed secrets in one session: whole words, in what pages wrote, from digests alone."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from orchestrator.errors import InvalidArgument, RemoteFailure, ScriptThrew
from orchestrator.system.redaction.session_redactor import SessionRedactor
from orchestrator.system.redaction.typed_secrets import MOST
from orchestrator.system.secrets import Redactor


def typed(home: Path, *secrets: str) -> SessionRedactor:
    """Return the redactor of a session in which these were typed."""
    redactor = SessionRedactor(Redactor(), home)
    for secret in secrets:
        redactor.add(secret)
    return redactor


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("a button.", "a •••."),
        ("button", "•••"),
        ("two buttons, one rebutton, the button_id", "two buttons, one rebutton, the button_id"),
        ("?q=a%20button&b=button", "?q=a%20•••&b=•••"),
        ('{"a":"x\\nbutton"}', '{"a":"x\\n•••"}'),
        ('"\\u00fcbutton"', '"\\u00fc•••"'),
        ("Button", "Button"),
    ],
)
def test_a_typed_secret_is_masked_as_a_whole_word(tmp_path: Path, text: str, masked: str) -> None:
    """A typed word is masked where no character of a word is beside it; escapes are no such characters."""
    assert typed(tmp_path, "button").text(text) == masked


def test_a_typed_secret_is_masked_in_its_spellings(tmp_path: Path) -> None:
    """A secret of any characters is masked as JSON, HTML and URLs spell it."""
    redactor = typed(tmp_path, 'a<b&c>"d/e ü')
    for spelled in (
        'a<b&c>"d/e ü',
        "a&lt;b&amp;c&gt;&quot;d/e ü",
        'a<b&c>\\"d/e \\u00fc',
        "a%3Cb%26c%3E%22d%2Fe%20%C3%BC",
    ):
        assert redactor.text(f"it is {spelled}, yes") == "it is •••, yes"


@pytest.mark.parametrize(
    ("line", "masked"),
    [
        ('- button "a button" [e1] = "button"', '- button "a •••" [e1] = "•••"'),
        ("- text: a button [moved]", "- text: a ••• [moved]"),
        ('role=button[name="button"]', 'role=button[name="•••"]'),
        ("text=button", "text=•••"),
        ("The button's name is 'it's a button'.", "The button's name is 'it's a •••'."),
        ("Now at http://shop.test:4711/button?pin=4711", "Now at http://shop.test:4711/•••?pin=•••"),
        ('an unfinished "button', 'an unfinished "•••'),
    ],
)
def test_in_a_line_of_ours_only_what_it_quotes_is_masked(tmp_path: Path, line: str, masked: str) -> None:
    """Roles, refs and our words stay; names, values, texts and the paths of URLs are masked."""
    assert typed(tmp_path, "button", "4711").line(line) == masked


def test_in_errors_the_words_of_pages_and_remote_ends_are_masked(tmp_path: Path) -> None:
    """Of an error's message, what a script threw or a remote end said is masked, and our words are not."""
    redactor = typed(tmp_path, "button")
    thrown = ScriptThrew("The script threw: a button.", "a button")
    said = RemoteFailure("The button answered 'x': no button.", error="unknown error")
    ours = InvalidArgument("The button is gone.", hint="Press another button.", candidates=['button "button"'])
    for error in (thrown, said, ours):
        redactor.error(error)
    assert str(thrown) == "The script threw: a •••. Correct the script."
    assert said.message == "The button answered 'x': no •••."
    assert str(ours) == 'The button is gone. Press another button.\nCandidates:\n- button "•••"'


def test_digests_hold_no_secret_and_mean_nothing_in_another_home(tmp_path: Path) -> None:
    """Another redactor of the home masks by the digests of the first; with another key nothing is recognized."""
    first, second, elsewhere = (SessionRedactor(Redactor(), tmp_path / name) for name in ("a", "a", "b"))
    for name in "ab":
        (tmp_path / name).mkdir()
    kept = first.add("hunter22")
    assert kept is not None
    assert first.add("hunter22") is None, "it is kept once"
    assert "hunter22" not in str(kept)
    elsewhere.add("another")
    for redactor in (second, elsewhere):
        redactor.learn(kept)
    assert (second.text("hunter22"), elsewhere.text("hunter22")) == ("•••", "hunter22")


def test_servers_that_type_first_at_the_same_time_share_one_key(tmp_path: Path) -> None:
    """Of several that make the key of a home at once one wins, and no file is left beside it."""
    start, kept = threading.Barrier(8), []

    def add() -> None:
        start.wait()
        kept.append(SessionRedactor(Redactor(), tmp_path).add("hunter22"))

    threads = [threading.Thread(target=add) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({str(one) for one in kept}) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["typed_secrets.key"]


def test_a_session_keeps_its_newest_typed_secrets(tmp_path: Path) -> None:
    """After a hundred others, the first typed secret is no longer masked, and the last is."""
    redactor = typed(tmp_path, *(f"secret-{number:04}" for number in range(MOST + 1)))
    assert redactor.text("secret-0000 secret-0001 secret-0100") == "secret-0000 ••• •••"


def test_a_process_remembers_a_thousand_secrets_of_its_operator() -> None:
    """The secret that was longest not met is dropped for a new one; one that is met again stays."""
    redactor = Redactor()
    for number in range(1000):
        redactor.add(f"secret-{number:04}")
    redactor.add("secret-0000")
    redactor.add("another one")
    assert redactor.text("secret-0000 secret-0001 another one") == "••• secret-0001 •••"


def test_a_long_text_is_cut_without_the_half_of_a_secret(tmp_path: Path) -> None:
    """Where a text is cut, neither a secret nor its half remains."""
    redactor = typed(tmp_path, "hunter22")
    text = "say hunter22 " * 10
    for length in range(1, len(text) + 1):
        shown = redactor.beginning(text, length)
        assert "hunter" not in shown
        assert len(shown) <= length

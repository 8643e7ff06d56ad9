"""Recognizes what was typed into a session's password fields, from keyed digests alone."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path

from orchestrator.models.session import TypedSecret
from orchestrator.system.host import private_files
from orchestrator.system.secrets import MASK, SHORTEST, list_spellings

MOST = 100
"""Typed secrets that a session's record keeps; the oldest is dropped for a new one."""
_PIN = re.compile(r"\d{4,5}", re.ASCII)
_GRAM = 4
"""First characters of a secret that are compared before the whole."""
_PROBED = 128
"""Characters of a long secret that are compared."""
_MOST_GRAMS = 50_000
_START = re.compile(r"(?:(?<!\w)|(?<=%[0-9A-Fa-f]{2})|(?<=\\[bfnrt])|(?<=\\u[0-9A-Fa-f]{4}))(?=.)", re.DOTALL)
"""The beginning of a word, also after an escaped character of a URL or of JSON."""
_PATH = re.compile(r"(\w://[^\s/?#\"'<>]*)([^\s\"'<>]+)")
"""A URL in a text: scheme and host, and what follows."""


def digest_secret(secret: str, home: Path) -> TypedSecret | None:
    """Return what a record may keep of a typed secret; None for one that is too short to be masked.

    `home` is the setting; the key of the digests is in it.
    """
    is_pin = _PIN.fullmatch(secret) is not None
    if len(secret) < SHORTEST and not is_pin:
        return None
    key = _read_key(home) or _make_key(home)
    return TypedSecret(digests=tuple(sorted(_digest(key, one) for one in list_spellings(secret))), pin=is_pin)


class TypedSecrets:
    """Masks a session's typed secrets in texts, each as a whole word; a short number only in URLs and bodies.

    Nobody can read a secret here: a text's words are hashed, and the hashes compared.
    """

    def __init__(self, typed: Iterable[TypedSecret], home: Path) -> None:
        found = [(digest, one.pin) for one in typed for digest in one.digests]
        self._key = (_read_key(home) or b"") if found else b""
        self._all = _Digests(digest for digest, _ in found)
        self._words = _Digests(digest for digest, pin in found if not pin)
        self._grams: dict[str, str] = {}

    @property
    def longest(self) -> int:
        """Characters of the longest secret in its longest spelling; 0 without any."""
        return self._all.longest

    def mask(self, text: str, *, pins: bool = False) -> str:
        """Mask the secrets in a text; short numbers only behind the host of a URL, and everywhere with `pins`."""
        if not self._key:
            return text
        if pins and "://" not in text:
            return self._mask(text, self._all)
        if self._all.longest and self._all != self._words and "://" in text:
            text = _PATH.sub(lambda url: url[1] + self._mask(url[2], self._all), text)
        return self._mask(text, self._all if pins else self._words)

    def _mask(self, text: str, digests: _Digests) -> str:
        if len(text) < digests.shortest:
            return text
        kept, done = [], 0
        for start, end in self._find(text, digests):
            kept += [text[done:start], MASK]
            done = end
        return "".join([*kept, text[done:]]) if kept else text

    def _find(self, text: str, digests: _Digests) -> Iterator[tuple[int, int]]:
        """Yield where secrets begin and end; hash only windows whose first characters have a digest like theirs."""
        done = 0
        for word in _START.finditer(text):
            start = word.start()
            if start < done:
                continue
            for length in digests.lengths.get(self._digest_gram(text[start : start + _GRAM]), ()):
                end = start + length
                is_word = end == len(text) or (end < len(text) and not _is_word(text[end]))
                if is_word and _digest(self._key, text[start:end]) in digests.known:
                    yield start, end
                    done = end
                    break

    def _digest_gram(self, gram: str) -> str:
        known = self._grams.get(gram)
        if known is None:
            if len(self._grams) >= _MOST_GRAMS:
                self._grams.clear()
            known = self._grams[gram] = _short_digest(self._key, gram)
        return known


class _Digests:
    """Digests as records keep them, `LENGTH:GRAM:WHOLE`, by the digest of the first characters."""

    def __init__(self, digests: Iterable[str]) -> None:
        self.known = frozenset(digests)
        self.lengths: dict[str, list[int]] = {}
        for digest in self.known:
            length, gram, _ = digest.split(":")
            self.lengths.setdefault(gram, []).append(int(length))
        for lengths in self.lengths.values():
            lengths[:] = sorted({*lengths}, reverse=True)
        every = [length for lengths in self.lengths.values() for length in lengths]
        self.longest = max(every, default=0)
        self.shortest = min(every, default=1 << 62)


def _digest(key: bytes, secret: str) -> str:
    whole = hashlib.blake2b(_bytes(secret[:_PROBED]), key=key, digest_size=12).hexdigest()
    return f"{len(secret)}:{_short_digest(key, secret[:_GRAM])}:{whole}"


def _short_digest(key: bytes, gram: str) -> str:
    return hashlib.blake2b(_bytes(gram), key=key, digest_size=1, person=b"first").hexdigest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _path(home: Path) -> Path:
    return home / "typed_secrets.key"


@functools.cache
def _read_known_key(path: Path) -> bytes:
    return path.read_bytes()


def _read_key(home: Path) -> bytes | None:
    try:
        return _read_known_key(_path(home))
    except FileNotFoundError:
        return None


def _make_key(home: Path) -> bytes:
    """Make the key of a home, once: of two servers at the same time, the second takes the key of the first."""
    path = _path(home)
    own = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        private_files.create_with(own, secrets.token_bytes(32))
        os.link(own, path)
    except FileExistsError:
        pass
    finally:
        own.unlink(missing_ok=True)
    return _read_known_key(path)

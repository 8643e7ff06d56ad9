"""Link-local addresses, and the addresses and names where clouds keep a machine's keys."""

from __future__ import annotations

import ipaddress
import re
from fnmatch import fnmatchcase

_NETWORKS = tuple(
    map(
        ipaddress.ip_network,
        (
            *("169.254.0.0/16", "fe80::/10"),
            # Metadata of Amazon and Google by IPv6, of Alibaba, of Oracle; the host of Azure's agent.
            *("fd00:ec2::254/128", "fd20:ce::254/128", "100.100.100.200/32", "192.0.0.192/32", "168.63.129.16/32"),
        ),
    )
)
_NAMES = (
    *("metadata.google.internal", "metadata.goog", "metadata.azure.internal", "metadata.tencentyun.com"),
    *("instance-data", "instance-data.ec2.internal"),
    # What `/etc/hosts` and search domains of clouds' machines make of the first ones.
    "metadata",
)
HOST_PATTERNS = (
    *("169.254.*", "100.100.100.200", "192.0.0.192", "168.63.129.16"),
    *("fe8?:*", "fe9?:*", "fea?:*", "feb?:*", "fd00:ec2::254", "fd20:ce::254"),
    # IPv4 addresses inside IPv6 ones: mapped, compatible, and as the translators NAT64, SIIT and 6to4 take them.
    *(
        f"{prefix}{address}"
        for prefix in ("::ffff:", "::", "64:ff9b::", "::ffff:0:")
        for address in ("a9fe:*", "6464:64c8", "c000:c0", "a83f:8110")
    ),
    "2002:a9fe:*",
    *(f"{name}{dot}" for name in _NAMES for dot in ("", ".")),
)
"""The same as patterns of Chromium's resolver rules, which see hosts as the URL standard writes them."""
_EMBEDDING = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "::ffff:0:0:0/96", "::/96")))
"""Networks whose addresses end with an IPv4 one: NAT64, SIIT, and those that were called IPv4-compatible."""
_NO_LITERAL = re.compile(r"[g-z]|\..*[a-z]|[a-z].*\.")
"""Found in a pattern that no address matches: addresses have hexadecimal letters, and those with dots have none."""


def is_link_local(host: str) -> bool:
    """Return True for a link-local address or a cloud's metadata address or name, as the URL standard writes hosts."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host.rstrip(".").lower() in _NAMES
    embedded = _embedded(address)
    return any(one in network for one in (address, embedded) if one is not None for network in _NETWORKS)


def _embedded(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address inside an IPv6 one, if there is one."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if any(address in network for network in _EMBEDDING):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


def may_be_link_local(pattern: str) -> bool:
    """Return True unless no link-local address and no metadata name matches a pattern of hosts."""
    if any(fnmatchcase(name, pattern) for name in _NAMES):
        return True
    return is_link_local(pattern) if "*" not in pattern and "?" not in pattern else not _NO_LITERAL.search(pattern)

"""Which addresses may be called: public ones, and those of networks that a setting allows.

Whoever may make a webhook chooses where this machine connects to, so without this check it could
reach services that only this machine and its network may (databases, metadata of clouds). A name is
resolved once for each attempt, every address that it has must be allowed, and the connection is
made to one of the checked addresses: a second answer of the name server is never asked for.
"""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from queue import Empty, Queue
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Resolver = Callable[[str, int], list[str]]

URL_MAX_CHARS: Final = 2000
HOST_MAX_CHARS: Final = 253  # of a name in the domain name system
PORTS: Final = {"http": 80, "https": 443}
ADDRESSES_MAX: Final = 32  # of a name
NETWORKS_SETTING: Final = "ENGRAM_WEBHOOK_NETWORKS"
_VISIBLE_ASCII = re.compile(r"[!-~]+")
# Global addresses of IPv6 that are assigned to machines; of IPv6 nothing else is public.
_UNICAST: Final = IPv6Network("2000::/3")
# IPv6 addresses that stand for the IPv4 address in their last 32 bits.
_TRANSLATED: Final = IPv6Network("64:ff9b::/96")
# Names that always mean this machine (RFC 6761) end with this, and resolve to one of these.
_LOCAL_NAME: Final = "localhost"
_LOOPBACK: Final = (IPv4Address("127.0.0.1"), IPv6Address("::1"))
# Special addresses that Python's own tables do not name, or call global.
_SPECIAL: Final = (
    IPv4Network("192.0.0.0/24"),
    IPv4Network("192.88.99.0/24"),
    IPv6Network("2001::/23"),  # Teredo and other protocols
    IPv6Network("3fff::/20"),  # for documentation
)


class AddressError(Exception):
    """An address that may not be called, or a name without any; the text says why."""


@dataclass(frozen=True, slots=True)
class Target:
    """The parts of a checked URL; `path` holds the query, too."""

    scheme: str
    host: str  # a name in ASCII or an address, without brackets
    port: int
    path: str


def read_url(url: str) -> Target:
    """Return the parts of a URL; raise `AddressError` for what cannot or may not be called."""
    if len(url) > URL_MAX_CHARS or _VISIBLE_ASCII.fullmatch(url) is None:
        raise AddressError(f"Must be a URL of at most {URL_MAX_CHARS} visible ASCII characters.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise AddressError("Is no valid URL.") from None
    if parts.scheme not in PORTS:
        raise AddressError("Must begin with https:// or http://.")
    if parts.username is not None or parts.password is not None:
        raise AddressError("Must not contain a user or password.")
    if "\\" in url or not parts.hostname or port == 0 or len(parts.hostname) > HOST_MAX_CHARS:
        raise AddressError("Must name a host.")
    if parts.fragment or url.endswith("#"):
        raise AddressError("Must not contain a fragment (#).")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    target = Target(parts.scheme, parts.hostname, port or PORTS[parts.scheme], path)
    _refuse_host(target.host)
    return target


def addresses_of(
    target: Target, *, seconds: float, resolve: Resolver | None = None
) -> list[Address]:
    """Return the addresses of a target's host, all of them allowed, within some seconds.

    Raise `AddressError` when there are none, or one that is not allowed.
    """
    found = _within(seconds, resolve or lookup, target.host, target.port)
    if not found:
        raise AddressError(f"{target.host} has no address.")
    addresses = [ip_address(text.partition("%")[0]) for text in found[:ADDRESSES_MAX]]
    for address in addresses:
        refuse_address(address)
    return addresses


def lookup(host: str, port: int) -> list[str]:
    """Return the addresses of a host as the operating system resolves it; [] for none."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(str(one[4][0]) for one in found))


def refuse_address(address: Address) -> None:
    """Raise `AddressError` unless an address is public or in a network that is allowed."""
    own: Address = address
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        own = address.ipv4_mapped
    if not is_public(own) and not _is_in(own, allowed_networks()):
        raise AddressError(_not_public(str(address)))


def is_public(address: Address) -> bool:
    """Return whether an address belongs to one machine in the public internet."""
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _TRANSLATED:
            inner = IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
        if address not in _UNICAST:
            return False
    is_special = address.is_multicast or address.is_reserved or _is_in(address, _SPECIAL)
    return address.is_global and not is_special


def allowed_networks() -> list[Network]:
    """Return the networks of the setting, which were checked when the process started."""
    return [ip_network(name) for name in settings.ENGRAM_WEBHOOK_NETWORKS]


def _is_in(address: Address, networks: Iterable[Network]) -> bool:
    return any(address.version == one.version and address in one for one in networks)


def _refuse_host(host: str) -> None:
    """Refuse what can be told without resolving: an address in any spelling, a local name."""
    if (literal := _literal(host)) is not None:
        refuse_address(literal)
    if host.casefold().removesuffix(".").rpartition(".")[2] != _LOCAL_NAME:
        return
    if not any(_is_in(one, allowed_networks()) for one in _LOOPBACK):
        raise AddressError(_not_public(host))


def _not_public(host: str) -> str:
    return f"{host} is no public address. {NETWORKS_SETTING} can allow its network."


def _literal(host: str) -> Address | None:
    """Return the address that a host spells, also as `127.1`, `0x7f.1` or `2130706433`."""
    try:
        return ip_address(host.partition("%")[0])
    except ValueError:
        pass
    try:
        return IPv4Address(socket.inet_aton(host))  # as the operating system would read it
    except (OSError, UnicodeError):
        return None


def _within(seconds: float, resolve: Resolver, host: str, port: int) -> list[str]:
    """Resolve a name in a thread, because the operating system's call has no time limit."""
    answers: Queue[list[str] | Exception] = Queue()

    def run() -> None:
        try:
            answers.put(resolve(host, port))
        except Exception as error:  # noqa: BLE001  raised again below
            answers.put(error)

    threading.Thread(target=run, name="resolve", daemon=True).start()
    try:
        found = answers.get(timeout=seconds)
    except Empty:
        raise AddressError(f"The name {host} was not resolved in time.") from None
    if isinstance(found, Exception):
        raise found
    return found

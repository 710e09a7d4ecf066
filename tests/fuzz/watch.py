"""Watches over what runs on a hostile output: files that change, texts that get out, connections."""

from __future__ import annotations

import base64
import ctypes
import fcntl
import hashlib
import os
import socket
import stat
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from outputs import PORT

SECRET = b"KEPT-SECRET-OF-THIS-MACHINE-"  # of which a multiple of three bytes is repeated
TEXT = SECRET * 60
NEW_NETWORK = 0x40000000  # CLONE_NEWNET
RAISE, UP = 0x8914, 0x1 | 0x40  # SIOCSIFFLAGS; IFF_UP and IFF_RUNNING
LARGEST = 50_000_000  # bytes that are looked through of a file


class Leak(Exception):
    """Something connected or listened."""


def listing(folder: Path, *without: Path) -> dict[str, str]:
    """List everything below a folder, with kind, links, time of change and hash, but for some folders below it."""
    found = {}
    for path in _walk(folder, without):
        status = os.lstat(path)
        kind = stat.S_IFMT(status.st_mode)
        content = ""
        if stat.S_ISREG(kind):
            content = f"{status.st_size} {status.st_mtime_ns} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        elif stat.S_ISLNK(kind):
            content = os.readlink(path)
        found[os.fsencode(path.relative_to(folder)).decode("utf-8", "backslashreplace")] = f"{kind:o} {content}"
    return found


def _walk(folder: Path, without: tuple[Path, ...] = ()) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path in without:
            continue
        yield path
        if path.is_dir() and not path.is_symlink():
            yield from _walk(path, without)


def changes(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Say what differs between two listings."""
    return [
        f"{name} {'is new' if name not in before else 'is gone' if name not in after else 'changed'}"
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    ]


def telling(folder: Path) -> list[str]:
    """Name the files below a folder that hold the secret."""
    found = []
    for path in _walk(folder):
        if stat.S_ISREG(os.lstat(path).st_mode):
            with open(path, "rb") as handle:
                if tells(handle.read(LARGEST)):
                    found.append(str(path.relative_to(folder)))
    return found


def tells(content: bytes) -> bool:
    """Return whether a text holds the secret, as it is or in Base64."""
    turned = (base64.b64encode((TEXT * 2)[start : start + 90])[4:60] for start in range(3))
    return SECRET in content or any(text in content for text in turned)


class Network:
    """A network of this process and its children alone, where that is allowed, with a listener for who comes."""

    def __init__(self) -> None:
        """Leave the network, where this process may; listen on loopback."""
        self.own = os.path.exists("/proc/net/snmp") and not ctypes.CDLL(None).unshare(NEW_NETWORK)
        if self.own:
            with socket.socket() as one:
                fcntl.ioctl(one, RAISE, struct.pack("16sh", b"lo", UP) + bytes(14))
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind(("127.0.0.1", PORT))
        self._listener.listen(50)
        self._listener.setblocking(False)

    def came(self) -> bool:
        """Return whether somebody connected since the last time."""
        came = False
        with suppress(BlockingIOError):
            while True:
                self._listener.accept()[0].close()
                came = True
        return came

    def opened(self) -> int:
        """Count the connections that were opened so far, and the packets sent, by whatever language."""
        if not self.own:
            return 0
        with open("/proc/net/snmp") as handle:
            lines = [line.split() for line in handle]
        counts = {
            f"{names[0]}{name}": int(value)
            for names, values in zip(lines[::2], lines[1::2], strict=True)
            for name, value in zip(names[1:], values[1:], strict=True)
        }
        return counts["Tcp:ActiveOpens"] + counts["Udp:OutDatagrams"]


def guard(allowed: int = 0) -> None:
    """Let this process connect and bind to nothing but to a port of loopback, and between its own processes."""

    def guarded(name: str) -> Any:
        real = getattr(socket.socket, name)

        def refused(self: socket.socket, address: Any) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6) and not (allowed and address[1] == allowed):
                raise Leak(f"{name} {address}")
            return real(self, address)

        return refused

    for name in ("connect", "connect_ex", "bind"):
        setattr(socket.socket, name, guarded(name))

"""Keys and certificates made for a test, and model-signing's own command line."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PEM, PLAIN = serialization.Encoding.PEM, serialization.NoEncryption()


@dataclass(frozen=True)
class Pair:
    key: Path
    public: Path


def key_pair(folder: Path, name: str = "key", password: str = "") -> Pair:
    return write(ec.generate_private_key(ec.SECP256R1()), folder, name, password)


def write(key: ec.EllipticCurvePrivateKey, folder: Path, name: str, password: str = "") -> Pair:
    pair = Pair(folder / f"{name}.pem", folder / f"{name}.pub")
    locked = serialization.BestAvailableEncryption(password.encode()) if password else PLAIN
    pair.key.write_bytes(key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, locked))
    public = key.public_key().public_bytes(PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    pair.public.write_bytes(public)
    return pair


def authority(folder: Path) -> tuple[Path, Path, Path]:
    """Write a root certificate, a key that it certifies, and the certificate of this: root, key, certificate."""
    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    names = [x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]) for name in ("root", "maker")]
    now = datetime.now(UTC)
    for name, key, root in zip(names, keys, (True, False), strict=True):
        usage = x509.KeyUsage(True, False, False, False, False, root, root, False, False)
        days = timedelta(days=2 if root else 1), timedelta(days=2)
        serial = x509.random_serial_number()
        made = x509.CertificateBuilder(names[0], name, key.public_key(), serial, now - days[0], now + days[1])
        made = made.add_extension(x509.BasicConstraints(root, None), critical=True)
        signed = made.add_extension(usage, critical=True).sign(keys[0], hashes.SHA256())
        (folder / ("root.crt" if root else "maker.crt")).write_bytes(signed.public_bytes(PEM))
    return folder / "root.crt", write(keys[1], folder, "certified").key, folder / "maker.crt"


def theirs(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "model_signing", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)

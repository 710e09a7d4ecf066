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
    for number, name in enumerate(("root", "maker")):
        usage = x509.KeyUsage(True, False, False, False, False, number == 0, number == 0, False, False)
        made = (
            x509.CertificateBuilder()
            .subject_name(names[number])
            .issuer_name(names[0])
            .public_key(keys[number].public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=2 - number))
            .not_valid_after(now + timedelta(days=2))
            .add_extension(x509.BasicConstraints(ca=number == 0, path_length=None), critical=True)
            .add_extension(usage, critical=True)
            .sign(keys[0], hashes.SHA256())
        )
        (folder / f"{name}.crt").write_bytes(made.public_bytes(PEM))
    return folder / "root.crt", write(keys[1], folder, "certified").key, folder / "maker.crt"


def theirs(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "model_signing", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)

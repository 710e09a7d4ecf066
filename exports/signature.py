"""Create and verify `model.sig`, a Sigstore bundle that signs the files of an output."""

from __future__ import annotations

import base64
import contextlib
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.documents import parse_json, read_own, shortened
from ..core.errors import InputError
from ..core.extras import import_extra
from ..core.files import SIGNATURE, atomic, sha256_file
from ..core.output import Check, FinishedOutput
from ..core.output_files import BESIDE, lies_in, unaccounted
from ..core.progress import Working

CACHED = (".versions", "from.json")  # next to files copied from object storage
KINDS = {"publicKey": "a key", "x509CertificateChain": "a certificate", "certificate": "an identity (keyless)"}
UNREADABLE = (ValueError, LookupError, TypeError, AttributeError)  # InputError is a ValueError
MAKE_KEY = "`openssl ecparam -name prime256v1 -genkey -noout -out key.pem` creates one"
MAKE_PUBLIC = "`openssl ec -in key.pem -pubout -out key.pub` creates it"


@dataclass(frozen=True)
class Signer:
    """What to sign with: a private key, with its password file or certificate chain if needed, or None for keyless."""

    key: Path | None
    password: Path | None = None
    certificate: Path | None = None

    def configured(self) -> Any:
        """Return model-signing's configuration, with the key loaded.

        Raises:
            MissingExtraError: model-signing is not installed.
            UsageError: A file does not exist.
            InputError: A file cannot be used, or Sigstore cannot be reached.
        """
        for file in filter(None, (self.key, self.password, self.certificate)):
            read_own(file, errors="replace")  # a missing file is wrong usage, with or without the extra
        config = import_extra("model_signing.signing", what="a signature").Config()
        try:
            if self.key is None:
                return config.use_sigstore_signer(use_ambient_credentials=True)
            if self.certificate is not None:
                chain = [self.certificate]
                return config.use_certificate_signer(
                    private_key=self.key, signing_certificate=self.certificate, certificate_chain=chain
                )
            lines = read_own(self.password).splitlines() if self.password else []
            password = lines[0].encode() if lines else None  # annotated as text but requires bytes
            return config.use_elliptic_key_signer(private_key=self.key, password=password)
        except InputError:
            raise
        except Exception as error:  # cryptography and the network raise many types
            if self.key is None:
                raise InputError(
                    f"Sigstore is not available ({_reason(error)}). Try again, or sign with --key."
                ) from error
            also = f" with the certificate {self.certificate}" if self.certificate else ""
            raise InputError(
                f"{self.key} cannot sign{also} ({_reason(error)}). Pass a P-256, P-384 or P-521 private key as a PEM "
                f"file ({MAKE_KEY}), and the password of an encrypted one with --password-file."
            ) from error


def sign(output: FinishedOutput, config: Any) -> int:
    """Sign all published files of an output, and return their number. An earlier signature is replaced.

    Raises:
        InputError: The folder contains other files, or signing fails.
        OutputError: The signature cannot be written.
    """
    if other := next(unaccounted(output), ""):
        raise InputError(f"{output.path} contains {other}, which is not part of the output. Remove or move it.")
    hashing = import_extra("model_signing.hashing", what="a signature")
    config.set_hashing_config(hashing.Config().set_ignored_paths(paths=[SIGNATURE, *BESIDE]))
    with Working("signing"), atomic(output.path / SIGNATURE) as file:
        try:
            config.sign(output.path, file)
        except OSError:
            raise
        except Exception as error:  # raised for Sigstore's servers, or the identity provider
            raise InputError(
                f"{output.path} could not be signed ({_reason(error)}). Run the same command again."
            ) from error
    return sum(not lies_in(name, (SIGNATURE, *BESIDE)) for name in output.files())


def signature_check(pem: Path | None, identity: str | None, issuer: str | None) -> Check:
    """Return a check that an output is signed with a given key or certificate, or by a given identity.

    Args:
        pem: File with the key or certificate, or None for an identity.
        identity: The identity, such as an e-mail address.
        issuer: The provider that certifies the identity.

    Raises:
        MissingExtraError: model-signing is not installed.
        UsageError: The file does not exist.
        InputError: The file contains neither a key nor a certificate, or Sigstore cannot be reached.
    """
    is_certificate = pem is not None and "BEGIN CERTIFICATE" in read_own(pem, errors="replace")
    expected = "an identity (keyless)" if pem is None else "a certificate" if is_certificate else "a key"
    config = import_extra("model_signing.verifying", what="checking a signature").Config()
    try:
        if pem is None:
            config.use_sigstore_verifier(identity=identity, oidc_issuer=issuer)
        elif is_certificate:
            config.use_certificate_verifier(certificate_chain=[pem])
        else:
            config.use_elliptic_key_verifier(public_key=pem)
    except Exception as error:  # as above
        if pem is None:
            raise InputError(
                f"Sigstore is not available ({_reason(error)}). Try again with a network connection."
            ) from error
        raise InputError(
            f"--signed-by {pem} is neither a P-256, P-384 or P-521 public key nor a certificate ({_reason(error)}). "
            f"Pass the signer's PEM file; {MAKE_PUBLIC}."
        ) from error
    return lambda output: _problems(output, config, expected, str(pem or identity))


def _problems(output: FinishedOutput, config: Any, expected: str, name: str) -> Iterator[str]:
    file = output.path / SIGNATURE
    if not file.is_file():
        yield f"there is no {SIGNATURE}: the output is not signed, or its signature was removed. Ask the publisher"
        return
    try:
        kind, signed = signed_files(file)
    except UNREADABLE as error:
        yield f"{SIGNATURE} cannot be read ({_reason(error)}). Download it again, or ask the publisher for a new one"
        return
    if kind != expected:
        yield f"{SIGNATURE} was created with {kind}, but {name} is {expected}. Verify it with {kind}"
        return
    hashing = import_extra("model_signing.hashing", what="checking a signature")
    unsigned = [SIGNATURE, *CACHED, *_unsigned(signed)]
    config.set_hashing_config(hashing.Config().set_ignored_paths(paths=unsigned).set_allow_symlinks(True))
    try:
        with contextlib.redirect_stdout(sys.stderr):  # prints a warning, which must not appear in a report
            config.verify(output.path, file)
    except Exception as error:  # cryptography, OpenSSL and Sigstore have their own exceptions
        if not str(error).startswith("Signature mismatch"):
            yield f"{SIGNATURE} was not created with {name}, or was modified ({_reason(error)})"
            return
        differences = list(differing(output, signed))
        yield from differences or [_reason(error)]
    else:
        yield from differing(output, signed, hashes=False)  # a signature may exclude files


def signed_files(file: Path) -> tuple[str, Mapping[str, str]]:
    """Return the kind of a signature, and the SHA-256 of every file that it covers, without verifying it."""
    bundle = parse_json(read_own(file))
    kind = next((words for key, words in KINDS.items() if key in bundle["verificationMaterial"]), "something else")
    payload = parse_json(base64.b64decode(bundle["dsseEnvelope"]["payload"], validate=True).decode())
    return kind, {str(resource["name"]): str(resource["digest"]) for resource in payload["predicate"]["resources"]}


def check_signature(output: FinishedOutput) -> None:
    """Raise InputError if the files of an output do not match its signature. The signer is not verified."""
    file = output.path / SIGNATURE
    if not file.is_file():
        return
    try:
        wrong = next(differing(output, signed_files(file)[1]), "")
    except UNREADABLE as error:
        wrong = f"it cannot be read ({_reason(error)})"
    if wrong:
        raise InputError(
            f"{file} is not valid: {wrong}. You can also sign again with `stressreel sign`, or remove {SIGNATURE}."
        )


def differing(output: FinishedOutput, signed: Mapping[str, str], *, hashes: bool = True) -> Iterator[str]:
    """Yield a line for each file of an output that does not match a signature."""
    unsigned = (SIGNATURE, *_unsigned(signed))
    existing = {name for name in output.files() if not lies_in(name, unsigned)}
    for name in sorted(existing | signed.keys()):
        if name not in signed:
            yield f"{name} was not signed. Remove it if it was added"
        elif name not in existing:
            yield f"{name} was signed but is missing. Download it again"
        elif hashes and sha256_file(output.path / name) != signed[name]:
            yield f"{name} differs from the signed file. Download it again, or ask the publisher for a new signature"


def _unsigned(signed: Mapping[str, str]) -> list[str]:
    """Return the names in `BESIDE` that are not signed. model-signing's own command signs them if they exist."""
    return [beside for beside in BESIDE if not any(lies_in(name, [beside]) for name in signed)]


def _reason(error: Exception) -> str:
    return shortened(str(error) or type(error).__name__).strip("'\"")

"""Sign a finished output."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.errors import UsageError
from ..core.files import SIGNATURE
from ..core.functions import public
from ..core.results import Result
from ..core.rows import AnyPath

if TYPE_CHECKING:
    from ..exports.signature import Signer


@dataclass(frozen=True)
class Signed(Result):
    """Result of `sign`, with the path of the signature and the number of signed files."""

    path: Path
    files: int

    def __str__(self) -> str:
        return (
            f"Wrote {self.path}, which signs {self.files:,} files.\n"
            "Publish the public key elsewhere; `stressreel verify OUT --signed-by KEY` checks the signature."
        )


@public
def sign(
    out: AnyPath,
    *,
    key: Path | str | None = None,
    password_file: Path | str | None = None,
    certificate: Path | str | None = None,
    keyless: bool = False,
) -> Signed:
    """Sign an output, so that others can verify its origin and integrity.

    The signature, `out`/model.sig, is a Sigstore bundle in the format of OpenSSF Model Signing. It can be checked with
    `stressreel verify` or `model_signing verify`. Local files (.build, .git, the Hub's .cache) are not signed.

    For example::

        stressreel sign out/clavi --key key.pem

    Args:
        out: The output of a build.
        key: PEM file of a P-256, P-384 or P-521 private key.
        password_file: File whose first line is the password of an encrypted key.
        certificate: PEM file of the certificate chain of the key.
        keyless: Sign through Sigstore with an identity that is confirmed in a browser or provided by the environment.

    Returns:
        The path of the signature, and the number of signed files.

    Raises:
        UsageError: The output or a file does not exist, or options conflict.
        InputError: A file cannot be used, `out` contains foreign files, or Sigstore cannot be reached.
        MissingExtraError: model-signing is not installed.
        OutputError: The signature cannot be written.
    """
    from ..core.output import reading, writable
    from ..exports.signature import sign as write

    folder = Path(out)
    identity = signer(key, password_file, certificate, keyless=keyless)
    writable(folder)
    with reading(folder) as output:
        return Signed(folder / SIGNATURE, write(output, identity.configured()))


def signer(
    key: Path | str | None, password_file: Path | str | None, certificate: Path | str | None, *, keyless: bool = False
) -> Signer:
    """Return the signer that the options describe, or raise UsageError if they are incomplete or conflict."""
    from ..exports.signature import Signer

    if (key is None) == (not keyless):
        raise UsageError("Specify either --key FILE (the private key to sign with) or --keyless.")
    if keyless and (password_file is not None or certificate is not None):
        raise UsageError("--password-file and --certificate require --key.")
    if password_file is not None and certificate is not None:
        raise UsageError(
            "--password-file cannot be combined with --certificate, because model-signing does not support passwords "
            "with certificates."
        )
    return Signer(*(None if file is None else Path(file) for file in (key, password_file, certificate)))

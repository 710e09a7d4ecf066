"""List the licences that the Hugging Face Hub knows, and parse the licence of a dataset."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import Any

from .errors import printable

LICENCES = frozenset(
    {
        "afl-3.0", "agpl-3.0", "apache-2.0", "apple-amlr", "apple-ascl", "artistic-2.0", "bigcode-openrail-m",
        "bigscience-bloom-rail-1.0", "bigscience-openrail-m", "bsd", "bsd-2-clause", "bsd-3-clause",
        "bsd-3-clause-clear", "bsl-1.0", "c-uda", "cc", "cc-by-2.0", "cc-by-2.5", "cc-by-3.0", "cc-by-4.0",
        "cc-by-nc-2.0", "cc-by-nc-3.0", "cc-by-nc-4.0", "cc-by-nc-nd-3.0", "cc-by-nc-nd-4.0", "cc-by-nc-sa-2.0",
        "cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0", "cc-by-nd-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0", "cc0-1.0",
        "cdla-permissive-1.0", "cdla-permissive-2.0", "cdla-sharing-1.0", "creativeml-openrail-m",
        "deepfloyd-if-license", "ecl-2.0", "epl-1.0", "epl-2.0", "etalab-2.0", "eupl-1.1", "eupl-1.2",
        "fair-noncommercial-research-license", "gemma", "gfdl", "gpl", "gpl-2.0", "gpl-3.0", "grok2-community",
        "h-research", "intel-research", "isc", "lgpl", "lgpl-2.1", "lgpl-3.0", "lgpl-lr", "llama2", "llama3",
        "llama3.1", "llama3.2", "llama3.3", "llama4", "lppl-1.3c", "mit", "mpl-2.0", "ms-pl", "ncsa", "odbl",
        "odc-by", "ofl-1.1", "openmdw-1.0", "openrail", "openrail++", "osl-3.0", "pddl", "postgresql",
        "unlicense", "wtfpl", "zlib",
    }
)  # fmt: skip
"""Identifiers from https://huggingface.co/docs/hub/repositories-licenses, except `unknown` and `other`."""
CHOSEN = frozenset(
    {
        "afl-3.0", "agpl-3.0", "apache-2.0", "artistic-2.0", "bsd-2-clause", "bsd-3-clause",
        "bsd-3-clause-clear", "bsl-1.0", "cc0-1.0", "ecl-2.0", "epl-1.0", "epl-2.0", "eupl-1.1", "eupl-1.2",
        "gpl-2.0", "gpl-3.0", "isc", "lgpl-2.1", "lgpl-3.0", "lppl-1.3c", "mit", "mpl-2.0", "ms-pl", "ncsa",
        "ofl-1.1", "osl-3.0", "postgresql", "unlicense", "wtfpl", "zlib",
    }
)  # fmt: skip
"""Licences that choosealicense.com describes, except those of Creative Commons with attribution."""
COMMONS = re.compile(r"cc-(by(?:-nc)?(?:-nd|-sa)?)-([0-9.]+)")
OTHER = 'For another licence, give its name and link: --licence "other:NAME https://…", such as "other:my-terms-1.0".'
NAME = re.compile(r"[a-z0-9][a-z0-9.+_-]{0,99}")
LINK = re.compile(r"https?://[^\s/]+\S*")
LONGEST_LINK = 2000


def text_of(given: Any) -> str:
    """Return the value of an option, or raise ValueError if it is not a text."""
    if not isinstance(given, str):
        raise ValueError("must be a text")
    return given


def read_licence(given: Any) -> str:
    """Parse a licence: an identifier of the Hub in any case, or `other:NAME` with an optional link after a space.

    Raises:
        ValueError: The licence is unknown, or a name or link is not allowed.
    """
    given = " ".join(text_of(given).split())
    kind, colon, more = given.partition(":")
    if kind.strip().lower() != "other" or not colon:
        return _known(given)
    name, link = (*re.split(r"\s(?=\w+://)", more.strip(), maxsplit=1), "")[:2]
    if not NAME.fullmatch(name):
        slug = re.sub(r"[^a-z0-9.+_]+", "-", name.lower()).strip("-.+_")
        hint = f" Did you mean other:{slug}?" if slug and not name.startswith("http") else ""
        raise ValueError(f"must name the licence in lower case, without spaces.{hint} {OTHER}")
    if link:
        read_link(link)
    return f"other:{name} {link}".strip()


def _known(given: str) -> str:
    name = given.lower().replace(" ", "-")
    if name in LICENCES:
        return name
    if name in ("unknown", "other", ""):
        raise ValueError(f"names no licence. Choose one such as cc-by-4.0, or leave out --licence. {OTHER}")
    near = difflib.get_close_matches(re.sub(r"-licen[cs]e$", "", name), sorted(LICENCES), 3, 0.5)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    raise ValueError(f"is not a licence that the Hugging Face Hub knows, such as cc-by-4.0.{hint} {OTHER}")


def read_link(given: Any) -> str:
    """Return an address unchanged, or raise ValueError if it is not one that browsers open."""
    text = text_of(given)
    if not LINK.fullmatch(text) or len(text) > LONGEST_LINK or printable(text) != text:
        raise ValueError(
            f"must be an address that starts with https:// or http://, of at most {LONGEST_LINK} characters"
        )
    return text


def licence_link(fields: Mapping[str, str]) -> str:
    """Return the address of a licence's text, given its entries in the YAML header of a card, or "" if unknown."""
    name = fields["license"]
    if "license_link" in fields:
        return fields["license_link"]
    if common := COMMONS.fullmatch(name):
        return f"https://creativecommons.org/licenses/{common[1]}/{common[2]}/"
    return f"https://choosealicense.com/licenses/{name}/" if name in CHOSEN else ""


def card_fields(licence: str) -> Mapping[str, str]:
    """Return the entries of a licence in the YAML header of a card."""
    kind, colon, more = licence.partition(":")
    if not colon:
        return {"license": kind}
    name, _, link = more.partition(" ")
    return {"license": "other", "license_name": name, **({"license_link": link} if link else {})}

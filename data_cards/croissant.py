"""Describe outputs in the Croissant format (`croissant.json`), for search engines and data loaders.

Croissant 1.1 with its vocabulary for responsible AI (https://docs.mlcommons.org/croissant). URLs are relative, so that
the file does not depend on its location. Fields unknown before publication are omitted: `url`, `creator` and
`datePublished`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.canary import WHY
from ..core.documents import parse_json, read_own
from ..core.files import sha256_file
from ..core.fingerprint import FILE as UNITS
from ..core.output import FinishedOutput
from ..core.schema import Column, Config
from ..core.source import Source, source_of

FILE = "croissant.json"
CONFORMS_TO = ("http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0")
PARQUET = "application/x-parquet"  # mlcroissant's name for Parquet
LICENSES = "https://choosealicense.com/licenses/"
UNSAID = ("other", "unknown")  # Hub licences that identify no licence
TYPES = {
    "string": "sc:Text",
    "strings": "sc:Text",
    "int32": "cr:Int32",
    "int64": "cr:Int64",
    "integers": "cr:Int32",
    "label": "cr:Int64",
    "float64": "cr:Float64",
    "bool": "sc:Boolean",
    "video": "sc:VideoObject",
}
CONTEXT = parse_json(read_own(Path(__file__).parent / "croissant_context.json"))
"""The names that Croissant 1.1 defines, of which readers expect all."""


def render_croissant(
    output: FinishedOutput, configs: Sequence[Config], head: Mapping[str, Any], biases: Sequence[str]
) -> str:
    """Return the text of `croissant.json`. All shards must exist, as they are hashed; unbuilt tables are omitted."""
    info = output.info
    source = source_of(info)
    built = [config for config in configs if config.name in info["counts"]]
    tables = "; ".join(f"{config.name}: {config.meaning}" for config in built)
    content = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": list(CONFORMS_TO),
        "name": head["pretty_name"],
        "description": f"Built by stressreel {info['tools']['stressreel']} from {source.name}. Tables: {tables}. "
        f"Content fingerprint {info['fingerprint']}." + (f" {WHY} {info['canary']}." if info.get("canary") else ""),
        "version": info["dataset_version"],
        "license": _license(source),
        "citeAs": source.citation,
        "inLanguage": head.get("language", []),
        "keywords": head.get("tags", []),
        "isLiveDataset": False,
        **_responsibility(info, source, biases),
        "distribution": [
            *_files(output, built),
            *(
                {
                    "@type": "cr:FileSet",
                    "@id": _shards(config.name),
                    "name": _shards(config.name),
                    "description": f"the shards of table {config.name}, all splits",
                    "encodingFormat": PARQUET,
                    "includes": f"{config.name}/*-of-*.parquet",
                }
                for config in built
            ),
        ],
        "recordSet": [_record_set(config) for config in built],
    }
    said = {key: value for key, value in content.items() if value not in ("", [])}
    return json.dumps(said, indent=2, ensure_ascii=False) + "\n"


def _license(source: Source) -> str:
    found = source.license
    if "license_link" in found:
        return found["license_link"]
    name = found["license"]
    return found.get("license_name", name) if name in UNSAID else f"{LICENSES}{name}/"


def _responsibility(info: Mapping[str, Any], source: Source, biases: Sequence[str]) -> dict[str, Any]:
    """Return the `rai:` fields with known values."""
    skips = info["skips"]
    reasons = ", ".join(f"{reason}: {count:,}" for reason, count in sorted(skips["by_reason"].items()))
    tools = ", ".join(f"{name} {version}" for name, version in info["tools"].items())
    whose = f" ({source.link})" if source.link else ""
    terms = f" Terms: {source.terms}." if source.terms else ""
    if source.drawn:
        collection, limits = (
            "Videos and annotations were drawn by stressreel. Nobody was filmed.",
            ["The videos are drawn. Scores on them say nothing about a model."],
        )
    else:
        collection, limits = f"Videos and annotations are those of {source.name}{whose}.{terms}", []
    return {
        "rai:dataCollection": collection,
        "rai:dataCollectionType": ["Others" if source.drawn else "Secondary Data Analysis"],
        "rai:dataCollectionRawData": "; ".join(f"{name}, SHA-256 {sha256}" for name, sha256 in info["inputs"].items()),
        "rai:dataCollectionMissingData": f"{skips['count']:,} left out ({reasons})." if skips["count"] else "",
        "rai:dataPreprocessingProtocol": [f"The command in README.md, with these tools: {tools}."],
        "rai:dataBiases": list(biases),
        "rai:dataLimitations": limits,
        "rai:dataUseCases": ["Testing: diagnostic evaluation of video-language models."],
    }


def _source(table: str, column: str, path: str) -> dict[str, Any]:
    taken = {"transform": {"jsonPath": path}} if path else {}
    return {"fileSet": {"@id": _shards(table)}, "extract": {"column": column}, **taken}


def _shards(table: str) -> str:
    return f"{table}-shards"


def _files(output: FinishedOutput, built: Sequence[Config]) -> list[dict[str, Any]]:
    units = output.path / UNITS
    paths = [path for config in built for path in output.shards(config.name)]
    if units.is_file():
        paths.append(units)
    found = []
    for path in paths:
        name = path.relative_to(output.path).as_posix()
        found.append(
            {
                "@type": "cr:FileObject",
                "@id": name,
                "name": name,
                "contentUrl": name,
                "contentSize": f"{path.stat().st_size} B",
                "encodingFormat": PARQUET,
                "sha256": sha256_file(path),
            }
        )
    return found


def _record_set(config: Config) -> dict[str, Any]:
    """Describe a table; its splits, which are encoded in the names of its shards, become a field."""
    split = {
        "@type": "cr:Field",
        "@id": f"{config.name}/split",
        "name": "split",
        "description": "the split, by the name of the shard",
        "dataType": "sc:Text",
        "source": {
            "fileSet": {"@id": _shards(config.name)},
            "extract": {"fileProperty": "filename"},
            "transform": {"regex": r"^(.+)-\d{5}-of-\d{5}\.parquet$"},
        },
    }
    named = any(column.name == "split" for column in config.columns)
    return {
        "@type": "cr:RecordSet",
        "@id": config.name,
        "name": config.name,
        "description": config.meaning,
        "key": [{"@id": f"{config.name}/{column.name}"} for column in config.columns[: config.key_columns]],
        "field": [*([] if named else [split]), *(_field(config.name, column) for column in config.columns)],
    }


def _field(table: str, column: Column) -> dict[str, Any]:
    source = _source(table, column.name, "bytes" if column.kind == "video" else "")
    field = _leaf(f"{table}/{column.name}", column, source)
    if column.kind != "records":
        return field
    inner = [
        _leaf(f"{field['@id']}/{each.name}", each, _source(table, column.name, each.name)) for each in column.fields
    ]
    return {**field, "subField": inner}


def _leaf(name: str, column: Column, source: dict[str, Any]) -> dict[str, Any]:
    labels = ", ".join(f"{number} = {label}" for number, label in enumerate(column.names))
    array = {"isArray": True, "arrayShape": "-1"} if column.kind in ("strings", "integers", "records") else {}
    typed = {} if column.kind == "records" else {"dataType": TYPES[column.kind], "source": source}
    same = {"equivalentProperty": "sc:sha256"} if column.name == "sha256" else {}
    return {
        "@type": "cr:Field",
        "@id": name,
        "name": column.name,
        "description": column.meaning + (f" ({labels})" if labels else ""),
        **typed,
        **array,
        **same,
    }

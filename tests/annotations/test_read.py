from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml
from stressreel.annotations.actions import Annotations
from stressreel.annotations.captions import CaptionedClips, read_captions
from stressreel.annotations.causalchaos import read_events
from stressreel.annotations.charades import read_charades, read_charades_sta
from stressreel.annotations.msrvtt import read_msrvtt
from stressreel.annotations.segments import read_segments
from stressreel.annotations.youcook2 import read_steps, read_youcook2

Found = CaptionedClips | Annotations
CASES = yaml.safe_load(Path(__file__).with_name("read.yaml").read_text(encoding="utf-8"))


def segments(path: Path, rate: int | None = None, **options: Any) -> Annotations:
    return read_segments(path, rate=rate and Fraction(rate), **options)


def events(path: Path, rate_of: dict[str, int], **options: Any) -> Annotations:
    return read_events(path, rate_of={name: Fraction(rate) for name, rate in rate_of.items()}, **options)


READERS: dict[str, Callable[..., Found]] = {
    "captions": read_captions,
    "charades": read_charades,
    "events": events,
    "msrvtt": read_msrvtt,
    "segments": segments,
    "sta": lambda path: read_charades_sta(path, read_charades(path)),
    "steps": read_steps,
    "youcook2": read_youcook2,
}


def seen(found: Found) -> dict[str, Any]:
    """Write what was read as `read.yaml` has it."""
    known: dict[str, Any] = {
        "files": sorted(found.hashes),
        "counts": {name: count for name, count in sorted(found.counts.items()) if count},
    }
    if isinstance(found, CaptionedClips):
        clips = [[c.id, c.source_id, c.start_s, c.end_s, list(c.captions), c.split] for c in found.clips]
        return {"clips": clips, **known}
    videos = [
        [v.id, v.split, v.subject, v.length_s, sorted(v.verbs), sorted(v.objects), len(v.columns), len(v.mentions)]
        for v in found.videos
    ]
    parts = [
        [v.id, s.action.key, s.action.phrase, s.action.asked, sorted(s.action.objects), s.start_s, s.end_s]
        for v in found.videos
        for s in v.segments
    ]
    return {"videos": videos, "segments": parts, **known}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['reader']}: {case['what']}")
def test_what_is_read(tmp_path: Path, case: dict[str, Any]) -> None:
    for name, text in case["files"].items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    assert seen(READERS[case["reader"]](tmp_path / case["path"], **case["options"])) == case["read"]

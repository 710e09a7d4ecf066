"""Decode and encode videos. No other package may use decoders, encoders or FFmpeg."""

from __future__ import annotations

from typing import Literal

Preset = Literal["ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow"]
CRF = 23
PRESET: Preset = "veryfast"

"""The presets and defaults of x264. This module imports nothing, so that commands start quickly."""

from __future__ import annotations

from typing import Literal

Preset = Literal["ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow"]
CRF = 23
PRESET: Preset = "veryfast"

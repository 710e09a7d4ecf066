"""The 18 visual perturbations, with one module for each family."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Frame = NDArray[np.uint8]
"""(H, W, C) uint8, C = 1 or 3, any size from 1 x 1."""

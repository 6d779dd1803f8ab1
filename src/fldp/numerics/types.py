"""Array types."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = float | Floats  # of one value, or of all

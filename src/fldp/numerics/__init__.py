"""Numbers without meaning: compiled kernels, the Walsh-Hadamard transform, projective geometry, binomial bounds."""

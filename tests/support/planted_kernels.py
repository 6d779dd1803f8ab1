"""A kernel, and the same with what makes kernels slow: each by one word of the source."""

import numpy as np

from fldp.numerics.kernels import ONE, U64, ZERO, Kernel

THREE = U64(3)


@Kernel
def right(numbers, out):
    for i in range(len(numbers)):
        out[i] = numbers[i] * THREE


@Kernel
def divides(numbers, out):
    for i in range(len(numbers)):
        out[i] = numbers[i] // (ONE + out[i])


@Kernel
def floats(numbers, out):
    for i in range(len(numbers)):
        out[i] = numbers[i] / THREE


@Kernel
def depends(numbers, out):
    """Each number waits for the one before."""
    last = ZERO
    for i in range(len(numbers)):
        last = (last ^ numbers[i]) * THREE
        out[i] = last


@Kernel
def allocates(numbers, out):
    for i in range(len(numbers)):
        row = np.full(2, numbers[i])
        out[i] = row[0] * THREE


def called():
    """Call every one of them, and return them."""
    kernels = right, divides, floats, depends, allocates
    for kernel in kernels:
        kernel.compiled(np.zeros(8, np.uint64), np.zeros(8, np.uint64))
    return kernels

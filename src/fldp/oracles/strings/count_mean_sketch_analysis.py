"""The analysis of count-mean sketches: that of the response over the buckets."""

from collections.abc import Iterator

from fldp.data.reports import Array, Tally
from fldp.oracles.base.analysis import Analysis, analyses
from fldp.oracles.base.revelations import Part
from fldp.oracles.strings.count_mean_sketch import SketchOracle


@analyses(SketchOracle)
class SketchAnalysis(Analysis[SketchOracle]):
    """A hash function, and a response over its buckets."""

    def parts(self, tally: Tally, data: Array | None) -> Iterator[Part]:
        """Yield the buckets, pooled over hash functions: honest if the originals are."""
        response = self.oracle.response
        state = tally.state[:, 1:].sum(axis=0).reshape(response.tally_shape)
        yield Part("buckets", Tally(response, state, tally.n), None if data is None else self.oracle.split(data)[1])

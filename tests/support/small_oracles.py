"""Oracles small enough to enumerate."""

import fldp

SMALL = [
    fldp.RR(1.0),
    fldp.GRR(0.5, 5),
    fldp.SUE(1.0, 5),
    fldp.OUE(2.0, 5),
    fldp.SS(0.5, 7),
    fldp.HR(1.0, 6),
    fldp.HR(2.0, 7, 2),
    fldp.PGR(1.0, 6),
    fldp.Wave(1.0, 6, width=1),
    fldp.HRR(1.0, 6),
    fldp.FWR(1.0, 5),
    fldp.FWR(2.0, 7, 0.5, 1),
    fldp.FWR(1.0, 4, 0.25, 1, allow_exposure=True),
    fldp.FHR(1.0, 7),
    fldp.FHR(0.5, 5),
    fldp.Grouped(1.0, base="hrr", groups=[3, 4]),
    fldp.Grouped(1.0, base="oue", groups=[1, 2, 3], allow_exposure=True),
]

"""Oracles under FLDP: FHR and FWR, on Hadamard rows."""

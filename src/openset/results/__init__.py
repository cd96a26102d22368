"""One result document: metric values, paired tests, spreads over splits, notes, gate, provenance, verdicts."""

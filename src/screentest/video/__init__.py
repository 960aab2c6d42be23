"""The video engine: probe, decode once for many, sample, find shots, splice."""

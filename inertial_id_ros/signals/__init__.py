"""Samples on their way in: inbox, checks, ring buffers, 10 ms bins, the zero-phase low-pass."""

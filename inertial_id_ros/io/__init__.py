"""Bytes and text from outside, as plain values: files, YAML, URDF, serialised messages."""

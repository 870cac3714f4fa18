"""Identification of whole robots: published answers, real recordings, solve times."""

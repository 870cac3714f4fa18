"""The road of a sample from inbox to verdict, as one object: the identifier."""

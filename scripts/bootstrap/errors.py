"""The one error of the set-up."""


class SetupError(Exception):
    """Set-up cannot go on; its text is one sentence that says what to do."""

"""Every error this package raises on purpose, under one root."""


class InertialIdError(Exception):
    """Root of all errors of this package; its text is one sentence for the user."""


class InvalidSetting(InertialIdError):
    """A setting's value is not allowed; the text names setting, value and what is allowed."""


class InvalidData(InertialIdError):
    """Samples or arrays of the wrong shape, not finite, or not physical."""


class InvalidShape(InertialIdError):
    """A shape that encloses no volume, is not watertight, or cannot be read."""


class InvalidModel(InertialIdError):
    """A robot description that cannot be used."""


class UnknownFrame(InertialIdError):
    """A frame that is neither in the robot description nor in the transforms."""


class RecordingError(InertialIdError):
    """A recording that cannot be read or lacks what identification needs."""


class UnknownEstimator(InertialIdError):
    """An estimator name that is not registered."""


class NotEnoughData(InertialIdError):
    """Too few samples, or too little motion, for the estimator that was asked."""


class DamagedFile(InertialIdError):
    """A file that does not hold what it should; the text says what is wrong with it."""

"""The exceptions of this package, all below `InertialIdError`."""


class InertialIdError(Exception):
    """Base of all exceptions of this package; the text is one sentence for the user."""


class InvalidSetting(InertialIdError):
    """A setting's value is not allowed; the text names setting, value and what is allowed."""


class InvalidData(InertialIdError):
    """Arrays of the wrong shape or type, or numbers that no payload or robot explains."""


class InvalidShape(InertialIdError):
    """A shape that encloses no volume, is not watertight, or cannot be read."""


class InvalidModel(InertialIdError):
    """A robot description, or the model made of it, that cannot be used."""


class UnknownFrame(InertialIdError):
    """A frame that is neither in the robot description nor in the transforms."""


class RecordingError(InertialIdError):
    """A recording that cannot be read or lacks what identification needs."""


class UnknownEstimator(InertialIdError):
    """A name of no estimator."""


class NotEnoughData(InertialIdError):
    """Too few samples, or too little motion, for what was asked."""


class DamagedFile(InertialIdError):
    """A file whose content cannot be used; the text says what is wrong with it."""

class Void(Exception):
    """A measurement that means nothing, and why."""

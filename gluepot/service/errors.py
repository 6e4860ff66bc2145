"""Errors that clients get. Their codes are those of AWS, because clients decide by them."""

from __future__ import annotations

MISSING = "EntityNotFoundException"
"""The code for a name that nothing has."""


class ServiceError(Exception):
    """An operation was refused.

    Args:
        code: the name of AWS Glue's exception, such as `EntityNotFoundException`.
        message: what happened, for people.
        status: the HTTP status.
    """

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status


def not_found(message: str) -> ServiceError:
    """Return the error for a name that nothing has."""
    return ServiceError(MISSING, message)


def invalid(message: str) -> ServiceError:
    """Return the error for a value that breaks a rule beyond its shape."""
    return ServiceError("InvalidInputException", message)


def taken(message: str) -> ServiceError:
    """Return the error for a name that something else has."""
    return ServiceError("AlreadyExistsException", message)

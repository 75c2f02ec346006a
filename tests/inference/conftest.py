"""Fixtures of small models."""

from tests.inference.models import photographs, project

__all__ = ["photographs", "project"]

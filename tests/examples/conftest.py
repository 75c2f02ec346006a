from tests.miniature import folder

__all__ = ["folder"]

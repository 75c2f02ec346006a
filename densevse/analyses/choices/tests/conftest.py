from tests.miniature import files, folder

__all__ = ["files", "folder"]

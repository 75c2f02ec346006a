from tests.command.conftest import densevse
from tests.miniature import files, folder

__all__ = ["densevse", "files", "folder"]

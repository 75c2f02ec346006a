"""The names of a network's classes, in the order of its scores."""

from pathlib import Path

from densevse.vision.quiet_torchvision import models
from snakeproof.errors import InputError


def read_classes(path: str | Path | None) -> list[str]:
    """The names in a file, one a line; without a file, ImageNet's 1,000, which torchvision has.

    Raises `InputError` for an empty line, or a file that is not text in UTF-8.
    """
    if path is None:
        return list(models.AlexNet_Weights.IMAGENET1K_V1.meta["categories"])
    try:
        names = Path(path).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not text in UTF-8 ({error}); save it so.") from error
    if not names or not all(name.strip() for name in names):
        raise InputError(f"{path}: expected one class name in each line, in the order of the network's scores.")
    return names

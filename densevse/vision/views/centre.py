"""The view `centre`: the central square of side `size` of the resized image (VSE++).

This removes a quarter of a square image.
"""

from densevse.vision.crops import Pixels, centre_crop, resize_shorter_side
from densevse.vision.views import Extraction


class Centre(Extraction):
    """The vector of the central square."""

    def crops(self, pixels: Pixels, resize: int, size: int) -> Pixels:
        """(1, size, size, 3): the central square of the image whose shorter side is `resize` pixels."""
        return centre_crop(resize_shorter_side(pixels, resize), size)[None]


EXTRACTION = Centre()

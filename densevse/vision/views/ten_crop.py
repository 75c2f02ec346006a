"""The view `ten_crop`: the centre and corners of the resized image, and their mirror images (SCO, section 4.2)."""

import numpy as np

from densevse.vision.crops import Pixels, centre_crop, resize_shorter_side
from densevse.vision.views import Extraction


class TenCrop(Extraction):
    """The mean vector of ten crops."""

    crops_of_image = 10

    def crops(self, pixels: Pixels, resize: int, size: int) -> Pixels:
        """(10, size, size, 3): corners and centre of the image whose shorter side is `resize` pixels, then mirrored."""
        resized = resize_shorter_side(pixels, resize)
        right, bottom = resized.shape[1] - size, resized.shape[0] - size
        corners = [resized[y : y + size, x : x + size] for y in (0, bottom) for x in (0, right)]
        five = np.stack([*corners, centre_crop(resized, size)])
        return np.concatenate([five, five[:, :, ::-1]])


EXTRACTION = TenCrop()

"""The view `whole`: the whole image, squeezed into the network's square as R-CNN squeezes a region."""

from densevse.vision.crops import Pixels, squeeze_image
from densevse.vision.views import Extraction


class Whole(Extraction):
    """The vector of the whole image."""

    def crops(self, pixels: Pixels, resize: int, size: int) -> Pixels:
        """(1, size, size, 3): the image, squeezed."""
        return squeeze_image(pixels, size)[None]


EXTRACTION = Whole()

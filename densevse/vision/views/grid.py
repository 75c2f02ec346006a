"""The view `grid`: the cells of a convolution of the whole image (sm-LSTM: 196 cells of conv5_4)."""

import numpy as np
from numpy.typing import NDArray

from densevse.vision.crops import Pixels, squeeze_image
from densevse.vision.networks import Network
from densevse.vision.views import Extraction, planes


class Grid(Extraction):
    """A vector for each cell of a convolution."""

    def crops(self, pixels: Pixels, resize: int, size: int) -> Pixels:
        """(1, size, size, 3): the image, squeezed."""
        return squeeze_image(pixels, size)[None]

    def features(self, network: Network, pixels: Pixels, layer: str) -> NDArray[np.float32]:
        """(images, cells, D), row by row. Raises `InputError` if the layer is not a convolution."""
        return network.grid(planes(pixels), layer).cpu().numpy()


EXTRACTION = Grid()

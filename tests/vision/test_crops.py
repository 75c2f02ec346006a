import numpy as np
import pytest

from densevse.vision.crops import warp

FILL = (1, 2, 3)


def ramp(width: int = 200, height: int = 150) -> np.ndarray:
    image = np.zeros((height, width, 3), np.uint8)
    image[:, :, 0] = np.arange(width)
    image[:, :, 1] = np.arange(height)[:, None]
    image[:, :, 2] = 9
    return image


def test_a_whole_image_of_the_right_size_stays_as_it_is():
    image = ramp(64, 64)
    np.testing.assert_array_equal(warp(image, np.float32([0, 0, 64, 64]), 64, 0, FILL), image)


@pytest.mark.parametrize("size", [227, 454])
def test_context_of_16_pixels_surrounds_the_box(size):
    crop = warp(ramp(), np.float32([60, 50, 80, 60]), size, 16, FILL)
    assert (crop[:, :, 2] == 9).all()  # nothing lies beyond the image
    edge = size * 16 // 227
    for axis, begin, end in ((0, 60, 140), (1, 50, 110)):
        line = crop[size // 2, :, 0] if axis == 0 else crop[:, size // 2, 1]
        assert abs(int(line[edge]) - begin) <= 1
        assert abs(int(line[size - 1 - edge]) - end) <= 1
        assert line[0] < begin - 4
        assert line[-1] > end + 3


def test_what_lies_beyond_the_image_is_filled():
    # R-CNN widens the box to -7 .. 87 (95 pixels with both ends): 7 columns beyond the image are 17 of the crop.
    crop = warp(ramp(), np.float32([0, 40, 80, 80]), 227, 16, FILL)
    assert (crop[:, :17] == FILL).all()
    assert (crop[:, 17:, 2] == 9).all()
    corner = warp(ramp(), np.float32([120, 70, 80, 80]), 227, 16, FILL)
    assert (corner[-10:] == FILL).all()
    assert (corner[:, -10:] == FILL).all()
    assert (corner[:200, :200, 2] == 9).all()


@pytest.mark.parametrize("box", [(0, 0, 1, 1), (199, 149, 1, 1), (0, 0, 200, 1), (199.5, 3.2, 0.5, 100)])
@pytest.mark.parametrize("context", [0, 16])
def test_the_smallest_boxes(box, context):
    assert warp(ramp(), np.float32(box), 32, context, FILL).shape == (32, 32, 3)

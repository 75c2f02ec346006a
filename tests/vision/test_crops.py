import cv2
import numpy as np
import pytest

from densevse.vision.crops import resize, squeeze_image, warp

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


@pytest.mark.parametrize("shape", [(1000, 223), (1000, 224), (1000, 150), (150, 1000)])
def test_a_side_that_shrinks_is_averaged_whatever_the_other_does(shape):
    """OpenCV's INTER_AREA averages neither side where one grows, and linear interpolation averages none."""
    noise = np.random.default_rng(0).integers(256, size=(*shape, 3), dtype=np.uint8)
    assert squeeze_image(noise, 224).std() < 42, "sampled noise has a deviation of 52 to 61"
    long, short = max(shape), min(shape)
    lines = np.zeros((long, short), np.uint8)
    lines[1::4] = 255  # each falls between the sampled rows, or on them
    found = resize(lines if shape[0] > shape[1] else lines.T, 224, 224)
    rows = (found if shape[0] > shape[1] else found.T).max(axis=1)
    assert rows.min() > 0, "no line is lost"


def test_each_side_is_resized_by_itself():
    tall = np.repeat(np.arange(0, 240, 2, dtype=np.uint8)[:, None], 30, axis=1)
    assert (resize(tall, 60, 90) == tall.reshape(60, 2, 30).mean(axis=(1, 2)).astype(np.uint8)[:, None]).all()
    small = np.random.default_rng(0).integers(256, size=(40, 30, 3), dtype=np.uint8)
    assert (resize(small, 80, 60) == cv2.resize(small, (60, 80), interpolation=cv2.INTER_LINEAR)).all()
    assert (resize(small, 20, 10) == cv2.resize(small, (10, 20), interpolation=cv2.INTER_AREA)).all()
    assert resize(small, 40, 30) is small

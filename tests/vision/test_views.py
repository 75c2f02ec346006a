import numpy as np
import pytest

from densevse.vision.crops import centre_crop, resize_shorter_side
from densevse.vision.views import load_extraction


def picture(height, width):
    return np.random.default_rng(0).integers(256, size=(height, width, 3), dtype=np.uint8)


@pytest.mark.parametrize("shape", [(300, 400), (400, 300), (64, 64), (1, 1), (1, 4000), (3000, 2)])
@pytest.mark.parametrize("view", ["whole", "centre", "grid", "ten_crop"])
def test_every_image_gives_crops_of_the_asked_size(shape, view):
    found = load_extraction(view).crops(picture(*shape), resize=64, size=56)
    assert found.shape == (10 if view == "ten_crop" else 1, 56, 56, 3)
    assert found.dtype == np.uint8


def test_the_shorter_side_is_resized_and_the_shape_is_kept():
    assert resize_shorter_side(picture(300, 400), 150).shape == (150, 200, 3)
    assert resize_shorter_side(picture(40, 30), 60).shape == (80, 60, 3)
    assert resize_shorter_side(picture(2, 5000), 10).shape == (10, 80, 3), "very long images are squeezed"


def test_an_image_of_the_right_size_is_left_as_it_is():
    image = picture(56, 56)
    assert np.array_equal(load_extraction("whole").crops(image, resize=56, size=56)[0], image)


def test_the_whole_image_is_seen_by_whole_and_grid_and_only_its_centre_by_centre():
    image = np.zeros((40, 80, 3), np.uint8)
    image[:, :4] = 200  # a stripe at the left edge
    for view, share in (("whole", 1), ("grid", 1), ("centre", 0)):
        found = load_extraction(view).crops(image, resize=32, size=28)[0]
        assert (found[:, 0].min() > 0) == share
    assert load_extraction("whole").crops(image, resize=32, size=20)[0][:, 0].min() == 200, (
        "4 of 80 pixels are one of 20"
    )


def test_shrinking_averages():
    board = np.indices((64, 64)).sum(0)[..., None] % 2 * np.full(3, 200)
    assert np.all(resize_shorter_side(board.astype(np.uint8), 32) == 100)


def test_the_centre_is_the_centre():
    image = np.zeros((10, 20, 3), np.uint8)
    image[3:7, 8:12] = 9
    assert np.all(centre_crop(image, 4) == 9)


def test_ten_crops_are_corners_and_centre_and_their_mirror_images():
    image = picture(64, 90)
    found = load_extraction("ten_crop").crops(image, resize=64, size=50)
    expected = [image[:50, :50], image[:50, 40:], image[14:, :50], image[14:, 40:], image[7:57, 20:70]]
    assert np.array_equal(found[:5], expected)
    assert np.array_equal(found[5:], np.array(expected)[:, :, ::-1])

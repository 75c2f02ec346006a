import hashlib
import io

import numpy as np
import pytest
from PIL import Image

from densevse.datasets import images
from densevse.datasets.images import decode, examine
from densevse.runtime.errors import InputError


def picture(width: int = 40, height: int = 24) -> Image.Image:
    """Smooth, so that JPEG keeps it; red rises to the right, green downwards."""
    x, y = np.meshgrid(np.linspace(0, 255, width), np.linspace(0, 255, height))
    return Image.fromarray(np.stack([x, y, np.full_like(x, 128)], axis=-1).astype(np.uint8))


def encoded(image: Image.Image, form: str = "JPEG", **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


@pytest.mark.parametrize("form", ["JPEG", "PNG", "BMP", "WEBP", "TIFF"])
def test_formats(form: str) -> None:
    pixels = decode(encoded(picture(), form), "a")
    assert pixels.shape == (24, 40, 3)
    assert pixels.dtype == np.uint8
    assert np.abs(pixels.astype(int) - np.asarray(picture())).mean() < 5


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientations_come_out_upright(orientation: int) -> None:
    stored = {2: 0, 3: 3, 4: 1, 5: 5, 6: 2, 7: 6, 8: 4}  # the inverse of what a viewer has to do
    image = picture() if orientation == 1 else picture().transpose(Image.Transpose(stored[orientation]))
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = encoded(image, quality=95, exif=exif)
    assert np.abs(decode(data, "a").astype(int) - np.asarray(picture())).mean() < 5
    assert examine(data, "a")[:2] == (40, 24)


def test_damaged_exif_is_no_reason_to_refuse_whole_pixels() -> None:
    data = encoded(picture(), exif=b"Exif\x00\x00nonsense that is no TIFF header")
    assert decode(data, "a").shape == (24, 40, 3)


def test_grey_becomes_rgb() -> None:
    pixels = decode(encoded(picture().convert("L")), "a")
    assert pixels.shape == (24, 40, 3)
    assert (pixels[..., 0] == pixels[..., 1]).all()


def test_cmyk_becomes_rgb() -> None:
    pixels = decode(encoded(Image.new("CMYK", (8, 8), (0, 255, 255, 0))), "a").astype(int)
    assert pixels[4, 4, 0] > 200
    assert pixels[4, 4, 1] < 60


def test_sixteen_bits_are_scaled_not_cut_off() -> None:
    ramp = np.linspace(0, 65535, 256).astype(np.uint16)[None].repeat(4, 0)
    pixels = decode(encoded(Image.fromarray(ramp), "PNG"), "a")
    assert (pixels[0, :, 0] == np.arange(256)).all()


@pytest.mark.parametrize("mode", ["P", "1", "LA", "RGBA"])
def test_other_modes_become_rgb(mode: str) -> None:
    assert decode(encoded(picture().convert(mode), "PNG"), "a").shape == (24, 40, 3)


def test_what_is_transparent_is_laid_on_white() -> None:
    transparent = Image.new("RGBA", (4, 4), (255, 0, 0, 0))
    assert (decode(encoded(transparent, "PNG"), "a") == 255).all()


def test_one_pixel() -> None:
    data = encoded(Image.new("RGB", (1, 1), (10, 20, 30)), "PNG")
    assert decode(data, "a").tolist() == [[[10, 20, 30]]]
    assert examine(data, "a")[:2] == (1, 1)


@pytest.mark.parametrize("form", ["JPEG", "PNG"])
@pytest.mark.parametrize("kept", [0, 10, 0.5, 0.9])
def test_truncated_images_are_named(form: str, kept: float) -> None:
    noise = Image.fromarray(np.random.default_rng(0).integers(0, 255, (200, 200, 3), dtype=np.uint8))
    data = encoded(noise, form)
    data = data[: int(kept if kept > 1 else kept * len(data))]
    for function in (decode, examine):
        with pytest.raises(InputError, match=r"^some\.jpg: not a"):
            function(data, "some.jpg")


def test_other_bytes_are_named_without_a_memory_address() -> None:
    with pytest.raises(InputError, match=r"some\.jpg: not an image") as error:
        decode(b"<html>not found</html>", "some.jpg")
    assert "0x" not in str(error.value)


def test_formats_that_start_other_programs_are_refused() -> None:
    with pytest.raises(InputError, match="of a format other than"):
        decode(encoded(picture(), "EPS"), "some.eps")


def test_bombs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "LARGEST_IMAGE", 900)
    with pytest.raises(InputError, match="40 x 24 pixels are refused"):
        decode(encoded(picture()), "a")
    monkeypatch.undo()
    bomb = encoded(Image.new("1", (20_000, 10_000)), "PNG")
    with pytest.raises(InputError, match=r"bomb\.png"):
        examine(bomb, "bomb.png")


def test_examine_gives_the_checksum_of_the_file() -> None:
    data = encoded(picture())
    assert examine(data, "a").sha256 == hashlib.sha256(data).hexdigest()


def tiff(values: list[float]) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(np.array([values], dtype=np.float32)).save(buffer, "TIFF")
    return buffer.getvalue()


@pytest.mark.parametrize(("values", "expected"), [([0, 0.5, 1], [0, 128, 255]), ([0, 2, 255], [0, 2, 255])])
def test_real_numbers_go_from_0_to_1_or_to_255(values: list[float], expected: list[int]) -> None:
    assert decode(tiff(values), "x.tif")[0, :, 0].tolist() == expected
    assert examine(tiff(values), "x.tif").width == 3


@pytest.mark.parametrize("value", [-1.0, 256.0, float("nan"), float("inf")])
def test_other_real_numbers_are_refused(value: float) -> None:
    for look in (decode, examine):
        with pytest.raises(InputError, match=r"x\.tif: .*between 0 and 255"):
            look(tiff([0.5, value]), "x.tif")


def test_what_is_too_long_to_be_a_photograph_is_named() -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (20_000, 2)).save(buffer, "PNG")
    for look in (decode, examine):
        with pytest.raises(InputError, match=r"freak\.png: 20000 x 2 pixels are no photograph"):
            look(buffer.getvalue(), "freak.png")

import hashlib
import io
import pickle
import struct
import zlib

import cv2
import numpy as np
import pandas as pd
import pytest
from PIL import Image, ImageCms

from densevse.artifacts import images
from densevse.artifacts.images import Photographs, decode, examine
from snakeproof.errors import InputError


def picture(width: int = 40, height: int = 24) -> Image.Image:
    """Smooth, so that JPEG keeps it; red rises to the right, green downwards."""
    x, y = np.meshgrid(np.linspace(0, 255, width), np.linspace(0, 255, height))
    return Image.fromarray(np.stack([x, y, np.full_like(x, 128)], axis=-1).astype(np.uint8))


def encoded(image: Image.Image, form: str = "JPEG", **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


@pytest.mark.parametrize("form", ["JPEG", "PNG", "BMP", "WEBP", "TIFF", "AVIF"])
def test_formats(form: str) -> None:
    pixels = decode(encoded(picture(), form), "a")
    assert pixels.shape == (24, 40, 3)
    assert pixels.dtype == np.uint8
    assert np.abs(pixels.astype(int) - np.asarray(picture())).mean() < 5


STORED = {2: 0, 3: 3, 4: 1, 5: 5, 6: 2, 7: 6, 8: 4}
"""Orientation -> the transposition that undoes what a viewer has to do."""


def turned(orientation: int, form: str, by: str = "exif", **options: object) -> bytes:
    """A file of `picture`, which is upright after turning by its orientation."""
    image = Image.fromarray(np.array(picture()))
    image = image.transpose(Image.Transpose(STORED[orientation])) if orientation in STORED else image
    if by == "exif":
        options["exif"] = Image.Exif()
        options["exif"][0x0112] = orientation
        options["exif"] = options["exif"].tobytes() if form == "HEIF" else options["exif"]
    else:
        said = f'<x:xmpmeta xmlns:x="adobe:ns:meta/"><a tiff:Orientation="{orientation}"/></x:xmpmeta>'.encode()
        options |= {"tiffinfo": {700: said}} if form == "TIFF" else {"xmp": said}
    if form == "MPO":
        options |= {"save_all": True, "append_images": [picture()]}
    return encoded(image, form, **options)


@pytest.mark.parametrize(
    ("form", "by"),
    [(form, "exif") for form in ("JPEG", "PNG", "TIFF", "WEBP", "MPO", "AVIF")]
    + [(form, "xmp") for form in ("JPEG", "TIFF", "WEBP")],
)
@pytest.mark.parametrize("orientation", range(10))
def test_every_orientation_comes_out_upright_and_of_the_size_that_is_examined(
    orientation: int, form: str, by: str
) -> None:
    data = turned(orientation, form, by, **({"quality": 95} if form in ("JPEG", "MPO") else {}))
    assert np.abs(decode(data, "a").astype(int) - np.asarray(picture())).mean() < 5
    assert examine(data, "a")[:2] == (40, 24)


@pytest.mark.parametrize("compression", ["raw", "tiff_lzw", "tiff_adobe_deflate", "jpeg", "packbits"])
@pytest.mark.parametrize("pages", [1, 2])
def test_tiffs_are_turned_once_however_they_are_compressed(compression: str, pages: int) -> None:
    more = {"save_all": True, "append_images": [picture()]} if pages == 2 else {}
    data = turned(6, "TIFF", compression=compression, **more)
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


RAMP = np.linspace(0, 1, 32)[None].repeat(16, 0)
"""Grey that rises from black to white."""
GREY = np.repeat((RAMP * 255).round()[..., None], 3, 2)


def check(data: bytes, expected: np.ndarray) -> None:
    pixels = decode(data, "a")
    assert examine(data, "a")[:2] == (pixels.shape[1], pixels.shape[0])
    assert pixels.shape == expected.shape
    assert np.abs(pixels.astype(int) - expected).max() <= 2


def tagged(data: bytes, tag: int, value: int) -> bytes:
    """A TIFF of Pillow's with another value of a tag."""
    place = data.index(struct.pack("<HHI", tag, 3, 1)) + 8
    return data[:place] + struct.pack("<H", value) + data[place + 2 :]


@pytest.mark.parametrize("values", [(RAMP * 255).astype(np.uint8), (RAMP * 65535).astype(np.uint16), RAMP])
def test_a_tiff_whose_white_is_0_is_no_negative(values: np.ndarray) -> None:
    form = np.float32 if values.dtype == np.float64 else values.dtype
    data = encoded(Image.fromarray((values.max() - values).astype(form)), "TIFF")
    check(tagged(data, 262, 0), GREY)


def test_a_tiff_of_12_bits_is_not_black() -> None:
    values = (RAMP * 4095).round().astype(np.uint16)
    even, odd = values[:, 0::2], values[:, 1::2]
    packed = np.stack([even >> 4, (even & 15) << 4 | odd >> 8, odd & 255], -1).astype(np.uint8).tobytes()
    data = encoded(Image.fromarray(values), "TIFF")
    data = data.replace(values.tobytes(), packed.ljust(values.nbytes, b"\0"))
    check(tagged(data, 258, 12), GREY)


@pytest.mark.parametrize(
    ("values", "sample_format", "message"),
    [
        (np.array([[0, 70_000]], np.int32), 2, "between 0 and 65535"),
        (np.array([[-1, 5]], np.int32), 2, "between 0 and 65535"),
        (np.array([[0, 255]], np.uint8), 2, "signs"),
    ],
)
def test_whole_numbers_whose_white_is_not_known_are_refused(
    values: np.ndarray, sample_format: int, message: str
) -> None:
    data = encoded(Image.fromarray(values), "TIFF", tiffinfo={339: sample_format})
    for look in (decode, examine):
        with pytest.raises(InputError, match=rf"x\.tif: .*{message}"):
            look(data, "x.tif")


def test_whole_numbers_of_32_bits_that_need_16_are_read() -> None:
    check(encoded(Image.fromarray((RAMP * 65535).round().astype(np.int32)), "TIFF"), GREY)


def png(values: np.ndarray, bits: int, colour: int, transparent: bytes) -> bytes:
    """A PNG of (height, width) or (height, width, 3) whole numbers of so many bits; colour 0 is grey, 2 RGB."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    height, width = values.shape[:2]
    rows = values.astype(">u2" if bits == 16 else "u1").reshape(height, -1)
    if bits < 8:
        each = 8 // bits
        rows = sum(rows[:, place::each] << (8 - bits * (place + 1)) for place in range(each)).astype(np.uint8)
    header = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row.tobytes() for row in rows))
    chunks = ((b"IHDR", header), (b"tRNS", transparent), (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*parts) for parts in chunks)


@pytest.mark.parametrize("bits", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("column", [0, 10, 31])
def test_a_transparent_grey_of_any_depth_is_laid_on_white(bits: int, column: int) -> None:
    values = (RAMP * (2**bits - 1)).round().astype(int)
    expected = np.where(values == values[0, column], 255, values / (2**bits - 1) * 255)
    data = png(values, bits, 0, struct.pack(">H", values[0, column]))
    check(data, np.repeat(expected[..., None], 3, 2))


@pytest.mark.parametrize("bits", [8, 16])
def test_a_transparent_colour_of_any_depth_is_laid_on_white(bits: int) -> None:
    values = (np.stack([RAMP, 1 - RAMP, RAMP * 0 + 0.5], -1) * (2**bits - 1)).round().astype(int)
    expected = values / (2**bits - 1) * 255
    expected[:, 5] = 255
    check(png(values, bits, 2, struct.pack(">HHH", *values[0, 5])), expected)


@pytest.mark.parametrize(
    ("form", "mode"),
    [("PNG", "RGBA"), ("PNG", "LA"), ("PNG", "P"), ("GIF", "RGBA"), ("TIFF", "RGBA"), ("TIFF", "LA"), ("WEBP", "RGBA")],
)
def test_what_is_partly_transparent_is_laid_on_white_in_every_format(form: str, mode: str) -> None:
    red = Image.new("RGBA", (40, 24), (200, 0, 0, 255))
    red.paste((200, 0, 0, 0), (0, 0, 20, 24))
    image = red.quantize() if mode == "P" else red.convert(mode)
    pixels = decode(encoded(image, form, **({"lossless": True} if form == "WEBP" else {})), "a")
    assert (pixels[:, :20] == 255).all()
    assert pixels[12, 30, 1] < 100


@pytest.mark.parametrize("form", ["GIF", "WEBP", "PNG", "TIFF", "MPO", "AVIF"])
def test_of_several_frames_the_first_is_read(form: str) -> None:
    data = encoded(picture(), form, save_all=True, append_images=[Image.new("RGB", (40, 24), "black")])
    assert np.abs(decode(data, "a").astype(int) - np.asarray(picture())).mean() < 8
    assert examine(data, "a")[:2] == (40, 24)


WRITTEN = {
    "JPEG": ("1", "L", "RGB", "CMYK", "YCbCr"),
    "PNG": ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"),
    "GIF": ("1", "L", "P", "RGB", "RGBA"),
    "BMP": ("1", "L", "P", "RGB", "RGBA"),
    "TIFF": ("1", "L", "LA", "P", "PA", "RGB", "RGBA", "CMYK", "YCbCr", "LAB", "I;16", "I", "F"),
    "WEBP": ("L", "RGB", "RGBA"),
    "AVIF": ("L", "LA", "RGB", "RGBA"),
    "PPM": ("1", "L", "RGB", "RGBA", "I;16", "I", "F"),
}
"""Format -> the modes that Pillow writes as such."""


@pytest.mark.parametrize(("form", "mode"), [(form, mode) for form, modes in WRITTEN.items() for mode in modes])
def test_what_can_be_examined_can_be_decoded_and_is_like_the_picture(form: str, mode: str) -> None:
    grey = picture().convert("L")
    deep = {"I;16": (np.uint16, 257), "I": (np.int32, 257), "F": (np.float32, 1)}
    if mode in deep:
        kind, scale = deep[mode]
        image = Image.fromarray(np.asarray(grey).astype(kind) * kind(scale))
    elif mode == "LAB":
        profiles = [ImageCms.createProfile(name) for name in ("sRGB", "LAB")]
        image = ImageCms.applyTransform(picture(), ImageCms.buildTransform(*profiles, "RGB", "LAB"))
    else:
        image = picture().convert("P").convert("PA") if mode == "PA" else picture().convert(mode)
    data = encoded(image, form)
    pixels = decode(data, "a")
    expected = grey.convert("RGB") if mode in ("1", "L", "LA", *deep) else picture()
    assert examine(data, "a")[:2] == pixels.shape[1::-1] == (40, 24)
    assert abs(pixels.mean((0, 1)) - np.asarray(expected).mean((0, 1))).max() < 12
    if mode not in ("1", "P", "PA"):  # dithered, or of few colours
        assert np.abs(pixels.astype(int) - np.asarray(expected)).mean() < 5


def test_files_are_known_by_all_suffixes_of_the_formats_that_are_read() -> None:
    known = {suffix for suffix, form in Image.registered_extensions().items() if form in (*images.FORMATS, "MPO")}
    assert known == images.SUFFIXES - set(images.HEIC)


@pytest.mark.parametrize("orientation", range(10))
def test_heic_is_read_by_its_extra(orientation: int) -> None:
    heif = pytest.importorskip("pillow_heif", reason="the extra heic is not installed")
    heif.register_heif_opener()
    data = turned(orientation, "HEIF", quality=95)
    assert np.abs(decode(data, "a").astype(int) - np.asarray(picture())).mean() < 5
    assert examine(data, "a")[:2] == (40, 24)
    assert {name for name, form in Image.registered_extensions().items() if form == "HEIF"} == set(images.HEIC)


@pytest.mark.parametrize("brands", [b"heic", b"mif1\0\0\0\0mif1heic"])
def test_heic_without_its_extra_is_named(monkeypatch: pytest.MonkeyPatch, brands: bytes) -> None:
    monkeypatch.setattr(images, "HEIC", ())
    data = (8 + len(brands)).to_bytes(4, "big") + b"ftyp" + brands + bytes(64)
    with pytest.raises(InputError, match=r"^a: a HEIC photograph, .*to JPEG, or .*install.py envs/locks/heic.txt` in"):
        decode(data, "a")


def test_a_photograph_that_changed_since_the_table_was_made_is_named(tmp_path):
    picture = Image.new("RGB", (8, 8), (200, 0, 0))
    picture.save(tmp_path / "a.png")
    digest = hashlib.sha256((tmp_path / "a.png").read_bytes()).hexdigest()
    table = pd.DataFrame({"source": ["images"], "file": ["a.png"], "sha256": [digest]})
    files = Photographs({"images": str(tmp_path)}, table)
    assert files.pixels("images", "a.png")[0, 0].tolist() == [200, 0, 0]
    assert pickle.loads(pickle.dumps(files)).pixels("images", "a.png").shape == (8, 8, 3)
    Image.new("RGB", (8, 8), (0, 200, 0)).save(tmp_path / "a.png")
    with pytest.raises(InputError, match=r"images: a\.png: not the file that the image table describes"):
        files.pixels("images", "a.png")
    unknown = Photographs({"images": str(tmp_path)}, table.assign(sha256=""))
    assert unknown.pixels("images", "a.png")[0, 0].tolist() == [0, 200, 0]


def deep_picture(form: str, most: float) -> bytes:
    """A picture of more than 8 bits whose values reach from 0 to `most`, of 65535 (or of 1)."""
    ramp = np.linspace(0, most, 32 * 16).reshape(16, 32)
    if form in ("I TIFF", "F TIFF"):
        kind = np.float32 if form == "F TIFF" else np.int32
        return encoded(Image.fromarray((ramp if form == "F TIFF" else ramp.round()).astype(kind)), "TIFF")
    whole = ramp.round().astype(np.uint16)
    if form == "PGM":
        return b"P5\n32 16\n65535\n" + whole.byteswap().tobytes()
    if form == "PPM":
        return b"P6\n32 16\n65535\n" + np.repeat(whole[..., None], 3, 2).byteswap().tobytes()
    channels = {"L": 1, "RGB": 3, "RGBA": 4}[form.split()[0]]
    values = np.repeat(whole[..., None], channels, 2)
    values[..., 3:] = 65535
    return cv2.imencode(f".{form.split()[1].lower()}", values)[1].tobytes()


DEEP = ["L PNG", "RGB PNG", "RGBA PNG", "L TIFF", "RGB TIFF", "I TIFF", "PGM", "PPM"]


@pytest.mark.parametrize("form", [*DEEP, "F TIFF"])
@pytest.mark.parametrize("share", [0.0039, 0.0625, 0.09])
def test_more_than_8_bits_that_fill_less_than_a_tenth_are_refused(form: str, share: float) -> None:
    data = deep_picture(form, share * (1 if form == "F TIFF" else 65535))
    for look in (decode, examine):
        with pytest.raises(InputError, match=r"x\.png: .*fill less than a tenth of their range"):
            look(data, "x.png")


@pytest.mark.parametrize("form", [*DEEP, "F TIFF"])
@pytest.mark.parametrize("share", [0.11, 0.25, 1])
def test_more_than_8_bits_may_be_dark(form: str, share: float) -> None:
    pixels = decode(deep_picture(form, share * (1 if form == "F TIFF" else 65535)), "x")
    assert abs(pixels.max() - 255 * share) <= 2


@pytest.mark.parametrize("form", ["PNG", "TIFF", "BMP", "PPM", "WEBP"])
@pytest.mark.parametrize("values", [(0, 0), (250, 255), (118, 125)])
def test_dark_bright_and_foggy_pictures_of_8_bits_are_read(form: str, values: tuple[int, int]) -> None:
    shades = np.random.default_rng(0).integers(values[0], values[1] + 1, (24, 40, 3)).astype(np.uint8)
    options = {"lossless": True} if form == "WEBP" else {}
    np.testing.assert_array_equal(decode(encoded(Image.fromarray(shades), form, **options), "x"), shades)


def with_chunk(data: bytes, kind: bytes, content: bytes, checksum: int | None = None, at_end: bool = False) -> bytes:
    """A PNG with one more part, behind the header or before the end."""
    place = data.rindex(b"IEND") - 4 if at_end else 33
    stated = zlib.crc32(kind + content) if checksum is None else checksum
    return data[:place] + struct.pack(">I", len(content)) + kind + content + struct.pack(">I", stated) + data[place:]


@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.parametrize(
    ("kind", "content", "checksum"),
    [
        (b"tEXt", b"Comment\0" + b"x" * (1 << 21), None),
        (b"zTXt", b"Comment\0\0" + zlib.compress(b"x" * (1 << 21)), None),
        (b"iTXt", b"Comment\0\1\0\0\0" + zlib.compress(b"x" * (1 << 21)), None),
        (b"iCCP", b"profile\0\0" + zlib.compress(b"x" * (1 << 21)), None),
        (b"tEXt", b"Comment\0a text", 1),
        (b"tIME", b"\0" * 7, 1),
    ],
)
def test_what_a_png_says_beside_its_pixels_does_not_matter(
    kind: bytes, content: bytes, checksum: int | None, at_end: bool
) -> None:
    data = encoded(picture(), "PNG")
    changed = with_chunk(data, kind, content, checksum, at_end)
    np.testing.assert_array_equal(decode(changed, "a"), decode(data, "a"))
    assert examine(changed, "a")[:2] == (40, 24)


def test_damaged_pixels_of_a_png_are_still_refused() -> None:
    data = bytearray(encoded(picture(), "PNG"))
    data[data.index(b"IDAT") + 30] ^= 1
    with pytest.raises(InputError, match=r"a: not a readable image"):
        decode(bytes(data), "a")


def test_a_damaged_transparent_colour_of_a_png_is_refused() -> None:
    data = bytearray(png(RAMP * 255, 8, 0, b"\0\0"))
    data[data.index(b"tRNS") + 6] ^= 1
    with pytest.raises(InputError, match=r"a: not an image"):
        decode(bytes(data), "a")


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_png_s_orientation_may_be_in_a_text(orientation: int) -> None:
    image = picture().transpose(Image.Transpose(STORED[orientation])) if orientation in STORED else picture()
    said = f'<x:xmpmeta xmlns:x="adobe:ns:meta/"><a tiff:Orientation="{orientation}"/></x:xmpmeta>'.encode()
    data = with_chunk(encoded(image, "PNG"), b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + said)
    assert np.abs(decode(data, "a").astype(int) - np.asarray(picture())).mean() < 5


PLAIN = {
    "P1": b"P1\n2 2\n0 1 1 0\n",
    "P2": b"P2\n2 2\n255\n0 1 2 3\n",
    "P3": b"P3\n2 1\n255\n0 0 0 1 2 3\n",
    "P4": b"P4\n8 1\n\x55",
    "P5 of 7 bits": b"P5\n2 1\n100\n\1\2",
    "P6 of 7 bits": b"P6\n1 1\n100\n\1\2\3",
    "BMP of 5 and 6 bits": (
        b"BM" + struct.pack("<IHHI", 74, 0, 0, 70)
        + struct.pack("<IiiHHIIiiII", 56, 2, 1, 1, 16, 3, 4, 0, 0, 0, 0)
        + struct.pack("<IIII", 0xF800, 0x07E0, 0x1F, 0) + b"\0\0\x21\x08"
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", PLAIN)
def test_dark_pictures_of_fewer_bits_are_read(form: str) -> None:
    assert decode(PLAIN[form], form).shape[2] == 3
    assert examine(PLAIN[form], form).width > 0

import codecs
import gzip
import io
import tracemalloc
import zipfile

import numpy as np
import pandas as pd
import pytest

from densevse.artifacts.schemas.sentences import WORD_VECTORS, WORDS
from densevse.language.word_vectors import read_vectors, write_word_vectors
from snakeproof import schema
from snakeproof.errors import InputError

VECTORS = {"dog": [1.0, 2.0, 3.0], "New_York": [0.5, 0.0, -1.0], "cat": [-1.0, 1e-3, 0.25], "of the": [9.0, 9.0, 9.0]}


def glove(vectors=VECTORS):
    return "".join(f"{word} {' '.join(map(str, vector))}\n" for word, vector in vectors.items()).encode()


def word2vec(vectors=VECTORS, end=b"\n"):
    header = f"{len(vectors)} 3\n".encode()
    names = {word: word.replace(" ", "_").encode() for word in vectors}
    rows = (names[word] + b" " + np.array(vector, "<f4").tobytes() + end for word, vector in vectors.items())
    return header + b"".join(rows)


def words_file(path, words):
    rows = pd.DataFrame({"index": range(2, 2 + len(words)), "word": words, "count": 1})
    schema.write(rows, WORDS, path)
    return str(path)


def check(found):
    assert set(found) == {"dog", "cat"}
    np.testing.assert_array_equal(found["dog"], np.array(VECTORS["dog"], np.float32))
    np.testing.assert_array_equal(found["cat"], np.array(VECTORS["cat"], np.float32))


@pytest.mark.parametrize("data", [word2vec(), word2vec(end=b"")])
@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
def test_word2vec(tmp_path, monkeypatch, data, chunk):
    monkeypatch.setattr("densevse.language.word_vectors.BYTES_AT_ONCE", chunk)
    (tmp_path / "v.bin").write_bytes(data)
    check(read_vectors(tmp_path / "v.bin", {"dog", "cat", "bird"}, "word2vec", 3))


BOM, HEADING = codecs.BOM_UTF8, b"4 3\n"


@pytest.mark.parametrize(
    "data",
    [
        glove(),
        glove().replace(b"\n", b"\r\n"),
        glove().strip(),
        BOM + glove(),
        HEADING + glove(),
        BOM + HEADING + glove(),
        HEADING + glove().replace(b"\n", b" \n"),  # as fastText ends lines
        glove().replace(b" ", b"\t"),
    ],
)
def test_glove(tmp_path, data):
    (tmp_path / "v.txt").write_bytes(data)
    check(read_vectors(tmp_path / "v.txt", {"dog", "cat", "bird"}, "glove", 3))


def test_a_word_with_spaces(tmp_path):
    (tmp_path / "v.txt").write_bytes(glove())
    assert list(read_vectors(tmp_path / "v.txt", {"of the"}, "glove", 3)) == ["of the"]


def test_of_a_repeated_word_the_first_counts(tmp_path):
    (tmp_path / "v.txt").write_bytes(glove() + b"dog 7 7 7\n")
    check(read_vectors(tmp_path / "v.txt", {"dog", "cat"}, "glove", 3))


def test_gzip(tmp_path):
    (tmp_path / "v.bin.gz").write_bytes(gzip.compress(word2vec()))
    check(read_vectors(tmp_path / "v.bin.gz", {"dog", "cat"}, "word2vec", 3))


def test_zip(tmp_path):
    with zipfile.ZipFile(tmp_path / "v.zip", "w") as archive:
        archive.writestr("v.2d.txt", "dog 1 2\n")
        archive.writestr("v.3d.txt", glove())
    check(read_vectors(tmp_path / "v.zip", {"dog", "cat"}, "glove", 3, "v.3d.txt"))
    with pytest.raises(InputError, match=r"v\.2d\.txt"):
        read_vectors(tmp_path / "v.zip", {"dog"}, "glove", 3)


def zip_with(flags: int = 0, method: int = 0) -> bytes:
    """A zip of one file whose two headers say that it is encrypted (flag 1), or compressed in some way."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("v.txt", glove())
    data = bytearray(buffer.getvalue())
    for header, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = data.index(header) + place
        data[start : start + 4] = bytes([flags, 0, method, 0])
    return bytes(data)


@pytest.mark.parametrize(
    ("name", "format", "data", "message"),
    [
        ("v.txt", "glove", glove() + b"bird 1 2\n", "line 5 has 2 numbers instead of 3"),
        ("v.txt", "glove", glove() + b"\n", "line 5"),
        ("v.txt", "glove", glove().replace(b"2.0", b"two"), "line 1"),
        ("v.txt", "glove", glove().replace(b"2.0", b"nan"), "line 1.*finite"),
        ("v.txt", "glove", HEADING + glove().replace(b" 3.0", b""), "line 2 has 2 numbers instead of 3"),
        ("v.txt", "glove", b"4 5\n" + glove(), "its vectors have 5 numbers; set `dimension: 5`"),
        ("v.txt", "glove", b"5 3\n" + glove(), "its heading says 5 words, and 4 follow"),
        ("v.txt", "glove", b"5 3\n", "its heading says 5 words, and 0 follow"),
        ("v.txt", "glove", glove().decode().encode("utf-16"), "UTF-16"),
        ("v.txt", "glove", word2vec(), "format: word2vec"),
        ("v.txt", "glove", b"\x80\x04\x95\x1e\x00", "a binary file"),
        ("v.bin", "word2vec", HEADING + glove(), "format: glove"),
        ("v.bin", "word2vec", word2vec()[:-5], "cut off in word 4 of 4"),
        ("v.bin", "word2vec", word2vec()[:15], "cut off in word 1 of 4"),
        ("v.bin", "word2vec", b"", "does not begin"),
        ("v.bin", "word2vec", glove(), "does not begin"),
        ("v.bin", "word2vec", word2vec().replace(b"4 3", b"4 5", 1), "dimension: 5"),
        ("v.bin", "word2vec", word2vec({"dog": [1, np.inf, 2]}), "word 1.*finite"),
        ("v.bin.gz", "word2vec", gzip.compress(word2vec(), mtime=0)[:-20], "obtain it again"),
        ("v.bin.gz", "word2vec", b"not gzip", "obtain it again"),
        ("v.zip", "glove", b"not zip", "obtain it again"),
        ("v.zip", "glove", zip_with(flags=1), "encrypted"),
        ("v.zip", "glove", zip_with(method=77), "compression method"),
    ],
)
def test_a_damaged_file_is_named_with_the_place(tmp_path, name, format, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=rf"{name}.*{message}"):
        read_vectors(tmp_path / name, {"dog"}, format, 3)


def test_the_artifact_has_a_row_a_word(tmp_path):
    (tmp_path / "v.txt").write_bytes(glove())
    words = words_file(tmp_path / "words.parquet", ["bird", "dog"])
    settings = {"format": "glove", "dimension": 3, "member": None}
    write_word_vectors(words, str(tmp_path / "v.txt"), settings, {"vectors": "glove"}, str(tmp_path / "out.parquet"))
    rows = schema.read(tmp_path / "out.parquet", WORD_VECTORS)
    assert list(rows["index"]) == [2, 3]
    assert list(rows["word"]) == ["bird", "dog"]
    assert list(rows["found"]) == [False, True]
    np.testing.assert_array_equal(np.stack(rows["vector"]), [[0, 0, 0], [1, 2, 3]])


@pytest.mark.parametrize(("format", "start"), [("glove", b""), ("word2vec", b"1 3\n")])
def test_a_bomb_is_not_unpacked_whole(tmp_path, format, start):
    with gzip.open(tmp_path / "bomb.gz", "wb") as file:
        file.write(start)
        for _ in range(64):
            file.write(b"x" * (1 << 20))
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="bomb"):
            read_vectors(tmp_path / "bomb.gz", {"dog"}, format, 3)
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


def test_no_word_found_is_an_error(tmp_path):
    (tmp_path / "v.txt").write_bytes(glove())
    words = words_file(tmp_path / "words.parquet", ["bird"])
    settings = {"format": "glove", "dimension": 3}
    with pytest.raises(InputError, match="none of the 1 words"):
        write_word_vectors(
            words, str(tmp_path / "v.txt"), settings, {"vectors": "glove"}, str(tmp_path / "out.parquet")
        )
    assert not (tmp_path / "out.parquet").exists()


def test_memory_does_not_grow_with_the_file(tmp_path):
    vector = np.ones(300, "<f4").tobytes()
    with (tmp_path / "v.bin").open("wb") as file:
        file.write(b"40000 300\n")
        for number in range(40_000):
            file.write(f"w{number} ".encode() + vector)
    tracemalloc.start()
    found = read_vectors(tmp_path / "v.bin", {"w39999", "w5"}, "word2vec", 300)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found) == 2
    assert peak < 8 * 2**20  # of a file of 48 MB

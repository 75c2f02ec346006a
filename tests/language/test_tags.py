import pytest

from densevse.artifacts import schema
from densevse.artifacts.schemas.sentences import TAGS
from densevse.language.tags import count_tags, read_tags, write_tags
from densevse.runtime.errors import InputError
from tests.language.made_up import write_captions, write_parses


def test_tags_are_counted_in_training_sentences_only(tmp_path):
    captions = write_captions(tmp_path, {"a#0": "train", "a#1": "train", "b#0": "test"})
    parses = write_parses(
        tmp_path,
        {"a#0": "a/DT brown/JJ dog/NN", "a#1": "two/CD dogs/NNS and/CC a/DT cat/NN", "b#0": "it/PRP"},
    )
    write_tags(captions, [parses], str(tmp_path / "tags.parquet"))
    rows = schema.read(tmp_path / "tags.parquet", TAGS)
    assert rows["tag"].tolist() == ["DT", "NN", "CC", "CD", "JJ", "NNS"]
    assert rows["count"].tolist() == [2, 2, 1, 1, 1, 1]
    tags = read_tags(tmp_path / "tags.parquet")
    assert tags.encode(["DT", "NNS", "PRP"]) == [2, 7, 1]
    assert len(tags) == 8


def test_no_tag_at_all_is_an_error():
    with pytest.raises(InputError, match="no part-of-speech tags"):
        count_tags([[], []])

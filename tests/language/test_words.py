import subprocess
import sys

import pandas as pd
import pytest

from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.sentences import WORDS
from densevse.language.tokens import tokenize, tokenize_for_metrics, write_tokens
from densevse.language.words import UNKNOWN, Vocabulary, count_words, write_words
from snakeproof import schema
from snakeproof.errors import InputError


def captions(*rows: tuple[str, str]) -> pd.DataFrame:
    columns = ["caption_id", "image_id", "position", "text", "split"]
    return pd.DataFrame([(f"i#{i}", "i", i, text, split) for i, (text, split) in enumerate(rows)], columns=columns)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Two dogs run .", "two dogs run ."),
        ("Two dogs run.", "two dogs run ."),
        ("A man (in red), eating", "a man ( in red ) , eating"),
        ("the man's dog doesn't", "the man 's dog does n't"),
        ("a T-shirt - old", "a t - shirt - old"),
        ('a "stop" sign', 'a " stop " sign'),
        ("50% 😀", "50 % 😀"),
        ("a man doesn’t; it’s the dogs’ ball", "a man does n't ; it 's the dogs ' ball"),
        ("don‘t donʼt don´t don`t don＇t", "do n't do n't do n't do n't do n't"),
        ("‘hello’ and “stop”", "' hello ' and \" stop \""),
        ("a dog… runs", "a dog ... runs"),
        ("5′ 6″ tall", "5′ 6″ tall"),
        ("A dog runs. It is brown.", "a dog runs . it is brown ."),
        ('a man says "it runs." (It stops.) Then', 'a man says " it runs . " ( it stops . ) then'),
        ("It is the man's. It doesn't. 5. 6.", "it is the man 's . it does n't . 5 . 6 ."),
        ("dog 😀. It", "dog 😀 . it"),
        (
            "Mr. X jr. and the u. of s.c.u.b.a. etc. at 5 a.m. win",
            "mr. x jr. and the u. of s.c.u.b.a. etc. at 5 a.m. win",
        ),
        ("no. 5 says no. It", "no. 5 says no . it"),
        ("it runs... it", "it runs ... it"),
        ("...", "..."),
        ("", ""),
        ("  ", ""),
    ],
)
def test_tokens_are_those_of_corenlp(text, tokens):
    assert tokenize(text) == tokens.split()


def test_the_metrics_have_the_last_words_of_every_sentence():
    assert tokenize_for_metrics("A dog runs. It is brown.") == ["a", "dog", "runs", "it", "is", "brown"]
    assert tokenize_for_metrics("Mr. X runs etc.") == ["mr.", "x", "runs", "etc."]


def tokens(captions):
    """TOKENS rows, a sentence in each part."""
    rows = captions.assign(tokens=captions["text"].map(tokenize))
    return [rows.iloc[[row]] for row in range(len(rows))]


def test_words_are_numbered_by_falling_count_then_alphabetically():
    rows = count_words(tokens(captions(("b a b", "train"), ("c a d", "train"))), minimum=1)
    assert list(zip(rows["index"], rows["word"], rows["count"], strict=True)) == [
        (2, "a", 2),
        (3, "b", 2),
        (4, "c", 1),
        (5, "d", 1),
    ]


def test_only_training_sentences_are_counted():
    rows = count_words(
        tokens(captions(("dog", "train"), ("cat", "val"), ("cat", "test"), ("cat", "restval"))), minimum=1
    )
    assert list(rows["word"]) == ["dog"]


def test_rare_words_are_left_out():
    assert list(count_words(tokens(captions(("a a b", "train"))), minimum=2)["word"]) == ["a"]


@pytest.mark.parametrize("rows", [captions(("a b", "train")), captions(("a a a", "test")), captions(("", "train"))])
def test_no_word_at_all_is_an_error(rows):
    with pytest.raises(InputError, match="minimum_word_count"):
        count_words(tokens(rows), minimum=2)


def test_a_vocabulary_is_what_was_written(tmp_path):
    schema.write(captions(("a dog . a cat", "train"), ("a bird", "val")), CAPTIONS, tmp_path / "captions.parquet")
    write_tokens(str(tmp_path / "captions.parquet"), str(tmp_path / "tokens.parquet"))
    write_words(str(tmp_path / "tokens.parquet"), minimum=1, output=str(tmp_path / "words.parquet"))
    vocabulary = Vocabulary.read(tmp_path / "words.parquet")
    assert len(vocabulary) == 2 + 4
    assert vocabulary.encode(["a", ".", "cat", "dog", "Dog", "bird"]) == [2, 3, 4, 5, 1, 1]
    assert vocabulary.encode(["dog"]) == [5]
    assert vocabulary.encode(["bird"]) == [1]


def test_a_data_set_without_val_is_refused_before_its_features_are_computed(tmp_path):
    schema.write(captions(("a dog", "train"), ("a cat", "test")), CAPTIONS, tmp_path / "captions.parquet")
    write_tokens(str(tmp_path / "captions.parquet"), str(tmp_path / "tokens.parquet"))
    with pytest.raises(InputError, match=r"no sentence is of the split val.*name images for val in .*`options`"):
        write_words(str(tmp_path / "tokens.parquet"), minimum=1, output=str(tmp_path / "words.parquet"))


def test_a_vocabulary_with_gaps_is_refused(tmp_path):
    rows = pd.DataFrame({"index": [2, 4], "word": ["a", "b"], "count": [2, 1]})
    schema.write(rows, WORDS, tmp_path / "words.parquet")
    with pytest.raises(InputError, match="numbered"):
        Vocabulary.read(tmp_path / "words.parquet")


def test_cutting_words_imports_neither_scikit_learn_nor_scipy_which_stay_importable():
    run = """
import sys
from densevse.language.tokens import tokenize
import densevse.scenes.grammar
assert tokenize("Two dogs run.") == ["two", "dogs", "run", "."]
assert not {"sklearn", "scipy", "matplotlib"} & set(sys.modules), sorted(sys.modules)
import nltk.parse.chart, scipy.special, sklearn.metrics
"""
    subprocess.run([sys.executable, "-c", run], check=True)


def test_what_a_phone_types_are_the_words_of_training():
    """Curly marks become straight ones before anything is cut."""
    known = Vocabulary(
        count_words(tokens(captions(("a man who doesn't smile, \"it's\" his dog's", "train"))), 1)["word"]
    )
    assert UNKNOWN not in known.encode(tokenize("a man who doesn’t smile, “it’s” his dog’s"))
    assert tokenize_for_metrics("a man who doesn’t “smile”…") == tokenize_for_metrics('a man who doesn\'t "smile"...')

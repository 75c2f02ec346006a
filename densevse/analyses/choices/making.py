"""Makes wrong sentences: by the grammar of scenes, which are false of the picture, and by other orders of the words.

Scenes: the same speaker, with the same random numbers, describes the scene, and another one that differs from it in a
colour, a number, a relation or the places of two things. So both sentences are of one kind, and words alone hardly tell
which is wrong. The wrong one is false by construction: it names a colour that the scene lacks, more of a thing than
there are, or a relation of two things that is not theirs; each thing of a scene has its own shape.

Orders: ARO's four (Yuksekgonul et al., ICLR 2023, section 2.2), of lower-case words without punctuation as there. Both
the right and the wrong sentences are these words with spaces between them, so that nothing but the order differs.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.sentences import PARSES
from densevse.datasets.layout import Text, check_layout, read_json, read_lines
from densevse.evaluation.choices import CHOICES
from densevse.evaluation.protocols import select_split
from densevse.language.parses import OK, Parse
from densevse.scenes.grammar import GrammarParser
from densevse.scenes.reader import SCENES_FILE
from densevse.scenes.sentences import PLACES, describe
from densevse.scenes.world import LEANING, Layout, Scene
from snakeproof import schema
from snakeproof.logs import logger

COLOURS = ("red", "blue", "green", "yellow")
SENTENCES = 2
"""Questions about a scene in each category."""
TRIES = 10
"""Draws of a right and a wrong sentence until they differ in nothing else; a scene may have no such pair."""


class _SceneLine(TypedDict):
    image_id: Text
    scene: Scene


_LINES: TypeAdapter[list[_SceneLine]] = TypeAdapter(list[_SceneLine])


def change_scenes(scenes: str, image_table: str, seed: int, questions: str, captions: str) -> None:
    """The job that writes CHOICES of the test images of scenes, and CAPTIONS of all their sentences.

    `scenes` is the zip of the generated data set. Raises `InputError` if its lines have no scenes.
    """
    where = f"{scenes}, {SCENES_FILE}"
    lines = [read_json(line.encode(), f"{where}, line {number}") for number, line in read_lines(scenes, SCENES_FILE)]
    scene_of_image = {line["image_id"]: line["scene"] for line in check_layout(_LINES, lines, where)}
    images, parser = schema.read(image_table, IMAGES, ["image_id", "split", "status", "family"]), GrammarParser()
    test = images[(images["split"] == "test") & (images["status"] == OK)]
    rows = [
        (f"{image} {category} {place}", image, right, [wrong], category, family)
        for number, (image, family) in enumerate(zip(test["image_id"], test["family"], strict=True))
        for kind, category in enumerate(CHANGES)
        for place, (right, wrong) in enumerate(say_pairs(scene_of_image[image], category, parser, [seed, number, kind]))
    ]
    write_choices(pd.DataFrame(rows, columns=[column.name for column in CHOICES.columns]), questions, captions)


def write_choices(asked: pd.DataFrame, questions: str, captions: str, **found: Any) -> None:
    """Writes CHOICES rows, and CAPTIONS of their sentences in the same order."""
    schema.write(asked, CHOICES, questions, **found)
    sentences = [
        (f"{name}#{place}", image, place, text, "test")
        for name, image, right, wrong in asked[["question", "image", "right", "wrong"]].itertuples(index=False)
        for place, text in enumerate([right, *wrong])
    ]
    columns = ["caption_id", "image_id", "position", "text", "split"]
    schema.write(pd.DataFrame(sentences, columns=columns), CAPTIONS, captions)
    logger.info("%d questions with %d sentences", len(asked), len(sentences))


def say_pairs(scene: Scene, category: str, parser: GrammarParser, key: list[int]) -> list[tuple[str, str]]:
    """Up to `SENTENCES` different pairs of a right and a wrong sentence; `key` seeds the draws.

    Both are of the kind that names both things of a pair, and none vaguely.
    """
    change, kept = CHANGES[category]
    found: dict[tuple[str, str], None] = {}
    for draw in range(SENTENCES * TRIES):
        random = np.random.default_rng([*key, draw])
        other = change(scene, random)
        if other is None or len(found) == SENTENCES:
            break
        said = int(random.integers(2**32))
        right, wrong = (describe(one, np.random.default_rng(said), 1)[0].text for one in (scene, other))
        parses = parser.parse([right, wrong])
        one, two = map(kept, parses)
        counts = [parse.tags.count("CD") for parse in parses]  # "the cones" is true of three where "two cones" is right
        if right != wrong and one == two and counts[0] <= counts[1]:
            found[right, wrong] = None
    return [*found]


def _replace_thing(scene: Scene, place: int, **changes: Any) -> Scene:
    things = list(scene.things)
    things[place] = replace(things[place], **changes)
    return replace(scene, things=tuple(things))


def _recolour(scene: Scene, random: Generator) -> Scene:
    """The scene with a thing of a colour that no thing of it has; it has three colours at most."""
    absent = [colour for colour in COLOURS if colour not in {thing.colour for thing in scene.things}]
    return _replace_thing(scene, int(random.integers(len(scene.things))), colour=str(random.choice(absent)))


def _add_one(scene: Scene, random: Generator) -> Scene | None:
    """The scene with one more of a thing, as scenes may have.

    One kind at most is several; three are small. Things that touch are one each; of three kinds, the first may be two
    small ones.
    """
    places = [
        place
        for place, thing in enumerate(scene.things)
        if thing.number < (3 if thing.size == "small" and len(scene.things) < 3 else 2)
        and all(other.number == 1 for other in scene.things if other is not thing)
        and (len(scene.things) < 3 or (place == 0 and thing.size == "small"))
    ]
    if scene.layout.is_touching or not places:
        return None
    place = places[int(random.integers(len(places)))]
    return _replace_thing(scene, place, number=scene.things[place].number + 1)


def _move(scene: Scene, random: Generator) -> Scene | None:
    """The same things in another relation, as scenes may have: a carrier is large, and few shapes lean.

    Of three things the third stands across the pair, so it may be above a thing and left of it too.
    """
    layouts = [Layout.LEFT_OF, Layout.ABOVE] if len(scene.things) == 2 else []
    if scene.layout.is_touching:
        layouts = [Layout.PUSH]
        layouts += [Layout.CARRY] if scene.things[0].size == "large" else []
        layouts += [Layout.LEAN] if {thing.shape for thing in scene.things} <= {*LEANING} else []
    others = [layout for layout in layouts if layout is not scene.layout]
    return replace(scene, layout=others[int(random.integers(len(others)))]) if others else None


def _exchange(scene: Scene, random: Generator) -> Scene | None:
    """The first two things in each other's place."""
    if len(scene.things) < 2:
        return None
    first, second, *others = scene.things
    if scene.layout is Layout.CARRY:  # sizes stay with the role, as nothing small could carry
        first, second = replace(first, size=second.size), replace(second, size=first.size)
    return replace(scene, things=(second, first, *others))


def _select_lemmas(*tags: str, words: Collection[str] = ()) -> Callable[[Parse], list[str]]:
    """A function that returns the lemmas of a sentence without some tags and words."""

    def kept_lemmas(parse: Parse) -> list[str]:
        tagged = zip(parse.lemmas, parse.tags, strict=True)
        return [lemma for lemma, tag in tagged if tag not in tags and lemma not in words]

    return kept_lemmas


_SIDES = {word for ways in PLACES.values() for way in ways for word in way}
CHANGES: dict[
    str,
    tuple[Callable[[Scene, Generator], Scene | None], Callable[[Parse], list[str]]],
] = {
    "colour": (_recolour, lambda parse: ["" if lemma in COLOURS else lemma for lemma in parse.lemmas]),
    "number": (_add_one, _select_lemmas("DT", "CD")),
    "relation": (_move, _select_lemmas("IN", "VBZ", "VBP", "VBG", "VBN", words=_SIDES)),
    "exchanged": (_exchange, lambda parse: sorted(map(str.lower, parse.tokens))),
}
"""Category -> what changes a scene, or returns None, and what two sentences about both scenes must have in common."""


def change_orders(
    parses: Sequence[str] | str,
    image_table: str,
    caption_table: str,
    ranked_sentences: str,
    seed: int,
    questions: str,
    captions: str,
) -> None:
    """The job that writes CHOICES of the test sentences, each among four other orders of its words.

    An order that is the sentence itself, or one that is there, is drawn again, up to `TRIES` times; what is left out
    then is counted by its name in the statement.
    """
    images = schema.read(image_table, IMAGES)
    test = select_split(images, schema.read(caption_table, CAPTIONS), sentences=ranked_sentences)
    paths = [parses] if isinstance(parses, str) else parses
    parsed = schema.read_all(paths, PARSES, ["caption_id", "status", "tokens", "tags"]).set_index("caption_id")
    rows, left_out = [], Counter[str]()
    for number, (caption, image) in enumerate(zip(test.caption_ids, test.image_of_caption, strict=True)):
        row = parsed.loc[caption]
        words, tags = _plain_words(row["tokens"], row["tags"]) if row["status"] == OK else ([], [])
        wrong = other_orders(words, tags, np.random.default_rng([seed, number]))
        left_out.update(ORDERS.keys() - wrong.keys())
        if wrong:
            place = {"image": test.image_ids[image], "family": test.family_of_image[image], "category": "orders"}
            texts = [" ".join(order) for order in (words, *wrong.values())]
            rows.append({**place, "question": caption, "right": texts[0], "wrong": texts[1:]})
    write_choices(pd.DataFrame(rows), questions, captions, left_out=dict(sorted(left_out.items())))


def _plain_words(tokens: Sequence[str], tags: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words in lower case, without punctuation, and their tags."""
    kept = [(token.lower(), tag) for token, tag in zip(tokens, tags, strict=True) if any(map(str.isalnum, token))]
    return [word for word, _ in kept], [tag for _, tag in kept]


def other_orders(words: Sequence[str], tags: Sequence[str], random: Generator) -> dict[str, list[str]]:
    """ARO's orders of a sentence's words, which differ from it and from each other, by name; some may be missing."""
    found: dict[str, list[str]] = {}
    for name, order in ORDERS.items():
        for _ in range(TRIES):
            drawn = [words[place] for place in order(np.asarray(tags), random)]
            if drawn not in ([*words], *found.values()):
                found[name] = drawn
                break
    return found


def _permute(places: Sequence[Any], random: Generator) -> list[Any]:
    return [places[number] for number in random.permutation(len(places))]


def _permute_where(*masks: Any, random: Generator) -> list[int]:
    """The places of all words, where those of each mask are exchanged among themselves."""
    order = np.arange(len(masks[0]))
    for mask in masks:
        order[mask] = random.permutation(order[mask])
    return order.tolist()


def _trigrams(tags: Sequence[str]) -> list[list[int]]:
    places = list(range(len(tags)))
    return [places[first : first + 3] for first in range(0, len(places), 3)]


_NOUNS, _ADJECTIVES = ("NN", "NNS", "NNP", "NNPS"), ("JJ", "JJR", "JJS")
ORDERS: dict[str, Callable[[Any, Generator], list[int]]] = {
    "nouns and adjectives": lambda tags, random: _permute_where(
        np.isin(tags, _NOUNS), np.isin(tags, _ADJECTIVES), random=random
    ),
    "all but nouns and adjectives": lambda tags, random: _permute_where(
        ~np.isin(tags, _NOUNS + _ADJECTIVES), random=random
    ),
    "words within trigrams": lambda tags, random: [
        place for three in _trigrams(tags) for place in _permute(three, random)
    ],
    "trigrams": lambda tags, random: [place for three in _permute(_trigrams(tags), random) for place in three],
}
"""Name -> the places of a sentence's words in another order, from the tags of the words."""

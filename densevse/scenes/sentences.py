"""Writes sentences about a scene, with their noun phrases and the things that each phrase names.

Every sentence is true of its scene, but for some that say of a thing that pushes another that it stands or sits. Most
leave something out. Sentences are unambiguous: a post-modifier belongs to the nearest noun before it ("a ball left of a
box above a star": the box is above the star), and "and" joins only whole subjects. `densevse.scenes.grammar` parses
them.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import TypeVar

from numpy.random import Generator

from densevse.scenes.world import Layout, Scene, Thing


@dataclass(frozen=True)
class Phrase:
    """A noun phrase: its words and the phrases inside it, and the numbers of the things it names."""

    parts: tuple["str | Phrase", ...]
    things: frozenset[int]


@dataclass(frozen=True)
class Sentence:
    """A sentence with its noun phrases: first token, token after the last, things named."""

    tokens: tuple[str, ...]
    phrases: tuple[tuple[int, int, frozenset[int]], ...]

    @property
    def text(self) -> str:
        """The sentence as text."""
        return " ".join(self.tokens).replace(" .", ".").replace(" ,", ",")


Parts = tuple[str | Phrase, ...]
Item = TypeVar("Item")

LOOKS = frozenset({"colour", "texture", "size"})

_NOUNS = {
    "ball": ("ball", "sphere"),
    "box": ("box", "block", "cube"),
    "cone": ("cone", "triangle"),
    "star": ("star",),
    "ring": ("ring", "hoop"),
}
ANYTHING = ("thing", "object", "shape")
ADJECTIVES = {
    "small": ("small", "little", "tiny"),
    "large": ("large", "big", "huge"),
    "plain": ("plain",),
    "striped": ("striped",),
    "dotted": ("dotted", "spotted"),
}
MARKS = {"striped": ("stripes",), "dotted": ("dots", "spots")}
_NUMBERS = {2: "two", 3: "three"}
PLACES = {
    "left of": (("left", "of"), ("to", "the", "left", "of"), ("on", "the", "left", "of")),
    "right of": (("right", "of"), ("to", "the", "right", "of"), ("on", "the", "right", "of")),
    "above": (("above",), ("over",)),
    "below": (("below",), ("under",), ("beneath",)),
    "beside": (("beside",), ("next", "to"), ("near",)),
}
# Actions: with -s, without (for several), with -ing, and the past participle.
_VERBS = {
    "": (("sits", "sit", "sitting", ""), ("stands", "stand", "standing", "")),
    "roll": (("rolls", "roll", "rolling", ""),),
    "float": (("floats", "float", "floating", ""), ("hovers", "hover", "hovering", "")),
    "spin": (("spins", "spin", "spinning", ""), ("turns", "turn", "turning", "")),
    "fall": (("falls", "fall", "falling", ""), ("drops", "drop", "dropping", "")),
    "shine": (("shines", "shine", "shining", ""), ("glows", "glow", "glowing", "")),
    "push": (("pushes", "push", "pushing", "pushed"), ("shoves", "shove", "shoving", "shoved")),
    "carry": (("carries", "carry", "carrying", "carried"), ("supports", "support", "supporting", "supported")),
    "lean": (("leans", "lean", "leaning", ""),),
    "rest": (("rests", "rest", "resting", ""),),
}


def describe(scene: Scene, random: Generator, count: int = 5) -> list[Sentence]:
    """A number of sentences about a scene; the first always names both of a pair."""
    return [_Speaker(scene, random, whole=position == 0).sentence() for position in range(count)]


class _Speaker:
    """Says one sentence about a scene."""

    def __init__(self, scene: Scene, random: Generator, whole: bool) -> None:
        self.scene, self.random, self.whole = scene, random, whole

    def sentence(self) -> Sentence:
        pair = len(self.scene.things) > 1 and (self.whole or self._chance(0.8))
        parts = self._pair_sentence() if pair else self._single_sentence(self._choose(range(len(self.scene.things))))
        if self._chance(0.6):
            parts = (*parts, ".")
        tokens: list[str] = []
        phrases: list[tuple[int, int, frozenset[int]]] = []
        _flatten(parts, tokens, phrases)
        return Sentence((tokens[0].capitalize(), *tokens[1:]), tuple(phrases))

    # Sentences about one

    def _single_sentence(self, thing: int) -> Parts:
        """A sentence about one thing: its action, its presence, its looks, or just its name."""
        ways = (self._action_sentence, self._presence_sentence, self._looks_sentence, self._name_sentence)
        return ways[int(self.random.choice(4, p=[0.35, 0.3, 0.15, 0.2]))](thing)

    def _action_sentence(self, thing: int) -> Parts:
        return (self._modified_phrase(thing, 0.3, {"action"}), *self._finite_verb(thing))

    def _presence_sentence(self, thing: int) -> Parts:
        return (*self._existential_start(thing), self._modified_phrase(thing, 0.5, indefinite=True))

    def _looks_sentence(self, thing: int) -> Parts:
        return (self._unmodified_phrase(thing, LOOKS), self._form_of_be(thing), *self._look_words(thing))

    def _name_sentence(self, thing: int) -> Parts:
        return self._modified_phrase(thing, 0.6).parts

    # Sentences about two

    def _pair_sentence(self) -> Parts:
        if self.scene.layout.is_touching and (self.whole or self._chance(0.8)):
            return self._touching_sentence()
        subject, relation, other = self._fact()
        if not self.whole and self._chance(0.2):
            return self._joint_sentence(subject, other)
        return self._place_sentence(subject, self._place(relation, other), other)

    def _place_sentence(self, subject: int, place: Parts, other: int) -> Parts:
        """A sentence about the place of one thing, in one of seven forms."""
        way = int(self.random.integers(7))
        named = self._noun_phrase(subject, {"action"} if way > 2 else set(), indefinite=way == 2)
        placed = self._join_phrase((named, *place), subject, other)
        if way == 0:
            return placed.parts
        if way == 1:
            return (named, self._form_of_be(subject), *place)
        if way == 2:
            return (*self._existential_start(subject), placed)
        if way == 3:
            return (*place, ",", named, *self._finite_verb(subject))
        if way == 4:
            which = self._join_phrase((named, "that", self._form_of_be(subject), *place), subject, other)
            return (which, *self._finite_verb(subject))
        if way == 5:
            return (named, self._verb(self.scene.things[subject].action)[2], *place)
        return (named, *self._finite_verb(subject), *place)

    def _touching_sentence(self) -> Parts:
        """A sentence about the action in a touching pair, from either side."""
        layout, one, two = self.scene.layout, 0, 1
        if layout is Layout.LEAN:
            return self._active_sentence(one, self._verb("lean"), ("on", self._noun_phrase(two)), two)
        if layout is Layout.CARRY and self._chance(0.3):
            return self._active_sentence(two, self._verb("rest"), ("on", self._noun_phrase(one)), one)
        verb = self._verb(layout.value)
        if self._chance(0.4):
            return self._passive_sentence(two, verb[3], one)
        return self._active_sentence(one, verb, (self._noun_phrase(two),), two)

    def _active_sentence(self, actor: int, verb: Sequence[str], on: Parts, other: int) -> Parts:
        way = int(self.random.integers(5))
        named = self._noun_phrase(actor, indefinite=way < 2)
        if way == 0:
            return ("there", "is", self._join_phrase((named, verb[2], *on), actor, other))
        if way == 1:
            return ("there", "is", self._join_phrase((named, "that", verb[0], *on), actor, other))
        return (named, *[(verb[0],), ("is", verb[2]), (verb[2],)][way - 2], *on)

    def _passive_sentence(self, thing: int, participle: str, actor: int) -> Parts:
        way = int(self.random.integers(3))
        named, by = self._noun_phrase(thing, indefinite=way == 0), ("by", self._noun_phrase(actor))
        if way == 0:
            return ("there", "is", self._join_phrase((named, participle, *by), thing, actor))
        return (named, *[("is", participle), (participle,)][way - 1], *by)

    def _joint_sentence(self, one: int, two: int) -> Parts:
        """A sentence with both things, joined by "and", without their places."""
        way = int(self.random.integers(3))
        if way == 0:
            return (self._unmodified_phrase(one), "and", self._unmodified_phrase(two))
        if way == 1:
            first, second = (self._unmodified_phrase(thing, {"action"}) for thing in (one, two))
            return (first, *self._finite_verb(one), "and", second, *self._finite_verb(two))
        first, second = (self._unmodified_phrase(thing, indefinite=True) for thing in (one, two))
        return ("there", "are", self._join_phrase((first, "and", second), one, two))

    # Parts of sentences

    def _fact(self) -> tuple[int, str, int]:
        """Two things of the scene and the relation of the first to the second."""
        scene = self.scene
        if scene.layout.is_touching:
            one, relation, two = 0, "above" if scene.layout.is_vertical else "left of", 1
            if (scene.layout is Layout.CARRY) or (not scene.layout.is_vertical and scene.mirrored):
                one, two = two, one
        elif scene.third and self._chance(0.4):  # the third is across: it is above both, or left of both
            one, two = (2, self._choose((0, 1))) if scene.third == "before" else (self._choose((0, 1)), 2)
            relation = "left of" if scene.layout.is_vertical else "above"
        else:
            one, relation, two = 0, scene.layout.value, 1
        if self._chance(0.5):
            one, relation, two = two, {"left of": "right of", "above": "below"}[relation], one
        if relation.endswith("of") and not self.whole and self._chance(0.15):
            relation = "beside"
        return one, relation, two

    def _place(self, relation: str, other: int) -> Parts:
        return (*self._choose(PLACES[relation]), self._unmodified_phrase(other))

    def _noun_phrase(self, thing: int, unsaid: Set[str] = frozenset(), indefinite: bool = False) -> Phrase:
        """A noun phrase for a thing; it leaves what is `unsaid` (of colour, size, texture, action) to others."""
        what = self.scene.things[thing]
        before = self._premodifiers(what, unsaid)
        words = self._add_determiner(what, indefinite, (*before, self._noun(what, vague=bool(before))))
        return Phrase(words, frozenset({thing}))

    def _unmodified_phrase(self, thing: int, unsaid: Set[str] = frozenset(), indefinite: bool = False) -> Phrase:
        """A noun phrase without a following modifier that could belong to it, so that it may be "a pair of ..."."""
        what, names = self.scene.things[thing], frozenset({thing})
        if what.number != 2 or self._chance(0.75):
            return self._noun_phrase(thing, unsaid, indefinite)
        pair = Phrase(("a", self._choose(("pair", "couple"))), names)
        return Phrase((pair, "of", Phrase((*self._premodifiers(what, unsaid), self._noun(what)), names)), names)

    def _modified_phrase(
        self, thing: int, chance: float, unsaid: Set[str] = frozenset(), indefinite: bool = False
    ) -> Phrase:
        """A noun phrase for a thing, with `chance` followed by a modifier."""
        if not self._chance(chance):
            return self._unmodified_phrase(thing, unsaid, indefinite)
        said, after = self._modifier(thing, unsaid)
        return Phrase((self._noun_phrase(thing, unsaid | said, indefinite), *after), frozenset({thing}))

    def _modifier(self, thing: int, unsaid: Set[str]) -> tuple[Set[str], Parts]:
        """A modifier after a noun, and the attributes that it expresses."""
        what = self.scene.things[thing]
        if what.texture in MARKS and self._chance(0.5):
            return {"texture"}, ("with", Phrase((self._choose(MARKS[what.texture]),), frozenset({thing})))
        if what.action and "action" not in unsaid and self._chance(0.7):
            verb = self._verb(what.action)
            return {"action"}, (verb[2],) if self._chance(0.5) else ("that", verb[what.number > 1])
        return LOOKS, ("that", self._form_of_be(thing), *self._look_words(thing))

    def _look_words(self, thing: int) -> tuple[str, ...]:
        what = self.scene.things[thing]
        looks = [self._adjective(look) for look in (what.colour, what.texture, what.size) if look != "plain"]
        if self._chance(0.5):
            return (looks[0],)
        return (looks[0], "and", self._choose(looks[1:]))

    def _premodifiers(self, what: Thing, unsaid: Set[str]) -> tuple[str, ...]:
        chance = {
            "size": 0.5,
            "action": 0.12 if what.action else 0.0,
            "texture": 0.1 if what.texture == "plain" else 0.5,
            "colour": 0.95 if self.whole else 0.8,
        }
        said = {name for name, share in chance.items() if self._chance(share) and name not in unsaid}
        words = {
            "size": self._adjective(what.size),
            "action": self._verb(what.action)[2],
            "texture": self._adjective(what.texture),
            "colour": self._adjective(what.colour),
        }
        order = ("size", "action", *self._choose((("texture", "colour"), ("colour", "texture"))))
        return tuple(words[name] for name in order if name in said)

    def _noun(self, what: Thing, vague: bool = False) -> str:
        if vague and not self.whole and self._chance(0.12):
            noun = self._choose(ANYTHING)
        else:
            noun = _NOUNS[what.shape][0] if self._chance(0.6) else self._choose(_NOUNS[what.shape])
        return noun if what.number == 1 else noun + ("es" if noun.endswith("x") else "s")

    def _add_determiner(self, what: Thing, indefinite: bool, words: tuple[str, ...]) -> tuple[str, ...]:
        if what.number > 1:
            number = _NUMBERS[what.number]
            few = [(number,), (number,), (number,), ("some",), ()]
            return (*self._choose(few if indefinite else [*few, ("the", number), ("the",)]), *words)
        a = "an" if words[0][0] in "aeio" else "a"
        return (self._choose((a,) * 6 + ("one",) if indefinite else (a,) * 6 + ("the", "the", "the", "one")), *words)

    def _finite_verb(self, thing: int) -> tuple[str, ...]:
        what = self.scene.things[thing]
        verb = self._verb(what.action)
        return (verb[what.number > 1],) if self._chance(0.55) else (self._form_of_be(thing), verb[2])

    def _existential_start(self, thing: int) -> tuple[str, str]:
        return ("there", self._form_of_be(thing))

    def _form_of_be(self, thing: int) -> str:
        return "is" if self.scene.things[thing].number == 1 else "are"

    def _verb(self, action: str) -> Sequence[str]:
        return self._choose(_VERBS[action])

    def _adjective(self, look: str) -> str:
        words = ADJECTIVES.get(look, (look,))
        return words[0] if self._chance(0.6) else self._choose(words)

    def _join_phrase(self, parts: Parts, *things: int) -> Phrase:
        return Phrase(parts, frozenset(things))

    def _chance(self, share: float) -> bool:
        return bool(self.random.random() < share)

    def _choose(self, choices: Sequence[Item]) -> Item:
        return choices[int(self.random.integers(len(choices)))]


def _flatten(parts: Parts, tokens: list[str], phrases: list[tuple[int, int, frozenset[int]]]) -> None:
    """Appends the words of `parts` to `tokens`, and the place of each phrase in them to `phrases`."""
    for part in parts:
        if isinstance(part, str):
            tokens.append(part)
        else:
            start = len(tokens)
            _flatten(part.parts, tokens, phrases)
            phrases.append((start, len(tokens), part.things))

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
        parts = self._of_a_pair() if pair else self._of_one(self._any(range(len(self.scene.things))))
        if self._chance(0.6):
            parts = (*parts, ".")
        tokens: list[str] = []
        phrases: list[tuple[int, int, frozenset[int]]] = []
        _flatten(parts, tokens, phrases)
        return Sentence((tokens[0].capitalize(), *tokens[1:]), tuple(phrases))

    # Sentences about one

    def _of_one(self, thing: int) -> Parts:
        """A sentence about one thing: its action, its presence, its looks, or just its name."""
        ways = (self._does, self._there_is_one, self._looks, self._one_named)
        return ways[int(self.random.choice(4, p=[0.35, 0.3, 0.15, 0.2]))](thing)

    def _does(self, thing: int) -> Parts:
        return (self._modified(thing, 0.3, {"action"}), *self._finite(thing))

    def _there_is_one(self, thing: int) -> Parts:
        return (*self._there(thing), self._modified(thing, 0.5, indefinite=True))

    def _looks(self, thing: int) -> Parts:
        return (self._unmodified(thing, LOOKS), self._be(thing), *self._looking(thing))

    def _one_named(self, thing: int) -> Parts:
        return self._modified(thing, 0.6).parts

    # Sentences about two

    def _of_a_pair(self) -> Parts:
        if self.scene.layout.touching and (self.whole or self._chance(0.8)):
            return self._one_acts_on_the_other()
        subject, relation, other = self._fact()
        if not self.whole and self._chance(0.2):
            return self._both_named(subject, other)
        return self._one_placed(subject, self._place(relation, other), other)

    def _one_placed(self, subject: int, place: Parts, other: int) -> Parts:
        """A sentence about the place of one thing, in one of seven forms."""
        way = int(self.random.integers(7))
        named = self._named(subject, {"action"} if way > 2 else set(), indefinite=way == 2)
        placed = self._joined((named, *place), subject, other)
        if way == 0:
            return placed.parts
        if way == 1:
            return (named, self._be(subject), *place)
        if way == 2:
            return (*self._there(subject), placed)
        if way == 3:
            return (*place, ",", named, *self._finite(subject))
        if way == 4:
            which = self._joined((named, "that", self._be(subject), *place), subject, other)
            return (which, *self._finite(subject))
        if way == 5:
            return (named, self._verb(self.scene.things[subject].action)[2], *place)
        return (named, *self._finite(subject), *place)

    def _one_acts_on_the_other(self) -> Parts:
        """A sentence about the action in a touching pair, from either side."""
        layout, one, two = self.scene.layout, 0, 1
        if layout is Layout.LEAN:
            return self._acts(one, self._verb("lean"), ("on", self._named(two)), two)
        if layout is Layout.CARRY and self._chance(0.3):
            return self._acts(two, self._verb("rest"), ("on", self._named(one)), one)
        verb = self._verb(layout.value)
        if self._chance(0.4):
            return self._is_acted_on(two, verb[3], one)
        return self._acts(one, verb, (self._named(two),), two)

    def _acts(self, actor: int, verb: Sequence[str], on: Parts, other: int) -> Parts:
        way = int(self.random.integers(5))
        named = self._named(actor, indefinite=way < 2)
        if way == 0:
            return ("there", "is", self._joined((named, verb[2], *on), actor, other))
        if way == 1:
            return ("there", "is", self._joined((named, "that", verb[0], *on), actor, other))
        return (named, *[(verb[0],), ("is", verb[2]), (verb[2],)][way - 2], *on)

    def _is_acted_on(self, thing: int, participle: str, actor: int) -> Parts:
        way = int(self.random.integers(3))
        named, by = self._named(thing, indefinite=way == 0), ("by", self._named(actor))
        if way == 0:
            return ("there", "is", self._joined((named, participle, *by), thing, actor))
        return (named, *[("is", participle), (participle,)][way - 1], *by)

    def _both_named(self, one: int, two: int) -> Parts:
        """A sentence with both things, joined by "and", without their places."""
        way = int(self.random.integers(3))
        if way == 0:
            return (self._unmodified(one), "and", self._unmodified(two))
        if way == 1:
            first, second = (self._unmodified(thing, {"action"}) for thing in (one, two))
            return (first, *self._finite(one), "and", second, *self._finite(two))
        first, second = (self._unmodified(thing, indefinite=True) for thing in (one, two))
        return ("there", "are", self._joined((first, "and", second), one, two))

    # Parts of sentences

    def _fact(self) -> tuple[int, str, int]:
        """Two things of the scene and the relation of the first to the second."""
        scene = self.scene
        if scene.layout.touching:
            one, relation, two = 0, "above" if scene.layout.vertical else "left of", 1
            if (scene.layout is Layout.CARRY) or (not scene.layout.vertical and scene.mirrored):
                one, two = two, one
        elif scene.third and self._chance(0.4):  # the third is across: it is above both, or left of both
            one, two = (2, self._any((0, 1))) if scene.third == "before" else (self._any((0, 1)), 2)
            relation = "left of" if scene.layout.vertical else "above"
        else:
            one, relation, two = 0, scene.layout.value, 1
        if self._chance(0.5):
            one, relation, two = two, {"left of": "right of", "above": "below"}[relation], one
        if relation.endswith("of") and not self.whole and self._chance(0.15):
            relation = "beside"
        return one, relation, two

    def _place(self, relation: str, other: int) -> Parts:
        return (*self._any(PLACES[relation]), self._unmodified(other))

    def _named(self, thing: int, unsaid: Set[str] = frozenset(), indefinite: bool = False) -> Phrase:
        """A noun phrase for a thing; it leaves what is `unsaid` (of colour, size, texture, action) to others."""
        what = self.scene.things[thing]
        before = self._before_noun(what, unsaid)
        words = self._determined(what, indefinite, (*before, self._noun(what, vague=bool(before))))
        return Phrase(words, frozenset({thing}))

    def _unmodified(self, thing: int, unsaid: Set[str] = frozenset(), indefinite: bool = False) -> Phrase:
        """A noun phrase without a following modifier that could belong to it, so that it may be "a pair of ..."."""
        what, names = self.scene.things[thing], frozenset({thing})
        if what.number != 2 or self._chance(0.75):
            return self._named(thing, unsaid, indefinite)
        pair = Phrase(("a", self._any(("pair", "couple"))), names)
        return Phrase((pair, "of", Phrase((*self._before_noun(what, unsaid), self._noun(what)), names)), names)

    def _modified(self, thing: int, chance: float, unsaid: Set[str] = frozenset(), indefinite: bool = False) -> Phrase:
        """A noun phrase for a thing, with `chance` followed by a modifier."""
        if not self._chance(chance):
            return self._unmodified(thing, unsaid, indefinite)
        said, after = self._modifier(thing, unsaid)
        return Phrase((self._named(thing, unsaid | said, indefinite), *after), frozenset({thing}))

    def _modifier(self, thing: int, unsaid: Set[str]) -> tuple[Set[str], Parts]:
        """A modifier after a noun, and the attributes that it expresses."""
        what = self.scene.things[thing]
        if what.texture in MARKS and self._chance(0.5):
            return {"texture"}, ("with", Phrase((self._any(MARKS[what.texture]),), frozenset({thing})))
        if what.action and "action" not in unsaid and self._chance(0.7):
            verb = self._verb(what.action)
            return {"action"}, (verb[2],) if self._chance(0.5) else ("that", verb[what.number > 1])
        return LOOKS, ("that", self._be(thing), *self._looking(thing))

    def _looking(self, thing: int) -> tuple[str, ...]:
        what = self.scene.things[thing]
        looks = [self._adjective(look) for look in (what.colour, what.texture, what.size) if look != "plain"]
        if self._chance(0.5):
            return (looks[0],)
        return (looks[0], "and", self._any(looks[1:]))

    def _before_noun(self, what: Thing, unsaid: Set[str]) -> tuple[str, ...]:
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
        order = ("size", "action", *self._any((("texture", "colour"), ("colour", "texture"))))
        return tuple(words[name] for name in order if name in said)

    def _noun(self, what: Thing, vague: bool = False) -> str:
        if vague and not self.whole and self._chance(0.12):
            noun = self._any(ANYTHING)
        else:
            noun = _NOUNS[what.shape][0] if self._chance(0.6) else self._any(_NOUNS[what.shape])
        return noun if what.number == 1 else noun + ("es" if noun.endswith("x") else "s")

    def _determined(self, what: Thing, indefinite: bool, words: tuple[str, ...]) -> tuple[str, ...]:
        if what.number > 1:
            number = _NUMBERS[what.number]
            few = [(number,), (number,), (number,), ("some",), ()]
            return (*self._any(few if indefinite else [*few, ("the", number), ("the",)]), *words)
        a = "an" if words[0][0] in "aeio" else "a"
        return (self._any((a,) * 6 + ("one",) if indefinite else (a,) * 6 + ("the", "the", "the", "one")), *words)

    def _finite(self, thing: int) -> tuple[str, ...]:
        what = self.scene.things[thing]
        verb = self._verb(what.action)
        return (verb[what.number > 1],) if self._chance(0.55) else (self._be(thing), verb[2])

    def _there(self, thing: int) -> tuple[str, str]:
        return ("there", self._be(thing))

    def _be(self, thing: int) -> str:
        return "is" if self.scene.things[thing].number == 1 else "are"

    def _verb(self, action: str) -> Sequence[str]:
        return self._any(_VERBS[action])

    def _adjective(self, look: str) -> str:
        words = ADJECTIVES.get(look, (look,))
        return words[0] if self._chance(0.6) else self._any(words)

    def _joined(self, parts: Parts, *things: int) -> Phrase:
        return Phrase(parts, frozenset(things))

    def _chance(self, share: float) -> bool:
        return bool(self.random.random() < share)

    def _any(self, choices: Sequence[Item]) -> Item:
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

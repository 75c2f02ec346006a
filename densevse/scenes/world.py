"""The contents of scenes: things with attributes, their arrangement, and swaps of scenes.

A thing may stand for several equal ones ("two red balls"). In a scene of two or three, the first two are a pair in a
`Layout`; a third is separate. A family is a scene and its swaps: the same words describe them all, in another order, so
a model that ignores word order cannot distinguish them.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from numpy.random import Generator

SHAPES = ("ball", "box", "cone", "star", "ring")
_COLOURS = ("red", "blue", "green", "yellow")
SIZES = ("small", "large")
TEXTURES = ("plain", "striped", "dotted")
ACTIONS = ("roll", "float", "spin", "fall", "shine")
# A tilt is invisible in a round thing, so only these lean.
LEANING = ("box", "cone", "star")


class Layout(StrEnum):
    """The relation of the first thing of a scene to the second."""

    ALONE = "alone"
    LEFT_OF = "left of"
    ABOVE = "above"
    PUSH = "push"
    CARRY = "carry"
    LEAN = "lean"

    @property
    def is_touching(self) -> bool:
        """True if the two touch, as the first acts upon the second."""
        return self in (Layout.PUSH, Layout.CARRY, Layout.LEAN)

    @property
    def is_vertical(self) -> bool:
        """True if one is above the other."""
        return self in (Layout.ABOVE, Layout.CARRY)


@dataclass(frozen=True)
class Thing:
    """One thing, or `number` equal ones side by side. `action` is empty for a thing at rest."""

    shape: str
    colour: str
    size: str
    texture: str = "plain"
    number: int = 1
    action: str = ""

    @property
    def name(self) -> str:
        """Every attribute of a single one, in words: size, texture, colour, shape, action."""
        return " ".join(filter(None, (self.size, self.texture, self.colour, self.shape, self.action)))


@dataclass(frozen=True)
class Scene:
    """Up to three things. `mirrored` swaps left and right in a touching pair; `third` is the place of the third."""

    things: tuple[Thing, ...]
    layout: Layout = Layout.ALONE
    mirrored: bool = False
    third: str = ""  # in a scene of three: before (left of or above) the pair, or after it


def sample_family(random: Generator) -> list[Scene]:
    """One scene, or a scene of two with its swaps."""
    kind = random.choice(["one", "pair", "touching", "three"], p=[0.2, 0.35, 0.2, 0.25])
    if kind == "one":
        return [Scene((_thing(random, most=3),))]
    if kind == "three":
        return [_scene_of_three(random)]
    scene = _touching_pair(random) if kind == "touching" else _pair(random)
    return _swaps(scene)


def _pair(random: Generator) -> Scene:
    first, second = _distinct_things(random, 2)
    if random.random() < 0.35:  # of two kinds of things, one may be several
        first = replace(first, number=int(random.integers(2, 4 if first.size == "small" else 3)))
    layout = Layout.LEFT_OF if random.random() < 0.5 else Layout.ABOVE
    return Scene((first, second), layout)


def _touching_pair(random: Generator) -> Scene:
    first, second = (replace(thing, action="") for thing in _distinct_things(random, 2))
    layout = (Layout.PUSH, Layout.CARRY, Layout.LEAN)[int(random.integers(3))]
    if layout is Layout.LEAN:
        shapes = random.choice(LEANING, size=2, replace=False)
        first, second = replace(first, shape=str(shapes[0])), replace(second, shape=str(shapes[1]))
    if layout is Layout.CARRY:  # the carrier is at least as large
        first = replace(first, size="large")
    return Scene((first, second), layout, mirrored=bool(random.random() < 0.5))


def _scene_of_three(random: Generator) -> Scene:
    things = list(_distinct_things(random, 3))
    if random.random() < 0.4:
        things[0] = replace(things[0], number=2, size="small")
    layout = Layout.LEFT_OF if random.random() < 0.5 else Layout.ABOVE
    return Scene(tuple(things), layout, third=str(random.choice(["before", "after"])))


def _swaps(scene: Scene) -> list[Scene]:
    """The scene itself, and with places or roles, with colours, and with both swapped."""
    first, second = scene.things
    recoloured = (replace(first, colour=second.colour), replace(second, colour=first.colour))
    pairs = [(first, second), (second, first), recoloured, recoloured[::-1]]
    if scene.layout is Layout.CARRY:  # sizes stay with the role, as nothing small could carry
        pairs = [(replace(one, size=first.size), replace(two, size=second.size)) for one, two in pairs]
    return [replace(scene, things=pair) for pair in pairs]


def _thing(random: Generator, most: int) -> Thing:
    size = str(random.choice(SIZES))
    return Thing(
        shape=str(random.choice(SHAPES)),
        colour=str(random.choice(_COLOURS)),
        size=size,
        texture=str(random.choice(TEXTURES, p=[0.5, 0.25, 0.25])),
        number=int(random.integers(1, 1 + (most if size == "small" else min(most, 2)))),
        action=str(random.choice(("", *ACTIONS), p=[0.35] + [0.13] * 5)),
    )


def _distinct_things(random: Generator, count: int) -> tuple[Thing, ...]:
    """`count` single things that differ in shape and in colour."""
    shapes = random.choice(SHAPES, size=count, replace=False)
    colours = random.choice(_COLOURS, size=count, replace=False)
    things = (_thing(random, most=1) for _ in range(count))
    return tuple(
        replace(thing, shape=str(shape), colour=str(colour))
        for thing, shape, colour in zip(things, shapes, colours, strict=True)
    )

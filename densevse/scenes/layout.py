"""Places the things of a scene. Lengths are shares of the picture's side, with the origin at the top left."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from densevse.scenes.world import Layout, Scene, Thing

DIAMETER = {"small": 0.17, "large": 0.31}
MARGIN = 0.04  # room for the marks of an action


@dataclass(frozen=True)
class Place:
    """A single thing's centre, diameter, tilt in degrees, and direction (1 to the right, -1 to the left)."""

    x: float
    y: float
    diameter: float
    tilt: float = 0.0
    heading: int = 1
    moves: bool = False


@dataclass(frozen=True)
class _Block:
    """Places relative to a centre, with their common width and height."""

    places: tuple[tuple[Place, ...], ...]  # one tuple for each thing
    width: float
    height: float


def arrange(scene: Scene, random: Generator) -> list[tuple[Place, ...]]:
    """A place for each single thing, in the scene's order."""
    block = _pair(scene, random) if scene.layout is not Layout.ALONE else _row(scene.things[0], True, random)
    if scene.third:
        third, apart = _row(scene.things[2], True, random), not scene.layout.vertical
        block = _join(block, third, apart, random) if scene.third == "after" else _join(third, block, apart, random)
        if scene.third == "before":
            block = replace(block, places=(*block.places[1:], block.places[0]))
    scale = min(1.0, (1 - 2 * MARGIN) / max(block.width, block.height))
    x, y = (_centre(extent * scale, random) for extent in (block.width, block.height))
    return [tuple(_moved(place, scale, x, y) for place in places) for places in block.places]


def _pair(scene: Scene, random: Generator) -> _Block:
    first, second = scene.things[:2]
    if scene.layout.touching:
        return _touching(scene, random)
    vertical = scene.layout is Layout.ABOVE
    return _join(_row(first, vertical, random), _row(second, vertical, random), vertical, random)


def _row(thing: Thing, horizontal: bool, random: Generator) -> _Block:
    """Equal things side by side, or one above the other."""
    diameter = DIAMETER[thing.size] * random.uniform(0.92, 1.08)
    step = diameter * random.uniform(1.12, 1.25)
    offsets = (np.arange(thing.number) - (thing.number - 1) / 2) * step
    heading = 1 if random.random() < 0.5 else -1
    places = tuple(
        Place(
            x=float(offset) if horizontal else random.uniform(-0.01, 0.01),
            y=random.uniform(-0.01, 0.01) if horizontal else float(offset),
            diameter=diameter,
            heading=heading,
        )
        for offset in offsets
    )
    length = float(diameter + step * (thing.number - 1))
    return _Block((places,), *((length, diameter) if horizontal else (diameter, length)))


def _join(one: _Block, two: _Block, vertical: bool, random: Generator) -> _Block:
    """Puts `one` above (or left of) `two`, with a gap and slightly out of line."""
    gap = random.uniform(0.09, 0.16)
    if vertical:
        length, across = one.height + gap + two.height, max(one.width, two.width)
        y_one, y_two = (one.height - length) / 2, (length - two.height) / 2
        x_one, x_two = random.uniform(-0.05, 0.05, 2)
    else:
        length, across = one.width + gap + two.width, max(one.height, two.height)
        x_one, x_two = (one.width - length) / 2, (length - two.width) / 2
        y_one, y_two = random.uniform(-0.05, 0.05, 2)
    places = (*_shifted(one, x_one, y_one), *_shifted(two, x_two, y_two))
    return _Block(places, *((across + 0.1, length) if vertical else (length, across + 0.1)))


def _touching(scene: Scene, random: Generator) -> _Block:
    first, second = (DIAMETER[thing.size] * random.uniform(0.92, 1.08) for thing in scene.things[:2])
    if scene.layout is Layout.CARRY:
        length = first + second
        shift = random.uniform(-0.1, 0.1) * first
        below, above = Place(0, (length - first) / 2, first), Place(shift, (second - length) / 2, second)
        return _Block(((below,), (above,)), max(first, second) * 1.2, length)
    side = 1 if scene.mirrored else -1  # the side of the second on which the first is
    length, floor = first + second, max(first, second) / 2
    pushed = scene.layout is Layout.PUSH
    actor = Place(
        x=side * (length - first) / 2,
        y=floor - first / 2,
        diameter=first,
        tilt=0.0 if pushed else -side * 28.0,
        heading=-side,
        moves=pushed,
    )
    return _Block(
        ((actor,), (Place(side * (second - length) / 2, floor - second / 2, second),)),
        length + 0.16,  # the lines behind a thing that pushes
        max(first, second) * 1.1,
    )


def _shifted(block: _Block, x: float, y: float) -> tuple[tuple[Place, ...], ...]:
    return tuple(tuple(replace(place, x=place.x + x, y=place.y + y) for place in places) for places in block.places)


def _moved(place: Place, scale: float, x: float, y: float) -> Place:
    return replace(place, x=x + scale * place.x, y=y + scale * place.y, diameter=scale * place.diameter)


def _centre(extent: float, random: Generator) -> float:
    """The possible centre of a block of this extent inside the picture."""
    slack = max(0.0, 0.5 - MARGIN - extent / 2)
    return 0.5 + random.uniform(-slack, slack)

"""Draws pictures of scenes: the places of things, shapes, textures, marks of actions, and a cluttered background.

Places are shares of the picture's side, with the origin at the top left. Everything is drawn `SCALE` times too large
and reduced, which smooths the edges. A thing's true box is that of its mask, without shadow or motion lines.
"""

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

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
    block = (
        _pair_block(scene, random) if scene.layout is not Layout.ALONE else _row_block(scene.things[0], True, random)
    )
    if scene.third:
        third, apart = _row_block(scene.things[2], True, random), not scene.layout.is_vertical
        block = _join(block, third, apart, random) if scene.third == "after" else _join(third, block, apart, random)
        if scene.third == "before":
            block = replace(block, places=(*block.places[1:], block.places[0]))
    scale = min(1.0, (1 - 2 * MARGIN) / max(block.width, block.height))
    x, y = (_centre(extent * scale, random) for extent in (block.width, block.height))
    return [tuple(_move_place(place, scale, x, y) for place in places) for places in block.places]


def _pair_block(scene: Scene, random: Generator) -> _Block:
    first, second = scene.things[:2]
    if scene.layout.is_touching:
        return _touching_block(scene, random)
    vertical = scene.layout is Layout.ABOVE
    return _join(_row_block(first, vertical, random), _row_block(second, vertical, random), vertical, random)


def _row_block(thing: Thing, horizontal: bool, random: Generator) -> _Block:
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
    places = (*_shift_places(one, x_one, y_one), *_shift_places(two, x_two, y_two))
    return _Block(places, *((across + 0.1, length) if vertical else (length, across + 0.1)))


def _touching_block(scene: Scene, random: Generator) -> _Block:
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


def _shift_places(block: _Block, x: float, y: float) -> tuple[tuple[Place, ...], ...]:
    return tuple(tuple(replace(place, x=place.x + x, y=place.y + y) for place in places) for places in block.places)


def _move_place(place: Place, scale: float, x: float, y: float) -> Place:
    return replace(place, x=x + scale * place.x, y=y + scale * place.y, diameter=scale * place.diameter)


def _centre(extent: float, random: Generator) -> float:
    """The possible centre of a block of this extent inside the picture."""
    slack = max(0.0, 0.5 - MARGIN - extent / 2)
    return 0.5 + random.uniform(-slack, slack)


_Picture = NDArray[np.uint8]
Numbers = NDArray[np.float64]
Box = tuple[float, float, float, float]  # x, y, width, height in pixels

SCALE = 3
_COLOURS = {
    "red": (214, 40, 40),
    "blue": (40, 80, 214),
    "green": (40, 160, 60),
    "yellow": (240, 215, 50),
}
INK, LIGHT = np.array([35, 35, 40]), np.array([255, 250, 215])


def draw(scene: Scene, size: int, random: Generator) -> tuple[_Picture, list[list[Box]]]:
    """An RGB picture (size, size, 3), and the true boxes of each thing (a box for each single one)."""
    picture = _background(size * SCALE, random)
    places = arrange(scene, random)
    boxes = []
    for thing, group in zip(scene.things, places, strict=True):
        boxes.append([_draw_thing(picture, thing, place, random) for place in group])
    reduced = cv2.resize(picture, (size, size), interpolation=cv2.INTER_AREA)
    noise = random.normal(0, 5, reduced.shape)
    return np.clip(reduced + noise, 0, 255).astype(np.uint8), boxes


def _background(side: int, random: Generator) -> _Picture:
    """A slanting gradient of two dull colours, with coarse noise, and blobs and lines as distractors."""
    ends = random.uniform(95, 205, (2, 1)) + random.uniform(-22, 22, (2, 3))
    angle = random.uniform(0, 2 * np.pi)
    small = side // SCALE  # it is smooth, so it is made at the picture's final size
    across = np.linspace(-0.5, 0.5, small)
    ramp = np.clip(0.5 + np.cos(angle) * across[None, :] + np.sin(angle) * across[:, None], 0, 1)[..., None]
    clouds = cv2.resize(random.normal(0, 14, (7, 7)), (small, small), interpolation=cv2.INTER_CUBIC)[..., None]
    smooth = np.clip(ends[0] + (ends[1] - ends[0]) * ramp + clouds, 0, 255).astype(np.uint8)
    picture: _Picture = cv2.resize(smooth, (side, side), interpolation=cv2.INTER_LINEAR)
    for _ in range(int(random.integers(2, 6))):
        _draw_clutter(picture, random)
    return picture


def _draw_clutter(picture: _Picture, random: Generator) -> None:
    side = len(picture)
    colour = tuple(int(level) for level in random.uniform(80, 210) + random.uniform(-15, 15, 3))
    start, end = random.integers(0, side, (2, 2)).tolist()
    if random.random() < 0.5:
        cv2.line(picture, start, end, colour, int(random.integers(1, 5)), cv2.LINE_AA)
    else:
        axes = (random.uniform(0.02, 0.07, 2) * side).astype(int).tolist()
        cv2.ellipse(picture, start, axes, float(random.uniform(0, 180)), 0, 360, colour, -1, cv2.LINE_AA)


def _draw_thing(picture: _Picture, thing: Thing, place: Place, random: Generator) -> Box:
    side = len(picture)
    centre, radius = np.array([place.x, place.y]) * side, place.diameter * side / 2
    _draw_action_marks(picture, thing.action, centre, radius)
    if thing.action == "roll" or place.moves:
        _draw_motion_lines(picture, centre, radius, place.heading)
    mask = _mask(thing.shape, side, centre, radius, place.tilt + random.uniform(-4, 4))
    x, y, width, height = cv2.boundingRect(mask)
    part = slice(y, y + height), slice(x, x + width)
    inside = (mask[part] / 255.0)[..., None]
    picture[part] = inside * _surface(thing, width, height, radius, random) + (1 - inside) * picture[part]
    outlines, _ = cv2.findContours(mask, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    cv2.drawContours(picture, outlines, -1, INK.tolist(), 2, cv2.LINE_AA)
    return x / SCALE, y / SCALE, width / SCALE, height / SCALE


def _mask(shape: str, side: int, centre: Numbers, radius: float, tilt: float) -> _Picture:
    mask = np.zeros((side, side), np.uint8)
    middle = centre.round().astype(int).tolist()
    if shape in ("ball", "ring"):
        cv2.circle(mask, middle, round(radius), 255, -1)
        if shape == "ring":
            cv2.circle(mask, middle, round(radius * 0.5), 0, -1)
        return mask
    turn = np.deg2rad(tilt)
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    corners = centre + radius * _corners(shape) @ rotation.T
    cv2.fillPoly(mask, [corners.round().astype(np.int32)], 255)
    return mask


def _corners(shape: str) -> Numbers:
    """The polygon of a shape in a circle of radius 1; a box exceeds it slightly, to look as large."""
    if shape == "box":
        return np.array([(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)])
    if shape == "cone":
        return np.array([(0, -1), (0.92, 0.9), (-0.92, 0.9)])
    angles = np.arange(10) * np.pi / 5 - np.pi / 2
    star: Numbers = np.array([[1.05], [0.45]] * 5) * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return star


def _surface(thing: Thing, width: int, height: int, radius: float, random: Generator) -> Numbers:
    """The thing's colour, shaded from top left to bottom right, with its stripes or dots."""
    colour = np.array(_COLOURS[thing.colour]) + random.uniform(-14, 14, 3)
    across, down = np.meshgrid(np.arange(width) - width / 2, np.arange(height) - height / 2)
    surface: Numbers = (1.08 - 0.22 * (across + down) / (2 * radius))[..., None] * colour
    if thing.texture != "plain":
        surface = np.where(_texture_mask(thing.texture, across, down, radius), colour * 0.25 + LIGHT * 0.75, surface)
    return np.clip(surface, 0, 255)


def _texture_mask(texture: str, across: Numbers, down: Numbers, radius: float) -> NDArray[np.bool_]:
    """The points (of a grid around the middle, in pixels) that are in a stripe or a dot."""
    period = max(radius * 0.5, 4.0 * SCALE)
    if texture == "striped":
        marked = (across + down) % (period * 1.3) < period * 0.5
    else:
        marked = np.hypot(across % period - period / 2, down % period - period / 2) < period * 0.3
    return marked[..., None]


def _draw_action_marks(picture: _Picture, action: str, centre: Numbers, radius: float) -> None:
    """Marks that a thing floats (a shadow below), falls (lines above), spins (arcs) or shines (rays)."""
    middle = centre.round().astype(int).tolist()
    if action == "float":
        _draw_shadow(picture, centre + np.array([0, radius * 1.35]), radius)
    elif action == "fall":
        for offset in (-0.55, 0.0, 0.55):
            start = centre + radius * np.array([offset, -1.6])
            _draw_stroke(picture, start, start + radius * np.array([0, 0.5]))
    elif action == "spin":
        for begin in (-35, 145):
            cv2.ellipse(
                picture, middle, [round(radius * 1.25)] * 2, 0, begin, begin + 70, INK.tolist(), SCALE, cv2.LINE_AA
            )
    elif action == "shine":
        for turn in np.arange(8) * np.pi / 4 + np.pi / 8:
            towards = np.array([np.cos(turn), np.sin(turn)])
            _draw_stroke(picture, centre + 1.12 * radius * towards, centre + 1.45 * radius * towards, LIGHT)


def _draw_shadow(picture: _Picture, centre: Numbers, radius: float) -> None:
    mask = np.zeros(picture.shape[:2], np.uint8)
    axes = [round(radius * 0.9), max(2, round(radius * 0.22))]
    cv2.ellipse(mask, centre.round().astype(int).tolist(), axes, 0, 0, 360, 255, -1, cv2.LINE_AA)
    picture[:] = picture * (1 - 0.62 * (mask / 255.0))[..., None]


def _draw_motion_lines(picture: _Picture, centre: Numbers, radius: float, heading: int) -> None:
    for offset in (-0.5, 0.0, 0.5):
        start = centre + radius * np.array([-1.15 * heading, offset])
        _draw_stroke(picture, start, start - radius * np.array([0.55 * heading, 0]))


def _draw_stroke(picture: _Picture, start: Numbers, end: Numbers, colour: NDArray[np.int64] = INK) -> None:
    cv2.line(
        picture,
        start.round().astype(int).tolist(),
        end.round().astype(int).tolist(),
        colour.tolist(),
        SCALE,
        cv2.LINE_AA,
    )

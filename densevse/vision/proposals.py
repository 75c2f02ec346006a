"""Proposals: boxes that may hold an object, by selective search, from a file, or from MCG's published boxes.

`selective_search` computes them (densevse.vision.selective_search). `file` and `detections` read the user's table. With
`detections` it has a column class_name, and its scores and classes choose the regions (densevse.vision.regions).
`mcg_published` reads a folder with one .mat file for each image, as published with MCG (Arbelaez et al., CVPR 2014):
`boxes` (n, 4), each row top, left, bottom, right of the box's pixels counted from 1, and `scores` (n, 1).
densevse/config/proposers.py defines the options of each. The kind `mcg` computes MCG: densevse.vision.mcg.
"""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.io import loadmat

from densevse.artifacts.boxes import BOX, Boxes, drop_unknown_images, sizes_by_image
from densevse.artifacts.file_names import names_by_key
from densevse.artifacts.images import Photographs
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.proposals import PROPOSALS
from densevse.artifacts.shards import remove_old_shards, shard_slice
from densevse.config.proposers import PROPOSERS, BoxFile, Detections, PublishedMCG, SelectiveSearch
from densevse.vision.boxes import clip_boxes, order_by_score, unique_boxes
from densevse.vision.given_files import list_files
from densevse.vision.processes import map_in_processes
from densevse.vision.selective_search import selective_search
from snakeproof.errors import InputError
from snakeproof.logs import logger, progress
from snakeproof.schema import ORIGIN, check_rows, check_rules, read, write
from snakeproof.strict import validate


class Scored(NamedTuple):
    """The n boxes of an image, best first, and the names of their classes if the proposer knows them."""

    boxes: Boxes  # (n, 4)
    scores: NDArray[np.float32]  # (n,)
    classes: NDArray[np.object_] | None = None  # (n,)


FILES = ("path", "folder")
"""The options that name a file or folder of the user."""


def write_proposals(
    image_table: str,
    sources: Mapping[str, str],
    proposer: Mapping[str, Any],
    wildcards: Mapping[str, Any],
    threads: int,
    output: str,
    files: Sequence[str] = (),
) -> None:
    """The job that writes the proposals (PROPOSALS) of a shard's images; see `propose`.

    `proposer` has its kind and options; `files` are the user's, which its options name.
    """
    images = read(image_table, IMAGES)
    part = shard_slice(wildcards["shard"], len(images))
    found = propose(images, part, sources, _replace_files(proposer, files), threads)
    write(found, PROPOSALS.bind(images=images), output)
    remove_old_shards(output)


def _replace_files(proposer: Mapping[str, Any], files: Sequence[str]) -> dict[str, Any]:
    """A copy of the proposer whose options name the files that this job reads; with a bucket, these are copies."""
    own = {name: file for name in FILES if name in proposer["options"] for file in files}
    return {**proposer, "options": proposer["options"] | own}


def propose(
    images: pd.DataFrame, part: slice, sources: Mapping[str, str], proposer: Mapping[str, Any], processes: int
) -> pd.DataFrame:
    """The proposals (schema PROPOSALS) of the readable images among the rows `part` of the image table.

    `sources` has the places of the data set's image files, `proposer` is its entry in config/proposers. Selective
    search runs in `processes` processes; their number does not change the result. An image without proposals has no
    rows.
    """
    options = validate(PROPOSERS[proposer["kind"]], proposer["options"], "proposers: options")
    rows = images.iloc[part]
    rows = rows[rows["status"] == "ok"]
    if isinstance(options, SelectiveSearch):
        found = _search_images(rows, sources, options, processes)
    elif isinstance(options, BoxFile):
        found = _read_box_file(images, rows, options)
    elif isinstance(options, PublishedMCG):
        found = _read_mcg_folder(images, rows, options)
    else:
        raise InputError(f"proposers: nothing computes boxes of the kind {proposer['kind']}.")
    proposals = [_proposal_rows(image_id, *scored) for image_id, scored in zip(rows["image_id"], found, strict=True)]
    empty = [image_id for image_id, frame in zip(rows["image_id"], proposals, strict=True) if frame.empty]
    if empty:
        logger.warning("%d of %d images have no proposal, among them %s", len(empty), len(rows), empty[:5])
    return pd.concat([_proposal_rows("", np.empty((0, 4), np.float32), np.empty(0, np.float32)), *proposals])


def _proposal_rows(
    image_id: str, boxes: Boxes, scores: NDArray[np.float32], classes: NDArray[np.object_] | None = None
) -> pd.DataFrame:
    frame = pd.DataFrame(boxes, columns=BOX)
    frame.insert(0, "image_id", pd.Series([image_id] * len(frame), dtype="str"))
    frame.insert(1, "rank", np.arange(len(frame), dtype=np.int32))
    frame["score"] = scores
    frame["class_name"] = pd.Series("" if classes is None else classes, index=frame.index, dtype="str")
    return frame


# --- selective search --------------------------------------------------------------------------------------------

_search: Callable[[tuple[str, str, str]], Scored]  # used in a worker process, which opens the image files itself


def _search_images(
    rows: pd.DataFrame, sources: Mapping[str, str], options: SelectiveSearch, processes: int
) -> Iterator[Scored]:
    tasks = list(rows[["image_id", "source", "file"]].itertuples(index=False, name=None))
    begin = (_start_worker, Photographs(sources, rows), options)
    return map_in_processes(_search_one, tasks, processes, "selective search", begin)


def _start_worker(files: Photographs, options: SelectiveSearch) -> None:
    global _search
    cv2.setNumThreads(1)

    def search(task: tuple[str, str, str]) -> Scored:
        image_id, source, file = task
        image = files.pixels(source, file)
        seed = zlib.crc32(image_id.encode())
        boxes = selective_search(image, options.mode, options.height, options.minimum_side, options.boxes, seed)
        # The paper defines an order but no score: this one descends with the rank.
        return Scored(boxes, (1 / np.arange(1, len(boxes) + 1)).astype(np.float32))

    _search = search


def _search_one(task: tuple[str, str, str]) -> Scored:
    return _search(task)


# --- a file of the user's ----------------------------------------------------------------------------------------


def _read_box_file(images: pd.DataFrame, rows: pd.DataFrame, options: BoxFile) -> Iterator[Scored]:
    parts = [_read_table(str(file), classes=isinstance(options, Detections)) for file in list_files(options.path)]
    table = drop_unknown_images(pd.concat(parts, ignore_index=True), images, options.path)
    check_rules(table, PROPOSALS.bind(images=images), options.path)  # as they are, before they are clipped
    groups = {str(image_id): group for image_id, group in table.groupby("image_id", sort=False)}
    for image in rows.itertuples():
        group = groups.get(str(image.image_id), table.iloc[:0])
        found = Scored(group[BOX].to_numpy(np.float32), group["score"].to_numpy(np.float32))
        if isinstance(options, Detections):
            found = found._replace(classes=group["class_name"].to_numpy(object))
        yield _rank_boxes(found, image, options.boxes)


def _read_table(path: str, classes: bool) -> pd.DataFrame:
    numbers, names = [*BOX, "score"], ["image_id", "class_name"] if classes else ["image_id"]
    needed, texts = [*names, *numbers], dict.fromkeys(names, "str")
    try:
        if path.endswith(".parquet"):
            table = pd.read_parquet(path)
        else:
            table = pd.read_csv(path, dtype=texts, keep_default_na=False, na_values={key: [""] for key in numbers})
        table = table[needed].astype(dict.fromkeys(numbers, "float32") | texts)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; name your boxes in the proposer's option `path`.") from None
    except (KeyError, ValueError, OSError) as error:
        raise InputError(f"{path}: expected a Parquet or CSV file with the columns {needed}: {error}") from error
    table[ORIGIN] = [f"{path}, image {image_id}, row {row}" for row, image_id in enumerate(table["image_id"])]
    without = {name: table[name].isna() | (table[name].str.strip() == "") for name in names}
    check_rows(table, {"a box has no image_id; write the id of its image": without["image_id"]}, path)
    if not classes:
        return table.assign(class_name="")
    problem = "a detection has no class_name; give each a class, or use a proposer of kind file"
    check_rows(table, {problem: without["class_name"]}, path)
    return table


def _rank_boxes(found: Scored, image: Any, most: int) -> Scored:
    """The boxes clipped to the image, best first, and distinct, except that several classes may share one."""
    boxes, scores, classes = found
    inside = clip_boxes(boxes, image.width, image.height)
    order = order_by_score(inside, scores)
    codes = pd.factorize(classes[order])[0] if classes is not None else np.zeros(len(order))
    first = order[unique_boxes(np.column_stack((inside[order], codes)))[:most]]
    return Scored(inside[first], scores[first], None if classes is None else classes[first])


# --- MCG's published boxes ---------------------------------------------------------------------------------------


def _read_mcg_folder(images: pd.DataFrame, rows: pd.DataFrame, options: PublishedMCG) -> Iterator[Scored]:
    names = {
        image: options.name.format(stem=Path(file).stem)
        for image, file in zip(images["image_id"], images["file"], strict=True)
    }
    names_by_key(((name, image) for image, name in names.items()), options.folder)
    proposals = PROPOSALS.bind(images=sizes_by_image(rows))
    for image in progress(rows.itertuples(), "MCG boxes", len(rows)):
        path = Path(options.folder, names[image.image_id])
        found = _read_mat(path)
        check_rules(_proposal_rows(str(image.image_id), *found), proposals, f"{path}, image {image.image_id}")
        yield _rank_boxes(found, image, options.boxes)


def _read_mat(path: Path) -> Scored:
    layout = "expected `boxes` (n, 4) and `scores` (n, 1) as in MCG's published boxes"
    if not path.is_file():
        raise InputError(
            f"{path}: no such file. Get MCG's boxes for this data set, name their folder in the proposer's option "
            "`folder`, and say in `name` what an image's file is called."
        )
    try:
        stored = loadmat(path, variable_names=["boxes", "scores"])
        corners, scores = np.asarray(stored["boxes"], np.float32), np.asarray(stored["scores"], np.float32).ravel()
    except NotImplementedError:
        raise InputError(f"{path}: a MATLAB 7.3 file; save it again in MATLAB with `save -v7`.") from None
    except KeyError as error:
        raise InputError(f"{path}: {layout}, but it has no {error}.") from None
    except Exception as error:  # SciPy raises many kinds of exceptions for a truncated file or one that is not MATLAB's
        raise InputError(f"{path}: not a whole MATLAB file ({error}); get it again.") from error
    if corners.ndim != 2 or corners.shape != (len(scores), 4):
        raise InputError(f"{path}: {layout}, but got {corners.shape} and {scores.shape}.")
    top, left, bottom, right = corners.T
    return Scored(np.stack([left - 1, top - 1, right - left + 1, bottom - top + 1], axis=1), scores)

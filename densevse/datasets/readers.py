"""From a data set's official files to its image table and caption table.

A reader knows one official layout. It is a function

    read(options, paths) -> (images, captions)

of the data set's `options` and the paths of its sources by name, and gives two frames: images with the columns
image_id, source, file, split, in the official order, and captions with the columns image_id, text, the sentences of
an image in their official order. All that every data set has in common (checks, order by split, positions, decoding each
image once) happens here.

A data set with true boxes has a second function, `read_boxes(options, paths) -> boxes`, whose frame has the columns of
the BOXES schema.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import pandas as pd

Paths = Mapping[str, str]
Options = Mapping[str, Any]

READERS = {
    "flickr": "densevse.datasets.flickr",
    "karpathy": "densevse.datasets.karpathy",
    "coco": "densevse.datasets.coco",
    "pascal": "densevse.datasets.pascal",
    "scenes": "densevse.datasets.scenes",
}


def reader(name: str) -> Callable[[Options, Paths], tuple[pd.DataFrame, pd.DataFrame]]:
    """The `read` function of a layout; only its module is imported."""
    read: Callable[[Options, Paths], tuple[pd.DataFrame, pd.DataFrame]] = import_module(READERS[name]).read
    return read


def boxes_reader(name: str) -> Callable[[Options, Paths], pd.DataFrame]:
    """The `read_boxes` function of a layout that has true boxes."""
    read_boxes: Callable[[Options, Paths], pd.DataFrame] = import_module(READERS[name]).read_boxes
    return read_boxes

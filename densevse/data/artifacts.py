"""Opens a data set's artifacts of images, from which every view is read."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import pandas as pd

from densevse.artifacts import schema
from densevse.artifacts.schema import Schema
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.store import FeatureStore
from densevse.data.files import Files
from densevse.data.texts import Texts


class Artifacts(Texts):
    """The image table and the features of each view, by the view's name."""

    def __init__(
        self, files: Files, features: Mapping[str, Schema], encoded_by: Mapping[str, Any] | None = None
    ) -> None:
        """`features` has the schema of each view that is opened from features; `encoded_by` is passed on to Texts."""
        super().__init__(files, encoded_by)
        self.stores = {view: FeatureStore(files.view(view), kind) for view, kind in features.items()}

    @cached_property
    def images(self) -> pd.DataFrame:
        """The image table."""
        return schema.read(self.files.one("image_table"), IMAGES)

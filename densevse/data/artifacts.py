"""A data set's artifacts of images, besides its sentences: what every view is opened from."""

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
    """The image table, and the features of views by the views' names."""

    def __init__(
        self, files: Files, features: Mapping[str, Schema], encoded_by: Mapping[str, Any] | None = None
    ) -> None:
        """`features` has the schema of each view that is opened from features; `encoded_by` as Texts takes it."""
        super().__init__(files, encoded_by)
        self.stores = {view: FeatureStore(files.view(view), kind) for view, kind in features.items()}

    @cached_property
    def images(self) -> pd.DataFrame:
        """The image table."""
        return schema.read(self.files.one("image_table"), IMAGES)

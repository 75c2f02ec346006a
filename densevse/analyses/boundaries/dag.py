"""Contours of photographs with boundaries that people drew, in the plan."""

from densevse.analyses.boundaries.settings import BoundarySettings
from densevse.dag.project import Stage
from densevse.runtime.errors import InputError


class BoundaryStage(Stage):
    """The check of contours against people's boundaries."""

    def folder(self) -> str:
        """The folder of photographs with the boundaries that people drew. Raises `InputError` if none is named."""
        folder = self.config.analysis(BoundarySettings).folder
        if not folder:
            raise InputError("boundaries.folder: name a folder in the layout of BSDS500, to compare contours with.")
        return folder

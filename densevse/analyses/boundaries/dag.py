"""Contours of photographs with boundaries that people drew, in the plan."""

from densevse.analyses.boundaries.settings import BoundarySettings
from densevse.dag.fields import CONTOURS_OF_MCG
from densevse.dag.jobs import Job
from densevse.dag.project import Stage
from densevse.dag.proposals import mcg_options
from densevse.runtime.errors import InputError


class BoundaryStage(Stage):
    """The check of contours against people's boundaries."""

    def folder(self) -> str:
        """The folder of photographs with the boundaries that people drew. Raises `InputError` if none is named."""
        folder = self.config.analysis(BoundarySettings).folder
        if not folder:
            raise InputError("boundaries.folder: name a folder in the layout of BSDS500, to compare contours with.")
        return folder

    def contours_job(self, proposer: str) -> Job:
        """The contours of the photographs, by a proposer's detector."""
        options = mcg_options(self.config, proposer, CONTOURS_OF_MCG)
        return Job({"options": options, "threads": self.config.threads})

    def matches_job(self, proposer: str) -> Job:
        """The comparison of a proposer's contours, and of its hierarchies, with people's boundaries."""
        return Job(mcg_options(self.config, proposer, ["superpixels"]))

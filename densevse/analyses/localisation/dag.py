"""Localisation of phrases in the plan: the variants that can do it, and their inputs."""

from densevse.analyses.localisation.settings import LocalisationSettings, LocalisationWindows
from densevse.config.registries import VIEWS
from densevse.config.values import DatasetName, VariantName
from densevse.dag.features import FeatureStage
from densevse.dag.fields import dump_fields
from densevse.dag.project import Stage
from densevse.dag.training import TrainingStage
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values


class LocalisationStage(Stage):
    """Places of phrases in images, by their scores with windows."""

    def training_dataset(self, dataset: DatasetName) -> DatasetName:
        """The data set whose models localise phrases: itself, unless its configuration names another."""
        return self._entry(dataset).trained_on or super().training_dataset(dataset)

    def windows(self, dataset: DatasetName, variant: VariantName) -> Values:
        """The features of windows that a variant reads. Raises `InputError` that names a variant that cannot."""
        entry = self.variant(dataset, variant)
        if len(entry.views) != 1 or not VIEWS[entry.views[0]].one_vector or list(entry.sentences) != ["words"]:
            raise InputError(
                f"localisation: {variant} reads {', '.join(entry.views)} of images and "
                f"{', '.join(entry.sentences)} of sentences, but windows have one vector (view "
                f"{', '.join(name for name, view in VIEWS.items() if view.one_vector)}) and phrases have words alone. "
                "Name another variant, such as vse."
            )
        (view,) = entry.views
        return {
            "network": self.view_network(variant, self.training_dataset(dataset), view, entry.networks),
            "view": view,
        }

    def boxes(self, dataset: DatasetName) -> Values:
        """The true boxes of phrases or objects. Raises `InputError` if there are none."""
        if not self.dataset(dataset).has_boxes:
            raise InputError(
                f"localisation: {dataset} has no true boxes of phrases or objects; give some as "
                f"datasets.{dataset}.boxes."
            )
        return {}

    def windows_job(self, dataset: DatasetName, network: str, view: str) -> Job:
        """The extraction of windows' features by a network: of how many images, and which windows."""
        job = FeatureStage(self.project).image_job(dataset, network, view)
        chosen = dump_fields(self._entry(dataset), ("images", "sides", "stride"))
        return job._replace(settings={**job.settings, "chosen": chosen})

    def localise_job(self, dataset: DatasetName, variant: VariantName) -> Job:
        """The job of a variant's heat maps: the number of cells along each side, and the threads."""
        modules = TrainingStage(self.project).modules(self.training_dataset(dataset), variant)
        return Job({"cells": self._entry(dataset).cells, "threads": self.threads(dataset)}, modules)

    def _entry(self, dataset: DatasetName) -> LocalisationWindows:
        return self.config.analysis(LocalisationSettings).dataset_entry(dataset)

    def title_of_variant(self, dataset: DatasetName, variant: VariantName) -> str:
        """The title of a variant's heat maps: its name, the data set of its training if another, and the data set."""
        by, trained_on = self.variant(dataset, variant).title, self.training_dataset(dataset)
        origin = "" if trained_on == dataset else f", trained on {self.project.datasets[trained_on].title}"
        return f"{by} ({variant}{origin}) on {self.title(dataset)}"

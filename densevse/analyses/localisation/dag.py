"""Localisation of phrases in the plan: the variants that can do it, and their inputs."""

from typing import Any

from densevse.analyses.localisation.settings import LocalisationSettings, LocalisationWindows
from densevse.config.views import VIEWS
from densevse.dag.paths import Values
from densevse.dag.project import Stage
from densevse.runtime.errors import InputError


class LocalisationStage(Stage):
    """Places of phrases in images, by their scores with windows."""

    def of(self, dataset: str) -> LocalisationWindows:
        """The settings for a data set."""
        return self.config.analysis(LocalisationSettings).of(dataset)

    def trained_on(self, dataset: str) -> str:
        """The data set whose models localise phrases: itself, unless its configuration names another."""
        return self.of(dataset).trained_on or super().trained_on(dataset)

    def model(self, dataset: str, variant: str, seed: int, round: int) -> Values:
        """The model that localises."""
        return {"dataset": self.trained_on(dataset), **self.round_of(dataset, variant, seed, round)}

    def words(self, dataset: str) -> Values:
        """The data set whose vocabulary the model was trained with."""
        return {"dataset": self.trained_on(dataset)}

    def windows(self, dataset: str, variant: str) -> Values:
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
        return {"network": self.network_of(variant, self.trained_on(dataset), view, entry.networks), "view": view}

    def boxes(self, dataset: str) -> Values:
        """The true boxes of phrases or objects. Raises `InputError` if there are none."""
        if not self.dataset(dataset).has_boxes:
            raise InputError(
                f"localisation: {dataset} has no true boxes of phrases or objects; give some as "
                f"datasets.{dataset}.boxes."
            )
        return {}

    def chosen(self, dataset: str) -> dict[str, Any]:
        """The number of images, and their windows."""
        entry = self.of(dataset)
        return {"images": entry.images, "sides": entry.sides, "stride": entry.stride}

    def cells(self, dataset: str) -> int:
        """The cells along each side of a heat map."""
        return self.of(dataset).cells

    def title_of_table(self, dataset: str, variant: str) -> str:
        """The title of the table."""
        return f"Localisation of phrases: {self.title_of_maps(dataset, variant)}"

    def title_of_maps(self, dataset: str, variant: str) -> str:
        """The model of heat maps, and their data set."""
        by, trained_on = self.variant(dataset, variant).title, self.trained_on(dataset)
        origin = "" if trained_on == dataset else f", trained on {self.project.datasets[trained_on].title}"
        return f"{by} ({variant}{origin}) on {self.title(dataset)}"

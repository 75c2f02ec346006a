"""Localisation of phrases: by which variants it can be done, and what it reads."""

from typing import Any

from densevse.config.declared.views import VIEWS
from densevse.dag.project import Stage, Wildcards
from densevse.runtime.errors import InputError


class Localisation(Stage):
    """Where phrases are in images, by their scores with windows."""

    def seen_as(self, dataset: str) -> str:
        """The data set whose models point at phrases: itself, if its configuration names no other."""
        return self.project.datasets[dataset].localisation.trained_on or super().seen_as(dataset)

    def model(self, wildcards: Wildcards) -> str:
        """The model that points."""
        trained_on = self.seen_as(wildcards.dataset)
        folder = self.folder_of_round("models", trained_on, wildcards.variant, wildcards.seed, wildcards.round)
        return f"{folder}/model.safetensors"

    def words(self, wildcards: Wildcards) -> str:
        """The vocabulary that it was trained with."""
        return f"{self.results}/{self.seen_as(wildcards.dataset)}/vocabulary/words.parquet"

    def windows(self, wildcards: Wildcards) -> str:
        """The features of windows that a variant reads. Raises `InputError` naming a variant that cannot."""
        entry = self.variant(wildcards)
        if len(entry.views) != 1 or not VIEWS[entry.views[0]].one_vector or list(entry.sentences) != ["words"]:
            raise InputError(
                f"localisation: {wildcards.variant} reads {', '.join(entry.views)} of images and "
                f"{', '.join(entry.sentences)} of sentences, but windows have one vector (view "
                f"{', '.join(name for name, view in VIEWS.items() if view.one_vector)}) and phrases have words alone. "
                "Ask for another variant, such as vse."
            )
        (view,) = entry.views
        networks = self.project.datasets[self.seen_as(wildcards.dataset)].networks
        network = {**networks, **entry.networks}[view]
        return f"{self.results}/{wildcards.dataset}/windows/{network}/{view}.parquet"

    def boxes(self, wildcards: Wildcards) -> str:
        """The true boxes of phrases or objects. Raises `InputError` where there are none."""
        if not self.dataset(wildcards).has_boxes:
            raise InputError(
                f"localisation: {wildcards.dataset} has no true boxes of phrases or objects; give some as "
                f"datasets.{wildcards.dataset}.boxes."
            )
        return f"{self.results}/{wildcards.dataset}/boxes.parquet"

    def chosen(self, wildcards: Wildcards) -> dict[str, Any]:
        """How many images there are, and their windows."""
        entry = self.dataset(wildcards).localisation
        return {"images": entry.images, "sides": entry.sides, "stride": entry.stride}

    def cells(self, wildcards: Wildcards) -> int:
        """The cells along each side of a heat map."""
        return self.dataset(wildcards).localisation.cells

    def heat_maps(self, wildcards: Wildcards) -> str:
        """The heat maps by the last round of a variant's first seed."""
        return f"{self.folder_of_round('localisation', wildcards.dataset, wildcards.variant)}/test.parquet"

    def title_of_table(self, wildcards: Wildcards) -> str:
        """The title of the table."""
        return f"Localisation of phrases: {self.title_of_maps(wildcards)}"

    def title_of_maps(self, wildcards: Wildcards) -> str:
        """By which model heat maps are, and of what."""
        by, title = self.variant(wildcards).title, self.title(wildcards)
        trained_on = self.seen_as(wildcards.dataset)
        origin = "" if trained_on == wildcards.dataset else f", trained on {self.project.datasets[trained_on].title}"
        return f"{by} ({wildcards.variant}{origin}) on {title}"

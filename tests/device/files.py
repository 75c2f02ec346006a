"""The files of a job on a data set in a folder, as the plan would name them."""

from pathlib import Path

from densevse.config.registries import STRUCTURES, VIEWS, feature_view
from densevse.data.files import Files


def files_of(folder: Path, views: list[str], structures: list[str], dependencies: str, word_vectors: bool) -> Files:
    """The files of a job that reads these views and structures."""

    def path(name: str) -> str:
        return str(folder / f"{name}.parquet")

    named: dict[str, str | list[str]] = {
        "image_table": path("images"),
        "caption_table": path("captions"),
        "words": path("words"),
        "tokens": path("tokens"),
    }
    for view in views:
        named[f"view_{view}"] = [path(_features_of(view))]
        if VIEWS[view].pixels:
            named |= {"source_images": str(folder / "pictures"), "network": str(folder / "network.safetensors")}
    for structure in (STRUCTURES[name] for name in structures):
        if structure.parsed:
            named["parses"] = [path("parses")]
        for name, file in structure.vocabularies.items():
            named[name] = path(file.format(dependencies="basic" if structure.basic else dependencies))
    if word_vectors:
        named["word_vectors"] = path("vectors")
    return Files(named)


def _features_of(view: str) -> str:
    """The file that a view is read from: one for all views of one vector, and one for all views of concepts."""
    declared = VIEWS[view]
    if declared.one_vector:
        return "whole"
    if declared.made_by != "network":
        return {"concept_network": "concepts", "generator": "generated"}[declared.made_by]
    return feature_view(view)

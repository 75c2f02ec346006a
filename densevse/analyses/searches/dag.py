"""Searches: what a person brings, what it is asked of, and where the answers are."""

import hashlib
import os

from densevse.analyses.searches.settings import Own, Search, folder_of_photographs, folder_of_sentences
from densevse.config.methods import Method
from densevse.dag.datasets import Datasets
from densevse.dag.inputs import Files
from densevse.dag.project import Stage, Wildcards, any_of
from densevse.dag.training import Training
from densevse.runtime.errors import InputError

OWN_SPLIT = "test"
"""The split of what a person brings: nothing is learned from it."""


class Searches(Stage):
    """The searches of config/searches."""

    def of_dataset(self, dataset: str) -> list[str]:
        """The pages of all searches of a data set that need no files of the user's."""
        entries = self.config.searches.items()
        names = [name for name, entry in entries if entry.dataset == dataset and entry.photographs is None]
        return [f"{self.results}/search/{name}.{kind}" for name in names for kind in ("md", "html")]

    def names(self) -> str:
        """Every search."""
        return any_of(self.config.searches)

    def entry(self, wildcards: Wildcards) -> Search:
        """A search's settings."""
        return self.config.searches[wildcards.search]

    def with_photographs(self) -> str:
        """The photographs that searches bring."""
        return any_of(name for name, entry in self._own().items() if entry.local)

    def with_sentences(self) -> str:
        """The sentences that searches bring."""
        return any_of(name for name, entry in self._own().items() if not entry.local)

    def photographs(self, wildcards: Wildcards) -> str:
        """The user's folder, zip or tar of photographs."""
        return self.dataset(wildcards).local["photographs"]

    def listing(self, wildcards: Wildcards) -> str:
        """A digest of which files a folder of photographs holds, with those inside its folders, and of their sizes."""
        digest = hashlib.sha256()
        for folder, folders, files in os.walk(self.photographs(wildcards)):
            folders.sort()
            for path in (os.path.join(folder, file) for file in sorted(files)):
                digest.update(f"{path}\0{os.path.getsize(path) if os.path.exists(path) else 0}\n".encode())
        return digest.hexdigest()[:16]

    def sentences(self, wildcards: Wildcards) -> list[str]:
        """The sentences that a search brings."""
        return self.config.searches[wildcards.dataset.removeprefix(folder_of_sentences(""))].sentences

    def inputs_of_images(self, wildcards: Wildcards) -> Files:
        """What a variant reads of a data set's images, or of photographs that a search brings."""
        training = Training(self.project)
        inputs = training.inputs_of_images(wildcards.dataset, wildcards.variant)
        if self.variant(wildcards).generator is None:
            return inputs
        if isinstance(self.dataset(wildcards), Own):
            raise InputError(
                f"searches: {wildcards.variant} reads sentences that a generator wrote about images, and none are "
                "written about photographs of yours; name another variant."
            )
        words = f"{self.results}/{wildcards.dataset}/vocabulary/words.parquet"
        return {**inputs, **training.written(wildcards, wildcards.variant), "words": words}

    def model(self, wildcards: Wildcards) -> str:
        """The trained model that encodes images."""
        run = (self.seen_as(wildcards.dataset), wildcards.variant, wildcards.seed, wildcards.round)
        return f"{self.folder_of_round('models', *run)}/model.safetensors"

    def code_of_encodings(self, wildcards: Wildcards) -> str:
        """The code that encodes images."""
        return self.project.code.digest(
            "analyses/searches/encode_images.py", *Training(self.project).modules(wildcards)
        )

    def images(self, wildcards: Wildcards) -> str:
        """The data set of the images that are asked or searched."""
        entry = self.entry(wildcards)
        return entry.dataset if entry.photographs is None else folder_of_photographs(entry)

    def image_table(self, wildcards: Wildcards) -> str:
        """Its image table."""
        return f"{self.results}/{self.images(wildcards)}/images.parquet"

    def sources(self, wildcards: Wildcards) -> dict[str, str]:
        """Its files."""
        return Datasets(self.project).sources_of(self.images(wildcards))

    def source_names(self, wildcards: Wildcards) -> list[str]:
        """Their names."""
        return list(self.sources(wildcards))

    def encodings(self, wildcards: Wildcards) -> str:
        """These images as the model encodes them."""
        entry = self.entry(wildcards)
        split = entry.split if entry.photographs is None else OWN_SPLIT
        folder = self.folder_of_round("encodings", self.images(wildcards), entry.variant, entry.seed)
        return f"{folder}/{split}.parquet"

    def inputs_of_sentences(self, wildcards: Wildcards) -> Files:
        """What the variant reads of the sentences that are asked or searched."""
        entry = self.entry(wildcards)
        dataset = folder_of_sentences(wildcards.search) if entry.sentences else entry.dataset
        return Training(self.project).inputs_of_sentences(dataset, entry.variant)

    def model_of_search(self, wildcards: Wildcards) -> str:
        """The trained model that is asked."""
        entry = self.entry(wildcards)
        return f"{self.folder_of_round('models', entry.dataset, entry.variant, entry.seed)}/model.safetensors"

    def code(self, wildcards: Wildcards) -> str:
        """The code of a search."""
        entry = self.entry(wildcards)
        modules = Training(self.project).modules_of(entry.variant, entry.dataset)
        return self.project.code.digest("analyses/searches/search.py", *modules)

    def threads_of_search(self, wildcards: Wildcards) -> int:
        """The threads of a search."""
        return self.config.datasets[self.entry(wildcards).dataset].threads or self.config.threads

    def split_of_sentences(self, wildcards: Wildcards) -> str:
        """The split of the sentences that are asked or searched."""
        entry = self.entry(wildcards)
        return OWN_SPLIT if entry.sentences else entry.split

    def asked(self, wildcards: Wildcards) -> str:
        """What the queries are: sentences or photographs."""
        return self.entry(wildcards).asked

    def top(self, wildcards: Wildcards) -> int:
        """How many answers a query has."""
        return self.entry(wildcards).top

    def shown(self, wildcards: Wildcards) -> int:
        """How many queries the pages show."""
        return self.entry(wildcards).shown

    def title_of_search(self, wildcards: Wildcards) -> str:
        """The title of a search's pages."""
        entry = self.entry(wildcards)
        dataset = self.config.datasets[entry.dataset].title
        if entry.asked == "sentences":
            searched = "your photographs" if entry.photographs else f"the {entry.split} images of {dataset}"
        else:
            searched = "your sentences" if entry.sentences else f"the {entry.split} sentences of {dataset}"
        return f"Your {entry.asked}, asked of {searched}, by {self._variant(entry).title} trained on {dataset}"

    def _own(self) -> dict[str, Own]:
        return {name: entry for name, entry in self.project.datasets.items() if isinstance(entry, Own)}

    def _variant(self, entry: Search) -> Method:
        return self.project.variant(entry.variant, entry.dataset)

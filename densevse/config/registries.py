"""Registries of what the configuration names: views of images, structures of sentences, yields and architectures.

A registry has the names of a kind, each with the facts that the plan needs. An entry of a table here has its
implementation elsewhere:

- view: densevse/vision/views/<name>.py makes the crops that a network reads, if features are extracted for it, and
  densevse/data/views/<opened_by>.py opens it for a method;
- structure: densevse/data/structures/<name>.py;
- yield: functions of `Method` (densevse/methods/interface.py). An analysis that shows it applies to the variants whose
  configuration lists its name;
- architecture: the module that it names. densevse/extensions/architectures says how to add one of your own;
- library, whose networks have the names `<library>:<network>`: the module that it names, with a function

      network(settings, weights) -> Network

  of the settings of a config/networks entry. A library with sentence encoders also has

      text_encoder(described, weights) -> nn.Module
      tokenizer(described) -> Tokenizer

  where `described` has the network's `architecture` and `options` and, if the library does not have it, the
  `tokenizer`: see
  densevse/vision/architectures/open_clip_networks.py.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pkgutil import iter_modules
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import AfterValidator, Field

from densevse.config import groups
from snakeproof import plugins
from snakeproof.errors import InputError
from snakeproof.strict import suggest_name

Registered = TypeVar("Registered")


class Registry(Mapping[str, Registered], Generic[Registered]):
    """The entries of one kind by name: those of a table, and those that modules and plug-ins define.

    `others` are further entries, which messages count and do not name. A module or plug-in is imported when its entry
    is first looked up. A name of two entries is refused then too, by an `InputError`.
    """

    def __init__(
        self,
        kind: str,
        table: Mapping[str, Registered] | None = None,
        others: Mapping[str, Registered] | None = None,
    ) -> None:
        self.kind, self._others = kind, others or {}
        self._entries = {**(table or {}), **self._others}
        self._places = dict.fromkeys(self._entries, "densevse")
        self._load: dict[str, Callable[[], Registered]] = {}

    def add(self, package: str, attribute: str = "DECLARED") -> None:
        """Adds an entry for each module of a package, by the module's name: the module's `attribute`.

        A module whose name begins with _ is no entry.
        """
        modules = [module.name for module in iter_modules(import_module(package).__path__) if not module.ispkg]
        for name in (name for name in modules if not name.startswith("_")):
            self._add(name, f"{package}.{name}", partial(_load_attribute, f"{package}.{name}", attribute))

    def add_plugins(self, group: str) -> None:
        """Adds the plug-ins of a group: what other installed packages declare."""
        for plugin in plugins.plugins(group):
            self._add(plugin.name, str(plugin), plugin.load)

    def _add(self, name: str, place: str, load: Callable[[], Registered]) -> None:
        if name in self._places:
            self._entries.pop(name, None)
            load = partial(_refuse, f"{place}: there is a {self.kind} {name!r} in {self._places[name]} already")
        self._places[name], self._load[name] = place, load

    def __getitem__(self, name: str) -> Registered:
        if name not in self._entries:
            self._entries[name] = self._load[name]()
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter((*self.listed_names, *self._others))

    def __len__(self) -> int:
        return len(self._places)

    @property
    def listed_names(self) -> list[str]:
        """The names that messages list, sorted."""
        return sorted(self._places.keys() - self._others.keys())

    def check(self, name: str) -> str:
        """Returns the name. Raises `ValueError` that lists the known names and suggests the most similar one."""
        if name not in self:
            more = f" and {len(self._others)} others" if self._others else ""
            raise ValueError(
                f"no {self.kind} {name!r}; known: {', '.join(self.listed_names)}{more}{suggest_name(name, self)}"
            )
        return name

    @property
    def enum(self) -> Any:
        """The names, for editors; with `check` it turns a text into a name of the configuration."""
        return Field(json_schema_extra={"enum": list(self)})


def _load_attribute(module: str, attribute: str) -> Any:
    return getattr(import_module(module), attribute)


def _refuse(message: str) -> Any:
    raise InputError(f"{message}; rename one of them, or remove it.")


@dataclass(frozen=True)
class ViewFacts:
    """A view of images: the facts that the plan needs."""

    opened_by: str = "vectors"
    """The module of densevse/data/views that opens the view for a method."""
    made_by: Literal["network", "concept_network", "generator"] = "network"
    extracted: bool = False
    """True if a network computes its features from the crops of densevse/vision/views/<name>.py."""
    one_vector: bool = False
    """True if it is one vector for an image, so that a window of the image can be read in the same way."""
    of_proposals: bool = False
    """True if it has a vector for each region chosen from the boxes of the data set's proposer."""
    features_of: str | None = None
    """Another view, from whose features it is opened."""
    pixels: bool = False
    """True if it is opened from the image files, for a network that is trained with the method."""


VIEWS: Registry[ViewFacts] = Registry(
    "view",
    {
        # The central square of an image as one vector (VSE++).
        "centre": ViewFacts(extracted=True, one_vector=True),
        # The scores of concepts, of the best of an image's regions for each (SCO, section 3.2).
        "concepts": ViewFacts(made_by="concept_network"),
        # The scores of concepts, of the whole image alone.
        "concepts_whole": ViewFacts(made_by="concept_network"),
        # The pixels of regions (DeFrag, section 3.4).
        "crops": ViewFacts(opened_by="crops", features_of="regions", pixels=True),
        # The first sentence that a generator wrote about an image (SCO's context and sentence).
        "generated_captions": ViewFacts(opened_by="generated_captions", made_by="generator"),
        # The cells of a convolution (sm-LSTM).
        "grid": ViewFacts(extracted=True),
        # The regions of an image, the whole image first (DeFrag, HM-LSTM).
        "regions": ViewFacts(opened_by="regions", of_proposals=True),
        # The mean vector of ten crops of an image (SCO, section 4.2).
        "ten_crop": ViewFacts(extracted=True, one_vector=True),
        # The whole image as one vector.
        "whole": ViewFacts(extracted=True, one_vector=True),
    },
)
ViewName = Annotated[str, AfterValidator(VIEWS.check), VIEWS.enum]


def reads_one_vector(views: Collection[str]) -> bool:
    """True if these views of a method are one vector of the whole image, and nothing else."""
    return len(views) == 1 and all(view in VIEWS and VIEWS[view].one_vector for view in views)


def feature_view(view: str) -> str:
    """The view whose features and network a view uses: itself, or the one that its `features_of` names."""
    return VIEWS[view].features_of or view


@dataclass(frozen=True)
class StructureFacts:
    """A structure of sentences: the facts that the plan needs."""

    parsed: bool = True
    """True if it is read from parses."""
    vocabularies: Mapping[str, str] = field(default_factory=dict)
    """The job's input -> the file of vocabulary/, without .parquet; {dependencies} is replaced by their kind."""
    by_network: bool = False
    """True if the network of a method's views reads the sentence itself: its sentence encoder is not trained, and there
    is no vocabulary."""
    basic: bool = False
    """True if it needs basic dependencies, as enhanced ones are not trees."""


STRUCTURES: Registry[StructureFacts] = Registry(
    "structure of sentences",
    {
        # The dependency tree of a sentence (SDT-RNN).
        "dependencies": StructureFacts(vocabularies={"relations": "relations-{dependencies}"}, basic=True),
        # The words of a sentence with their part-of-speech tags (SC-NLM).
        "tags": StructureFacts(vocabularies={"tags": "tags"}),
        # The sentence itself, cut into tokens by the network that encodes it (CLIP).
        "text": StructureFacts(parsed=False, by_network=True),
        # The constituency tree of a sentence (HM-LSTM).
        "trees": StructureFacts(),
        # The dependency triplets of a sentence (DeFrag, section 3.1).
        "triplets": StructureFacts(vocabularies={"relations": "relations-{dependencies}"}),
        # The words of a sentence.
        "words": StructureFacts(parsed=False),
    },
)
StructureName = Annotated[str, AfterValidator(STRUCTURES.check), STRUCTURES.enum]


YIELDS: Registry[str] = Registry(
    "yield",
    {
        # Phrases and regions in one space (HM-LSTM, section 5.3).
        "phrases": "vectors of phrases and of regions",
        # Attention, drawn over images and sentences (sm-LSTM, figure 4).
        "saliency": "what it attends to in images and sentences",
    },
)
"""Results of a trained model besides scores, each with its description."""
YieldName = Annotated[str, AfterValidator(YIELDS.check), YIELDS.enum]


POOLED, PATCHES = "pooled", "patches"
"""The two layers that every library's networks have."""

LAYERS: Mapping[str, str] = {"whole": POOLED, "regions": POOLED, "grid": PATCHES}
"""View -> the layer that it reads. The library's own preprocessing crops images, so there are no other views."""


@dataclass(frozen=True)
class Library:
    """A library of networks: the facts that the plan needs."""

    implementation: str
    """The module of the implementation."""
    package: str
    """The package that must be installed."""
    extra: str | None = None
    """The extra that installs it; None if the workflow always has it."""
    has_text: bool = False
    """True if its networks encode sentences too."""
    by_folder: bool = False
    """True if `<library>:<folder>` names a folder of the user's, which has the weights and everything else."""


LIBRARIES: Registry[Library] = Registry(
    "library of networks",
    {
        # OpenCLIP (Ilharco et al., 2021): CLIP's networks, of images and of sentences.
        "open_clip": Library(
            "densevse.vision.architectures.open_clip_networks", "open_clip", extra="networks", has_text=True
        ),
        # Encoders of images and sentences in folders, of sentence-transformers or of transformers itself.
        "sentence_transformers": Library(
            "densevse.vision.architectures.sentence_transformers_networks",
            "sentence_transformers",
            extra="encoders",
            by_folder=True,
        ),
        # PyTorch Image Models (Wightman, 2019).
        "timm": Library("densevse.vision.architectures.timm_networks", "timm", extra="networks"),
        # Transformers, with torchvision's own preprocessing; its convolutional networks need no library's name.
        "torchvision": Library("densevse.vision.architectures.torchvision_networks", "torchvision"),
    },
)


def find_library(architecture: str) -> Library | None:
    """The library of an architecture; None for one of `ARCHITECTURES`."""
    name, colon, _ = architecture.partition(":")
    return LIBRARIES[name] if colon else None


@dataclass(frozen=True)
class Architecture:
    """An architecture: the facts that the plan needs."""

    layers: Mapping[str, str] = field(default_factory=dict)
    """The papers' names of layers -> torchvision's nodes, each after its ReLU."""
    implementation: str = "densevse.vision.architectures.torchvision_classifiers"
    finds_boxes: bool = False
    """True for a detector that needs no proposals."""


OTHERS = frozenset(
    """
    convnext_base convnext_large convnext_small convnext_tiny densenet121 densenet161 densenet169 densenet201
    efficientnet_b0 efficientnet_b1 efficientnet_b2 efficientnet_b3 efficientnet_b4 efficientnet_b5 efficientnet_b6
    efficientnet_b7 efficientnet_v2_l efficientnet_v2_m efficientnet_v2_s googlenet inception_v3 maxvit_t mnasnet0_5
    mnasnet0_75 mnasnet1_0 mnasnet1_3 mobilenet_v3_large mobilenet_v3_small regnet_x_16gf regnet_x_1_6gf regnet_x_32gf
    regnet_x_3_2gf regnet_x_400mf regnet_x_800mf regnet_x_8gf regnet_y_128gf regnet_y_16gf regnet_y_1_6gf
    regnet_y_32gf regnet_y_3_2gf regnet_y_400mf regnet_y_800mf regnet_y_8gf resnet101 resnet18 resnet34 resnet50
    resnext101_32x8d resnext101_64x4d resnext50_32x4d shufflenet_v2_x0_5 shufflenet_v2_x1_0 shufflenet_v2_x1_5
    shufflenet_v2_x2_0 squeezenet1_1 swin_b swin_s swin_t swin_v2_b swin_v2_s swin_v2_t vgg11 vgg11_bn vgg13 vgg13_bn
    vgg16_bn vgg19_bn vit_b_16 vit_b_32 vit_h_14 vit_l_16 vit_l_32 wide_resnet101_2 wide_resnet50_2
    """.split()  # noqa: SIM905 (shorter than so many quotation marks)
)
"""torchvision's other classifiers, whose layers have only the names of torchvision's nodes."""

_EFFICIENTNET_LITE = Architecture({"conv": "map", "pooled": "map"}, "densevse.vision.architectures.efficientnet_lite")

ARCHITECTURES: Registry[Architecture] = Registry(
    "architecture",
    {
        "alexnet": Architecture({"fc7": "classifier.5", "fc8": "classifier.6", "conv5": "features.11"}),
        # Ren et al., NIPS 2015.
        "faster_rcnn": Architecture(
            {"fc7": "roi_heads.box_head"}, "densevse.vision.architectures.faster_rcnn", finds_boxes=True
        ),
        "mobilenet_v2": Architecture({"conv": "features", "pooled": "features"}),
        # R-CNN's network for the 200 classes of ILSVRC13 (Girshick et al., CVPR 2014).
        "rcnn_ilsvrc13": Architecture(
            {"fc7": "classifier.relu7", "fc8": "classifier.fc_rcnn", "conv5": "features.relu5"},
            "densevse.vision.architectures.rcnn",
        ),
        "resnet152": Architecture({"conv5": "layer4", "pooled": "avgpool", "fc": "fc"}),
        # The small network of the data set scenes, trained by the workflow.
        "scenes_net": Architecture(
            {"fc7": "classifier.relu7", "fc8": "classifier.fc8", "conv4": "features", "pooled": "avgpool"},
            "densevse.scenes.network",
        ),
        "squeezenet1_0": Architecture({"conv": "features", "pooled": "features"}),
        # EfficientNet-Lite (Tan and Le, ICML 2019, with ReLU6 and without squeeze-and-excitation), by timm's names.
        "tf_efficientnet_lite0": _EFFICIENTNET_LITE,
        "tf_efficientnet_lite2": _EFFICIENTNET_LITE,
        "vgg16": Architecture({"fc7": "classifier.4", "fc8": "classifier.6", "conv5_3": "features.29"}),
        "vgg19": Architecture({"fc7": "classifier.4", "fc8": "classifier.6", "conv5_4": "features.35"}),
    },
    dict.fromkeys(sorted(OTHERS), Architecture()),
)
ARCHITECTURES.add("densevse.extensions.architectures")
ARCHITECTURES.add_plugins(groups.ARCHITECTURES)


WATCHERS: Registry[Any] = Registry("watcher")
"""Displays of a training while it runs; densevse/training/watchers says how to add one of your own."""
WATCHERS.add("densevse.training.watchers", "WATCHER")
WATCHERS.add_plugins(groups.WATCHERS)


def _check_architecture(name: str) -> str:
    library, colon, network = name.partition(":")
    if not colon:
        return ARCHITECTURES.check(name)
    LIBRARIES.check(library)
    if not network:
        raise ValueError(f"{name!r} names no network of {library}; write {library}:<network>")
    return name


_OF_LIBRARIES = {"pattern": f"^({'|'.join(LIBRARIES)}):.+$"}
ArchitectureName = Annotated[
    str,
    AfterValidator(_check_architecture),
    Field(json_schema_extra={"anyOf": [{"enum": list(ARCHITECTURES)}, _OF_LIBRARIES]}),
]
"""The name of an architecture, or `<library>:<name>`, which jobs check as they import the library."""

"""Backends of the role ``labels``: what a classifier calls a picture, and words for it.

A label is known by its own name and by its last word ("mountain tent" is a tent). Kinds that have
names of their own, as all breeds are dogs, are listed here: by single labels, or from one to
another in ImageNet's order.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import Image, register
from screentest.models import weights
from screentest.models.pictures import check_picture
from screentest.models.runtimes import LITERT, litert_model, versions

if TYPE_CHECKING:
    from numpy.typing import NDArray

LABELS = "mobilenet-v1"
SIDE = 224


class ImageNetLabels:
    """Which of ImageNet's thousand labels fit a picture, by MobileNet v1.

    A picture in, a probability for each label out.
    """

    def __init__(self, threads: int = 0) -> None:
        self._model = litert_model(weights.path(LABELS), wanted_threads=threads)
        self._using = threading.Lock()
        self._input = self._model.get_input_details()[0]["index"]
        self._output = self._model.get_output_details()[0]["index"]
        text = weights.path(LABELS, "mobilenet_v1_1.0_224.txt").read_text(encoding="utf-8")
        self.labels: list[str] = text.splitlines()
        """As the network numbers them; the first is "background", which no picture is given."""

    @property
    def identity(self) -> Mapping[str, str]:
        return {"labels": weights.digest(LABELS)}

    def probabilities(self, image: Image) -> NDArray[np.float32]:
        """One number per label; they add up to one."""
        import cv2

        small = cv2.resize(check_picture(image), (SIDE, SIDE), interpolation=cv2.INTER_AREA)
        scaled = small.astype(np.float32) / np.float32(127.5) - 1
        with self._using:
            self._model.set_tensor(self._input, scaled[None])
            self._model.invoke()
            found: NDArray[np.float32] = self._model.get_tensor(self._output)[0].copy()
        return found


@register(
    "labels",
    "mobilenet_v1",
    version=1,
    summary="MobileNet v1: ImageNet's thousand labels",
    packages=(LITERT,),
    ready=lambda: weights.available(LABELS),
    weights=(LABELS,),
    neutral=("threads",),
    get=f"screentest models pull {LABELS}",
)
def mobilenet_v1(*, threads: int = 0) -> MobileNetLabels:
    """A picture in, a probability for each label out."""
    return MobileNetLabels(threads)


class MobileNetLabels:
    """The thousand labels as a backend of their own."""

    def __init__(self, threads: int = 0) -> None:
        self._network = ImageNetLabels(threads)
        self.names = self._network.labels[1:]

    @property
    def identity(self) -> Mapping[str, str]:
        return {**self._network.identity, **versions(LITERT)}

    def probabilities(self, image: Image) -> NDArray[np.float32]:
        """One number for each name."""
        return self._network.probabilities(image)[1:]


SPANS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "fish": (("tench", "stingray"), ("barracouta", "puffer")),
    "shark": (("great white shark", "hammerhead"),),
    "bird": (
        ("cock", "great grey owl"),
        ("black grouse", "black swan"),
        ("white stork", "albatross"),
    ),
    "parrot": (("African grey", "lorikeet"),),
    "frog": (("bullfrog", "tailed frog"),),
    "turtle": (("loggerhead", "box turtle"),),
    "lizard": (("banded gecko", "Komodo dragon"),),
    "crocodile": (("African crocodile", "American alligator"),),
    "snake": (("thunder snake", "sidewinder"),),
    "spider": (("black and gold garden spider", "wolf spider"),),
    "crab": (("Dungeness crab", "king crab"),),
    "dog": (("Chihuahua", "Mexican hairless"),),
    "wolf": (("timber wolf", "coyote"),),
    "fox": (("red fox", "grey fox"),),
    "cat": (("tabby", "Egyptian cat"),),
    "leopard": (("leopard", "snow leopard"),),
    "bear": (("brown bear", "sloth bear"),),
    "beetle": (("tiger beetle", "weevil"),),
    "insect": (("tiger beetle", "lycaenid"),),
    "butterfly": (("admiral", "lycaenid"),),
    "rabbit": (("wood rabbit", "Angora"),),
    "pig": (("hog", "warthog"),),
    "sheep": (("ram", "bighorn"),),
    "antelope": (("hartebeest", "gazelle"),),
    "monkey": (("guenon", "squirrel monkey"),),
    "ape": (("orangutan", "siamang"),),
    "elephant": (("Indian elephant", "African elephant"),),
    "mushroom": (("agaric", "bolete"), ("mushroom", "mushroom")),
}
KINDS: Mapping[str, tuple[str, ...]] = {
    "chicken": ("cock", "hen"),
    "rooster": ("cock",),
    "eagle": ("bald eagle",),
    "owl": ("great grey owl",),
    "cockatoo": ("sulphur-crested cockatoo",),
    "duck": ("drake", "red-breasted merganser"),
    "swan": ("black swan",),
    "penguin": ("king penguin",),
    "kangaroo": ("wallaby",),
    "whale": ("grey whale", "killer whale"),
    "seal": ("sea lion",),
    "lobster": ("American lobster", "spiny lobster"),
    "horse": ("sorrel",),
    "cow": ("ox",),
    "bull": ("ox",),
    "buffalo": ("water buffalo", "bison"),
    "goat": ("ibex",),
    "camel": ("Arabian camel",),
    "panda": ("giant panda", "lesser panda"),
    "squirrel": ("fox squirrel",),
    "car": (
        *("beach wagon", "cab", "convertible", "jeep", "limousine", "minivan", "Model T"),
        *("racer", "sports car"),
    ),
    "taxi": ("cab",),
    "suv": ("jeep", "minivan"),
    "truck": ("fire engine", "garbage truck", "pickup", "tow truck", "trailer truck", "moving van"),
    "bus": ("minibus", "school bus", "trolleybus"),
    "boat": (
        *("canoe", "catamaran", "fireboat", "gondola", "lifeboat", "speedboat", "trimaran"),
        *("yawl", "schooner"),
    ),
    "ship": ("aircraft carrier", "container ship", "liner", "pirate", "schooner", "wreck"),
    "sailboat": ("catamaran", "trimaran", "yawl", "schooner"),
    "airplane": ("airliner", "warplane"),
    "plane": ("airliner", "warplane"),
    "train": (
        *("bullet train", "electric locomotive", "steam locomotive", "freight car"),
        "passenger car",
    ),
    "bicycle": ("mountain bike", "bicycle-built-for-two"),
    "bike": ("mountain bike", "bicycle-built-for-two"),
    "motorcycle": ("moped", "motor scooter"),
    "spaceship": ("space shuttle",),
    "rocket": ("missile", "space shuttle"),
    "lighthouse": ("beacon",),
    "bridge": ("steel arch bridge", "suspension bridge", "viaduct"),
    "mountain": ("alp", "volcano"),
    "beach": ("seashore", "sandbar"),
    "coast": ("seashore", "promontory"),
    "lake": ("lakeside",),
    "reef": ("coral reef",),
    "tower": ("beacon", "bell cote", "water tower"),
    "temple": ("stupa", "monastery"),
    "guitar": ("acoustic guitar", "electric guitar"),
    "piano": ("grand piano", "upright"),
    "saxophone": ("sax",),
    "trumpet": ("cornet",),
    "phone": ("cellular telephone", "dial telephone", "pay-phone"),
    "computer": ("desktop computer", "laptop", "notebook"),
    "laptop": ("laptop", "notebook"),
    "keyboard": ("computer keyboard", "typewriter keyboard"),
    "camera": ("Polaroid camera", "reflex camera"),
    "lamp": ("table lamp", "lampshade"),
    "clock": ("analog clock", "digital clock", "wall clock"),
    "bottle": ("beer bottle", "pop bottle", "water bottle", "wine bottle", "pill bottle"),
    "cup": ("cup", "coffee mug"),
    "mug": ("coffee mug",),
    "pan": ("frying pan", "wok"),
    "bowl": ("mixing bowl", "soup bowl"),
    "bread": ("French loaf", "bagel"),
    "burger": ("cheeseburger",),
    "soup": ("consomme", "soup bowl", "hot pot"),
    "apple": ("Granny Smith",),
    "flower": ("daisy", "yellow lady's slipper", "rapeseed"),
    "tent": ("mountain tent",),
    "hat": ("cowboy hat", "sombrero"),
    "helmet": ("crash helmet", "football helmet"),
    "shoe": ("running shoe", "Loafer", "clog"),
    "dress": ("gown",),
    "sofa": ("studio couch",),
    "couch": ("studio couch",),
    "chair": ("barber chair", "folding chair", "rocking chair", "throne"),
    "table": ("dining table", "desk"),
    "bookshelf": ("bookcase",),
    "curtain": ("shower curtain", "theater curtain"),
    "bench": ("park bench",),
    "tv": ("television",),
    "fridge": ("refrigerator",),
    "diver": ("scuba diver",),
    "shop": ("bakery", "bookshop", "grocery store", "confectionery", "toyshop"),
    "pumpkin": ("jack-o'-lantern",),
}
_AMBIGUOUS = frozenset(
    (
        *("bar", "boat", "box", "bug", "can", "cap", "car", "cart", "case", "center", "chest"),
        *("coat", "dish", "dog", "glass", "head", "house", "hound", "jacket", "kit", "mirror"),
        *("net", "oven", "pad", "paper", "pipe", "plane", "pole", "rack", "ray", "room"),
        *("screen", "sheet", "shop", "site", "skate", "slide", "stand", "station", "store"),
        *("tie", "top", "track", "tree", "van", "wheel", "work", "crane", "bow", "nail"),
        *("screw", "file", "scale", "mouse", "pitcher", "plate", "iron", "jean", "rule"),
        *("switch", "wing", "hook", "chain", "coil", "brass", "wool", "ear", "hip", "fly"),
        *("hen"),
    )
)
"""Last words that do not mean the thing: a "car mirror" is one, a "dial telephone" is no dial."""


def label_words(labels: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """For each word or name the numbers of the labels that it means.

    >>> words = label_words(["tabby", "tiger cat", "Egyptian cat", "mountain tent", "volcano"])
    >>> words["cat"], words["tent"], words["mountain"], words["volcano"]
    ((0, 1, 2), (3,), (4,), (4,))
    """
    place = {name: number for number, name in reversed(list(enumerate(labels)))}
    found: dict[str, tuple[int, ...]] = {}
    last: dict[str, list[int]] = {}
    for name, number in place.items():
        last.setdefault(name.casefold().split()[-1], []).append(number)
    for word, numbers in last.items():
        if word not in _AMBIGUOUS:
            found[word] = tuple(sorted(numbers))
    found |= {name.casefold(): (number,) for name, number in place.items() if " " in name}
    for word, names in KINDS.items():
        if known := tuple(sorted(place[name] for name in names if name in place)):
            found[word] = known
    for word, spans in SPANS.items():
        ends = [(place[one], place[two]) for one, two in spans if one in place and two in place]
        if ends:
            found[word] = tuple(n for one, two in ends for n in range(one, two + 1))
    return found

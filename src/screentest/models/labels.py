"""Words for the labels of a classifier: which of ImageNet's thousand a word means.

A label is known by its own name and by its last word ("mountain tent" is a tent). Kinds that have
names of their own, as all breeds are dogs, are listed here: by single labels, or from one to
another in ImageNet's order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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

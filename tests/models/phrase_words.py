"""Words for the matching of phrases to COCO's classes; the threshold was chosen on them."""

from __future__ import annotations

MEANT = {
    **dict.fromkeys(
        (
            *("woman", "man", "girl", "boy", "child", "people", "chef", "old man", "worker"),
            *("dancer", "soldier", "a young woman in a red dress"),
        ),
        "person",
    ),
    **dict.fromkeys(["puppy", "golden retriever"], "dog"),
    **dict.fromkeys(["kitten", "tabby"], "cat"),
    **dict.fromkeys(["parrot", "cockatoo", "eagle", "seagull"], "bird"),
    **dict.fromkeys(["plane", "jet"], "airplane"),
    **dict.fromkeys(["television", "monitor"], "tv"),
    **dict.fromkeys(["smartphone", "phone"], "cell phone"),
    **dict.fromkeys(["mug", "coffee cup"], "cup"),
    **dict.fromkeys(["vehicle", "sedan"], "car"),
    **dict.fromkeys(["ship", "sailboat", "canoe"], "boat"),
    **dict.fromkeys(["pony", "stallion"], "horse"),
    **dict.fromkeys(["bull", "calf"], "cow"),
    **dict.fromkeys(["lorry", "pickup"], "truck"),
    **dict.fromkeys(["armchair", "stool"], "chair"),
    "bike": "bicycle",
    "sofa": "couch",
    "motorbike": "motorcycle",
    "table": "dining table",
    "plant": "potted plant",
    "fridge": "refrigerator",
    "notebook computer": "laptop",
    "lamb": "sheep",
    "grizzly": "bear",
    "doughnut": "donut",
    "racket": "tennis racket",
    "rucksack": "backpack",
    "stove": "oven",
    "locomotive": "train",
    "toy bear": "teddy bear",
    "wristwatch": "clock",
}

NOT_MEANT = (
    *("tree", "sky", "mountain", "house", "river", "flower", "water", "road", "grass", "wall"),
    *("window", "sun", "moon", "door", "sand", "rock", "castle", "dragon", "robot", "spaceship"),
    *("candle", "smoke", "rain", "light", "music", "forest", "ocean", "beach", "city", "street"),
    *("shoe", "hat", "guitar", "squirrel", "rabbit", "butterfly", "fish", "tower", "bridge"),
    *("cloud", "field", "garden", "fire", "snow", "lamp", "curtain", "piano", "camera"),
    *("helicopter", "sword", "lantern", "valley", "temple", "kitchen", "room", "desert"),
    *("statue", "whale", "dinosaur"),
)

"""Texts in our own words, where a paper's own cannot ship; each story with the category it has."""

from __future__ import annotations

CATEGORIES = ("animals", "cooking", "nature", "people and everyday life", "science", "sport")
STORIES = (
    (
        "A fox leaves its den at dawn and trots along a frozen stream. It stops, listens, and "
        "leaps head first into the snow. At last it carries a vole back to its cubs, which tumble "
        "over each other to get at it.",
        "animals",
    ),
    (
        "A woman in a blue apron rolls out dough on a wooden table, cuts it into strips and "
        "drops them into boiling water. She lifts the noodles out with a ladle, and her son, who "
        "has been setting the table, tastes the first one and laughs.",
        "cooking",
    ),
    (
        "Two cyclists climb a mountain pass in the rain. Near the top the younger one falls "
        "behind; the other waits at a bend and hands him a bottle. Together they reach the summit, "
        "where the clouds open over a lake.",
        "sport",
    ),
    (
        "A heron stands in the reeds while mist drifts over the pond. It stabs at the water, "
        "swallows a small fish and shakes its neck. A dog barks somewhere, and the heron takes off "
        "with slow beats of its grey wings.",
        "animals",
    ),
    (
        "In a laboratory a chemist pours a clear liquid into a flask, and the mixture turns from "
        "yellow to deep blue. She writes down the temperature, dims the lamps and holds the flask "
        "up: it glows faintly in the dark.",
        "science",
    ),
    (
        "Rain falls on a dry riverbed. The first puddles join, a brown stream pushes branches "
        "aside, and by evening the whole valley is under water. In the morning green shoots stand "
        "along the banks.",
        "nature",
    ),
    (
        "A grandfather teaches his granddaughter to tie a knot on the porch. She fails twice, "
        "frowns, and gets it right the third time. They walk down to the jetty and make the "
        "little boat fast with her knot.",
        "people and everyday life",
    ),
    (
        "A goalkeeper kneels on the line, hits both posts with her gloves and waits. The striker "
        "runs up and shoots low to the left; the keeper dives and turns the ball round the post. "
        "Her team mates bury her under a heap of red shirts.",
        "sport",
    ),
    (
        "A cook slices onions on a steel counter and wipes his eyes with his sleeve. He tips them "
        "into a pan, adds butter, and stirs until they are brown. Then he ladles the soup into "
        "bowls and melts cheese over each with a torch.",
        "cooking",
    ),
    (
        "A glacier creaks in the sun. A block as high as a house breaks off, plunges into the bay "
        "and sends a wave across the floating ice. When the water is calm again, blue ice shines "
        "where the block was.",
        "nature",
    ),
    (
        "Two astronomers open the dome of an observatory at dusk. One turns the telescope towards "
        "Saturn while the other adjusts the camera. On the screen the rings appear, first blurred, "
        "then sharp, and they shake hands.",
        "science",
    ),
    (
        "A student wakes up late, pulls on two different socks and runs for the bus. She misses "
        "it, walks through the park instead, and meets an old friend on a bench. They share a "
        "pretzel and forget the time.",
        "people and everyday life",
    ),
)
EXPECTED = (
    (
        "emotional_response",
        "The viewer should feel tension before the leap and relief at the end.",
    ),
    ("visual_style", "The light is cold and blue at first and grows warm in the last scene."),
    ("narrative_flow", "Each scene follows from the one before, and the ending answers the start."),
    ("character_development", "The girl begins unsure of herself and ends proud of her knot."),
    ("themes", "Patience is rewarded: what fails twice succeeds when it is done slowly."),
    ("interpretive_depth", "The flood destroys the valley and feeds it; neither view is right."),
    ("emotional_response", "The late morning should feel hectic, the park unhurried and warm."),
    ("visual_style", "Handheld, close to the player's hands, with the crowd out of focus."),
)
"""What a film is expected to do, by HERD's dimension."""
MATCHED: tuple[tuple[str, dict[str, object], tuple[bool, ...]], ...] = (
    (
        "A woman in a red coat walks along a beach at sunset. The camera follows her from "
        "behind. Warm light comes from the right, and the mood is calm.",
        {
            "global_attribute": {
                "subject_description": ["a woman in a red coat"],
                "background": ["a beach in the evening"],
                "lighting": {"lighting_direction": ["light from the left"]},
                "atmosphere": ["calm"],
            },
            "temporal_actions": [{"actions": ["she walks along the water"]}],
        },
        (True, True, False, True, True),
    ),
    (
        "A dog plays in a garden.",
        {
            "global_attribute": {
                "subject_description": ["a dog"],
                "background": ["a garden"],
            },
            "temporal_actions": [{"actions": ["a dog plays", "the dog swims in a lake"]}],
        },
        (True, True, True, False),
    ),
    (
        "Black-and-white footage of an empty station. A clock on the wall shows ten to four. "
        "The camera pans slowly from the clock to the tracks, where a train is coming in.",
        {
            "global_attribute": {
                "background": ["a railway station", "a clock on the wall"],
            },
            "temporal_actions": [{"actions": ["a train arrives", "a man boards the train"]}],
        },
        (True, True, True, False),
    ),
    (
        "In a bright kitchen a boy with curly hair cracks two eggs into a bowl and whisks them "
        "with a fork. Close-up, soft daylight from a window, cosy mood.",
        {
            "global_attribute": {
                "subject_description": ["a boy with curly hair"],
                "background": ["a dark kitchen"],
                "lighting": {"lighting_direction": ["daylight from a window"]},
                "atmosphere": ["cosy"],
            },
            "temporal_actions": [{"actions": ["he breaks eggs into a bowl", "he fries the eggs"]}],
        },
        (True, False, True, True, True, False),
    ),
)
"""A caption, a checklist, and of each entry, in their order, whether the caption has it."""

"""LoCoT2V-Bench as a suite: its dimensions, its aggregation, its construction, its analyses."""

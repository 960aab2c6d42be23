"""LoCoT2V-Bench as a suite: its dimensions, its aggregation, its construction, its analyses."""

HELP = """Prepare an evaluation with LoCoT2V-Bench, and analyse it.

\b
Examples:
  screentest suite locot2v items suite.json --videos out/ --model-name X
  screentest suite locot2v upper-bound pictures/
  screentest suite locot2v analyse scores/ --charts charts/
  screentest suite locot2v statistics suite.json
  screentest certify --suite locot2v --testbed testbed/ --chart matrix.svg
"""
COMMANDS = """
analyse commands:analyse Show standings and correlations of runs, and draw the paper's charts.
build       commands:build       Make a prompt suite from your own videos.
correct     commands:correct     Take over people's corrections of drafts, or of another stage.
items       commands:items       Write the manifest of one generator's videos for a prompt suite.
statistics commands:statistics Show number, length and complexity of prompts, by theme and category.
upper-bound commands:upper_bound Compute the upper bound of aesthetic quality from good pictures.
"""
"""Each row: name, module:function, first line of the docstring."""

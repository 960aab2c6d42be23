"""UniVBench as a suite: six tasks, their tables, what they cost, how far people agree."""

HELP = """Prepare UniVBench, count its costs, print its tables.

\b
Examples:
  screentest suite univ import UniVBench/ wan/ --task t2v --model wan \\
      --out wan.jsonl
  screentest score wan.jsonl --suite univ:task=t2v \\
      --model chat=openai:NAME
  screentest suite univ table scores/ --chart radar.svg
"""
COMMANDS = """
agree        agree_commands:agree      Compare a judge with people, and look for self-preference.
caption      commands:caption          Describe videos shot by shot, and write their scripts.
costs        commands:costs            Print the tokens and seconds that a case took.
distribution commands:distribution     Count what a corpus is made of, over all 21 sub-dimensions.
estimate     commands:estimate         Say what judging would take, before anything is asked.
import       commands:import_benchmark Write a manifest of one model's results at one task.
schema       commands:schema           Print the JSON Schema of a description.
table        commands:table            Print tasks and models by dimension, in per cent.
"""
"""Each row: name, module:function, first line of the docstring."""

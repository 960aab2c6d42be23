"""ETVA: a scene graph of the prompt, a yes/no question per node and edge, answered from frames."""

HELP = """Ask whether a video shows each piece of its prompt (ETVA).

\b
Examples:
  screentest suite etva questions prompts.txt --out questions.jsonl
  screentest score manifest.jsonl --model chat=openai:NAME \\
      --metrics etva:questions=questions.jsonl
  screentest suite etva replay scores/
"""
COMMANDS = """
answers   run_commands:answers Show every question of a run with its answer.
benchmark commands:benchmark   Show how questions are spread; draw smaller benchmarks.
by-item commands:by_item Write the questions of each video of a manifest, for the annotation app.
graph     commands:graph       Show one prompt's questions, or draw its scene graph.
people run_commands:people Compare a run with people's ratings and answers, and with other metrics.
questions commands:questions   Write questions for prompts, to edit and to use again.
replay    run_commands:replay  Score transcripts again, without a model.
"""
"""Each row: name, module:function, first line of the docstring."""

"""The 26 sub-dimensions of LoCoT2V-Bench, one file per paragraph of the paper.

Where the paper leaves a constant open, it is an option with a default of ours, so that it
stands in the signature; docs/locot2v.md lists them.
"""

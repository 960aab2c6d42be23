"""Inputs: which videos to evaluate, and what they were asked to be."""

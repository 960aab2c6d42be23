"""Answers without a chat model: what small embedded parts can see, and nothing else."""

from screentest.metrics.etva.builtin.answerer import BuiltinAnswerer

__all__ = ["BuiltinAnswerer"]

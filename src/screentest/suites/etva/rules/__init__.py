"""Questions by rules: nouns, attributes, counts, colours, places, actions, camera; no model."""

from screentest.suites.etva.rules.writer import rules_signature, write_by_rules

__all__ = ["rules_signature", "write_by_rules"]

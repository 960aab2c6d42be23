"""Measuring: items become records. No mean is taken here."""

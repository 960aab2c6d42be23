"""Testbeds: films harmed on purpose in one aspect, so that judges can be put to the test."""

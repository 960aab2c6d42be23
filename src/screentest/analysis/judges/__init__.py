"""Certificates: what testbeds say about an evaluator."""

"""Optical flow: where each pixel went."""

"""What stands in front."""

"""What single pictures look like, shot by shot."""

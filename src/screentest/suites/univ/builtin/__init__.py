"""What pixels alone can tell of a video: colours, light and how the camera moves."""

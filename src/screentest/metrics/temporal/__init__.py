"""What happens between frames and between shots."""

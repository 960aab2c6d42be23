"""The pages and what guards them."""

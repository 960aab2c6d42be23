"""How beautiful a picture is."""

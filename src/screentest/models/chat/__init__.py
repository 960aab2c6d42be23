"""Chat backends: text and pictures in order go in, text or an object of a schema comes out."""

"""The design language: read, translated into the net of one chapter, checked and drawn."""

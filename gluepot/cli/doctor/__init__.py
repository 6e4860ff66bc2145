"""`gluepot doctor`: what jobs need on this machine, what is there, and what to do about the rest."""

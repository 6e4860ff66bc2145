"""`gluepot checkpoint`: what a checkpoint says, what is wrong with it, and starting from somewhere else."""

"""The results of earlier evaluations."""

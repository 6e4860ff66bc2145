"""How many workers: our rule against others and a clairvoyant one, on a simulated stream."""

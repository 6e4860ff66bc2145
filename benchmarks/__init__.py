"""Side-by-side runs against peers: same topic, same run, results verified before a time counts."""

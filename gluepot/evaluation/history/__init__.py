"""What is kept of data quality: the results of evaluations, and rulesets."""

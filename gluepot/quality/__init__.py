"""Data quality: rulesets in DQDL, their evaluation, and what is known from earlier evaluations."""

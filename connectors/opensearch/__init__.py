"""Indexes of OpenSearch and Elasticsearch: sliced reads, and bulk writes that put each document under its id."""

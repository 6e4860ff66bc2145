"""Amazon Redshift: rows are staged as files in S3, loaded by COPY, and published by one transaction."""

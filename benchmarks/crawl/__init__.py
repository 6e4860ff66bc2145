"""What a crawl of very many files costs, and a crawl of one new folder."""

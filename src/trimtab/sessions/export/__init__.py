"""A session for others to read or use: as a page, as Markdown, as JSON lines of either vendor or of our own. No secret leaves."""

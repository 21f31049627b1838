"""Pages of the web, for a model that may read them: the address, the request, the text."""

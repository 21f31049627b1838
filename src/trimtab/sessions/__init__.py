"""Sessions of others: importers, and what is measured on them."""

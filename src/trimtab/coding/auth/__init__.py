"""What lets one in at a provider: where keys are found, how one logs in, and how tokens are renewed."""

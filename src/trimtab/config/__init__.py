"""Settings, keys and folders; the only code that reads the environment."""

"""Generated tasks: stories of work whose key points are known."""

"""The bench: arms side by side on the same stories, and what may be said about them."""

"""The engine in a program of somebody else: facades over plain vendor messages, the driver beneath them, and a log held in memory."""

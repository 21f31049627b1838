"""Settings of a folder: the layers read and laid over each other, what holds, changing it, and what is wrong."""

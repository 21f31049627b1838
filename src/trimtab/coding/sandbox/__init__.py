"""What a command may do to the machine, held by the operating system: a plan as data, and a backend for each platform."""

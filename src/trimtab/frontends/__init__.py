"""What people and programs use: each frontend shows the events of a session and decides nothing."""

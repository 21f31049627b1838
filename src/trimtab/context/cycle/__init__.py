"""What happens before a request when there may not be room: look, decide, ladder, floor, and the account of it. Loaded only when it has something to do."""

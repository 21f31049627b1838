"""The window as a value: what a fold over entries and edits shows, one slot a message, persistent, so that a fork or a step copies almost nothing."""

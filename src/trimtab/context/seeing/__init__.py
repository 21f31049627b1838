"""What policies see of a conversation: items with their tokens, age and later use, and the ledger of what hiding them has cost."""

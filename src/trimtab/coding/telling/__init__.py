"""What is told to a person, whatever frontend shows it: lines of text, harmless and not yet wrapped."""

"""Extensions of others, put into Trimtab's home: read from a file, a folder or a repository, shown, and kept with where they came from."""

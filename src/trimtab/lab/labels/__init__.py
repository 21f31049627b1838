"""Labels in hindsight: what a decision couldn't know, told by how the story went on."""

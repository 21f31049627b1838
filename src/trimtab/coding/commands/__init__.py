"""Commands of a talk, one a file, for every frontend: `/NAME words`. `registry.py` lists them."""

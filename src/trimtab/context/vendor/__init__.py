"""Message dicts of the large APIs, as programs that embed the engine keep them, to our messages and back.

    dict ──Remembered.decode──▶ Message … (the engine) … Message ──Remembered.encode──▶ dict

`formats.py` has the table of formats, `remembered.py` the door; nothing here does I/O or knows a provider.
"""

"""How many tokens something has. `Counter` counts, `Calibration` learns how wrong it is, `Meter` says how full the window is."""

"""What Trimtab costs, as ratios measured in one run: `make bench`."""

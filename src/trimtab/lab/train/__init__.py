"""Training: the only place that knows a training library (the extra `train`)."""

"""Policies: functions that look at an observation and propose actions. One a file."""

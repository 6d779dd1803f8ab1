"""Surveys that several tests use."""

SURVEY = """\
name = "browser"
question = "Which browser are you using?"
labels = ["chrome", "firefox", "safari", "edge", "other"]
[oracle]
name = "fhr"
epsilon = 3.0
"""

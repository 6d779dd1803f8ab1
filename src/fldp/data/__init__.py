"""The nouns of the flow: values, reports, tallies, estimates, and their post-processing."""

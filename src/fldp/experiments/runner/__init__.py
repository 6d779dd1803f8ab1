"""An experiment as data, run into a table."""

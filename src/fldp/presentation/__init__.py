"""What people look at: tables, CSV, JSON, plots, cards."""

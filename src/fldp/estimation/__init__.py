"""Planning and combining: expected errors, the planner, simulation, combined estimates."""

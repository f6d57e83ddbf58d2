"""From an experiment to its trajectories: schedules, recording, engines, tuning."""

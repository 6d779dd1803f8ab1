"""The paper, reproduced: evaluation, claims, figures, document."""

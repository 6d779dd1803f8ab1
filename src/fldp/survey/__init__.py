"""Surveys: reading them, their rules, and their versions."""

from fldp.survey.survey import Survey, SurveyError

__all__ = ["Survey", "SurveyError"]

"""Surveys: the file, its rules, and what a version is."""

from fldp.survey.survey import Survey, SurveyError

__all__ = ["Survey", "SurveyError"]

"""Oracles over strings: CMS, HCMS, RAPPOR."""

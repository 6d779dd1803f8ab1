"""READMEs for package indexes: an index cannot follow links into the repository, so their words stay without the links.

The build of the Python package calls ``IndexReadme`` (``pyproject.toml``); ``tools/release.py`` does the same for npm.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_FENCE = re.compile(r"^(```.*?^```\n?)", re.MULTILINE | re.DOTALL)
_PICTURE = re.compile(r"^!\[[^\]]*\]\((?!https://)[^)\s]+\)\n\n?", re.MULTILINE)
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https://)[^)\s]+\)")


def standalone(text: str) -> str:
    """Return a document without pictures of the repository, and with the words of links that lead into it alone."""
    parts = _FENCE.split(text)
    parts[::2] = [_LINK.sub(r"\1", _PICTURE.sub("", part)) for part in parts[::2]]
    return "".join(parts)


class IndexReadme(MetadataHookInterface):
    """Puts the README for an index into the metadata of the package."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the README to what pyproject.toml says."""
        text = (Path(self.root) / "README.md").read_text()
        metadata["readme"] = {"content-type": "text/markdown", "text": standalone(text)}

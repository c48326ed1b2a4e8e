"""A hook of MkDocs: links to files outside of docs go to the repository."""

import re
from pathlib import Path
from posixpath import dirname, join, normpath

_LINK = re.compile(r"(\]\()([^)#\s]+)")


def on_page_markdown(markdown: str, page, config, files) -> str:
    """The page with the links that leave docs as addresses in the repository. A file that is not there fails the build."""
    place = join("docs", dirname(page.file.src_uri))

    def absolute(link: re.Match) -> str:
        if re.match(r"[a-z]+:", link[2]):
            return link[0]
        path = normpath(join(place, link[2]))
        if path.startswith("docs/") and path != "docs/openapi.json":
            return link[0]
        if not (Path(config.config_file_path).parent / path).exists():
            raise SystemExit(f"{page.file.src_uri}: there is no {path}")
        return f"{link[1]}{config.repo_url.rstrip('/')}/blob/main/{path}"

    return _LINK.sub(absolute, markdown)

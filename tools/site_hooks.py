"""Hooks of mkdocs that turn the pages of docs/ into a site.

Pages link to sources of the repository, but the site does not have them. The hook replaces such a
link by its text, if the file exists. It keeps a link to a missing file, so the build of the site
fails on it. It drops the comments with commands for the tests.
"""
import pathlib
import re

LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
COMMENT = re.compile(r"^<!-- (?:run|file:).*-->\n", re.M)


def on_page_markdown(markdown, page, config, files):
    docs = pathlib.Path(config["docs_dir"]).resolve()
    folder = docs / pathlib.Path(page.file.src_uri).parent

    def outside(match):
        target = match[2]
        if re.match(r"[a-z]+:", target):
            return match[0]
        path = (folder / target).resolve()
        return match[1] if docs not in path.parents and path.exists() else match[0]

    return COMMENT.sub("", LINK.sub(outside, markdown))

"""Hooks of mkdocs: what the pages of docs/ need to be a site.

Pages link to sources of the repository, which the site does not have: such a link becomes its text
alone, if the file is there. A link to a file that is not there is left as it is, and the build of the
site fails on it. Comments that tell the tests what to run are dropped.
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

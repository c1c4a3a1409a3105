"""Hooks of mkdocs: what the pages of docs/ need to be a site.

Pages link to sources of the repository, which the site does not have: such a link becomes its text
alone, if the file is there. A link to a file that is not there is left as it is, and the build of the
site fails on it. Comments that tell the tests what to run are dropped. The page of decisions lists
them.
"""
import pathlib
import re

LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
LIST = "<!-- decisions -->"
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

    if LIST in markdown:
        markdown = markdown.replace(LIST, "\n".join(decisions(folder)))
    return COMMENT.sub("", LINK.sub(outside, markdown))


def decisions(folder):
    """A line with a link for each."""
    for path in sorted(folder.glob("[0-9]*.md")):
        title = path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
        yield f"* [{title}]({path.name})"

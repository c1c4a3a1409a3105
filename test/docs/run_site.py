"""Builds the site of docs/ and opens it in a browser: run_site.py VENV SITE_FOLDER.

Without the environment of `./ringlet.sh site`, from PyPI, the test is skipped with a message.
"""
import os
import pathlib
import subprocess
import sys

SKIPPED = 77
SOURCE = pathlib.Path(__file__).resolve().parents[2]

venv, site = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
python = venv / "bin" / "python"
found = python.exists() and subprocess.run(
    [python, "-c", "import material, mkdocs, selenium"], capture_output=True, check=False)
if not found or found.returncode != 0:
    print(f"NOT RUN site: {python} cannot import mkdocs-material and selenium: `./ringlet.sh site` "
          "makes that environment where PyPI can be reached.")
    sys.exit(SKIPPED)
environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
for command in ([python, "-m", "mkdocs", "build", "--strict", "--quiet", "--config-file",
                 SOURCE / "mkdocs.yml", "--site-dir", site],
                [python, SOURCE / "test" / "docs" / "site_test.py", site]):
    ended = subprocess.run(command, env=environment, check=False)
    if ended.returncode != 0:
        sys.exit(1)

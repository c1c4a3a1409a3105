#!/usr/bin/env bash
# release.sh RINGLET.SH WORK: `release` refuses a tree that is not ready, and tags one that is. The builds are replaced.
set -euo pipefail
source=$(dirname "$1")
rm -rf "$2" && mkdir -p "$2/tree/dist" && cd "$2/tree"
mkdir tools build
for name in CHANGELOG.md CMakeLists.txt; do cp "$source/$name" .; done
python3 - "$source" <<'END'
import pathlib, shutil, sys
source = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(source / "tools"))
import version
for name in {"docs/reference/support.md", *version.PLACES, *(each for _, each, _ in version.FACTS), "tools/version.py"}:
    pathlib.Path(name).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source / name, name)
END
printf '/dist/\n/build/\n__pycache__/\n' >.gitignore
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
version=$(python3 tools/version.py)
commit() { git add -A && git commit -q -m "$1"; }

heading() { printf '== %s\n' "$*"; }
usage() { echo usage; }
fail() { printf 'ringlet.sh: %s\n' "$*" >&2; exit 1; }
make_wheels() { rm -rf dist && mkdir dist && echo wheel >"dist/ringlet-$version-py3-none-any.whl"; }
make_packages() { mkdir -p build/packages && echo package >"build/packages/ringlet_${version}_all.deb"; }
. "$source/tools/release.sh"
list_contents() { echo '{}' >"$1"; }

refused() {
  local words=$1
  shift
  if (set -e; make_release "$@") >../output 2>&1; then echo "not refused: $words" >&2; exit 1; fi
  grep -qF -- "$words" ../output || { echo "'$words' is missing:" >&2; cat ../output >&2; exit 1; }
  [ -z "$(git tag)" ]
}

git init -q .
sed -i "s/^## $version .*/## $version (unreleased)/" CHANGELOG.md
commit 'first'
refused "Write the day of the release: ## $version (" --check
refused "Write the day of the release: ## $version ("
sed -i "s/^## $version .*/## $version (2026-01-02)/" CHANGELOG.md
refused 'the tree has changes'
sed -i 's/^__version__ = .*/__version__ = "9.8.7"/' python/ringlet/__init__.py
commit 'another version'
refused '__init__.py: the version is 9.8.7'
git checkout -q HEAD~ python && commit 'the version'

make_release --check >../output
[ -z "$(git tag)" ]
make_release >../output
[ "$(git cat-file -t "v$version")" = tag ]
git tag -l --format='%(contents)' "v$version" | grep -qF 'init_process_group("ringlet")'
(cd dist && sha256sum --quiet -c SHA256SUMS && [ "$(wc -l <SHA256SUMS)" = 3 ])
git tag -l | grep -qx "v$version"
if (set -e; make_release --check) >../output 2>&1; then echo 'a second release is not refused' >&2; exit 1; fi
grep -qF "v$version is tagged already" ../output

# ./ringlet.sh release: the artifacts of a version in dist/, and its tag. It sources this file.

# Fails unless this commit can become the version. Prints the version.
check_release() {
  local version heading
  version=$(python3 tools/version.py)
  [ -z "$(git status --porcelain)" ] || fail "the tree has changes: commit them, or remove them (git status)."
  python3 tools/version.py --check >&2 || fail 'the places above have another version than CMakeLists.txt.'
  heading=$(grep -m 1 '^## ' CHANGELOG.md)
  [[ $heading =~ ^"## $version ("[0-9]{4}-[0-9]{2}-[0-9]{2}")"$ ]] ||
    fail "CHANGELOG.md begins with '$heading'. Write the day of the release: ## $version ($(date +%F))."
  ! git rev-parse --quiet --verify "refs/tags/v$version" >/dev/null ||
    fail "v$version is tagged already. Raise the version in CMakeLists.txt and the places of tools/version.py."
  echo "$version"
}

# The section of this version in CHANGELOG.md without its heading, for the tag.
release_notes() { awk '/^## / { n++; next } n == 1 && (text || NF) { text = 1; print }' CHANGELOG.md; }

list_contents() {
  python3 tools/environments.py release || fail 'the list of contents needs cyclonedx-python-lib from PyPI.'
  build/release-venv/bin/python tools/sbom.py dist "$1" || fail 'the list of contents cannot be made; see above.'
}

make_release() {
  local version
  [ $# = 0 ] || [ "$*" = --check ] || { usage >&2; fail "release does not know $*"; }
  heading 'Tree, version and CHANGELOG.md'
  version=$(check_release) || exit
  echo "They are ready for version $version."
  [ $# = 0 ] || return 0
  RINGLET_WHEELS=${RINGLET_WHEELS:-x86_64 aarch64} make_wheels
  make_packages
  cp build/packages/*.deb dist/
  heading 'List of contents'
  list_contents "dist/ringlet-$version.cdx.json"
  (cd dist && rm -f SHA256SUMS && sha256sum -- * >SHA256SUMS)
  [ -z "$(git status --porcelain)" ] || fail 'the build changed files of the tree: git status lists them.'
  git tag --annotate "v$version" --cleanup=verbatim --message "Ringlet $version" --message "$(release_notes)"
  heading "Version $version is in dist/, and tagged. Nothing is pushed"
  (cd dist && ls -s -h)
  echo "git push origin v$version"
}

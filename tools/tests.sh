# What ./ringlet.sh test does. It sources this file.

build_preset() {
  local preset=$1 folder=$2
  heading "Building everything ($preset)"
  cmake --preset "$preset" --log-level=WARNING "-DRINGLET_WERROR=$(werror)" -DRINGLET_TESTS=ON \
    -DRINGLET_BENCHMARKS=ON || fail 'CMake failed; see above.'
  cmake --build "$folder" -j "$(jobs)" || fail "the build of preset $preset failed; see above."
}

# test_preset PRESET FOLDER LABEL...: tests a preset that is built, without these labels; counts in `passed`
# and `failed`. Many tests wait for most of their time: twice as many as cores run.
passed=0
failed=0
test_preset() {
  local preset=$1 folder=$2 filter=() log=$2/ringlet_test.log line total wrong
  shift 2
  heading "Testing ($preset)"
  [ $# = 0 ] || filter=(--label-exclude "^($(IFS='|'; echo "$*"))\$")
  if [ "$preset" = tsan ]; then export TSAN_OPTIONS='halt_on_error=1 second_deadlock_stack=1'; fi
  ctest --test-dir "$folder" -j "$(($(jobs) * 2))" --output-on-failure --no-tests=error "${filter[@]}" 2>&1 |
    tee "$log" || true
  # Not all that passes has run in whole: what did not, and why.
  grep -h '^NOT RUN' "$folder"/Testing/Temporary/LastTest.log | sort -u || true
  line=$(grep -E '^[0-9]+% tests passed, [0-9]+ tests? failed out of [0-9]+' "$log" | tail -n 1) ||
    fail "ctest ended without a result; see $log"
  total=${line##* }
  wrong=${line#*, }
  wrong=${wrong%% *}
  failed=$((failed + wrong))
  passed=$((passed + total - wrong))
}

# Runs each fuzzer for a moment from its corpus.
smoke_fuzzers() {
  local fuzzer
  heading 'Fuzzing'
  for fuzzer in build-fuzz/bin/*_fuzz; do
    if "$fuzzer" -max_total_time=20 -verbosity=0 >"$fuzzer.log" 2>&1; then
      passed=$((passed + 1))
    else
      echo "$fuzzer failed:" && tail -n 40 "$fuzzer.log"
      failed=$((failed + 1))
    fi
  done
}

run_tests() {
  local without=(long clients) presets=() packages=$large_test_packages
  local names='torch trainers watch prose site manifests'
  while [ $# -gt 0 ]; do
    case $1 in
      --quick) packages='' ;;
      --long) without=("${without[@]/long/}") ;;
      --clients) without=("${without[@]/clients/}"); names+=' clients servers more-trainers vllm' ;;
      --matrix) presets=(release dev clang asan tsan fuzz) ;;
      --preset) presets=("${2:-}"); shift ;;
      *) usage >&2; fail "test does not know $1" ;;
    esac
    shift
  done
  [ ${#presets[@]} != 0 ] || presets=(release)
  read -r -a without <<<"${without[*]}"
  need "$build_packages$test_packages$packages$torch_packages"  # includes the packages of the site
  command -v clang-format-14 >/dev/null || names+=' format'
  for preset in "${presets[@]}"; do
    case $preset in
      release)
        echo 'PyTorch and what makes the site are fetched beside the build.'
        # shellcheck disable=SC2086
        start_environments $names
        build_preset release build
        join_environments
        install_python_package || echo 'The tests of the PyTorch backend are not run.'
        test_preset release build "${without[@]}"
        ;;
      fuzz) build_preset fuzz build-fuzz; smoke_fuzzers ;;
      dev | clang | asan | tsan)
        build_preset "$preset" "build-$preset"
        test_preset "$preset" "build-$preset" "${without[@]}"
        ;;
      *) usage >&2; fail "test knows no preset '$preset'" ;;
    esac
  done
  printf '\n%d passed, %d failed\n' "$passed" "$failed"
  [ "$failed" = 0 ]
}

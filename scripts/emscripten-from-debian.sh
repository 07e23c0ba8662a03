#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Emscripten on Debian 12 and later, from Debian's own packages, unpacked into a private folder.
# The system is not touched and no root is needed.
#
#   scripts/emscripten-from-debian.sh [TARGET_DIR]     prints the path of TARGET_DIR/env.sh, to be sourced
#
# Debian 12 ships Emscripten 3.1.6, too old for us; a newer suite of the same mirror has a current one. Its
# programs need a newer C library, so they get that suite's loader and libraries by patchelf.
# Needs: apt-get, dpkg-deb, patchelf, python3, node, flock. About 110 MB are fetched and 550 MB unpacked.
#
# Two runs at once wait for each other (flock). A folder counts as finished only when it holds the file
# `version`, written last; anything else is a broken earlier run and is built anew.
set -euo pipefail

suite=${LAYERSTREAM_EMSCRIPTEN_SUITE:-forky}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
minimum=$(tr -d '[:space:]' < "$here/emscripten-min-version")
target=$(realpath -m "${1:-${XDG_CACHE_HOME:-$HOME/.cache}/layerstream/emscripten-$suite}")

say() { echo "emscripten: $*" >&2; }
fail() { echo "emscripten: error: $*" >&2; exit 1; }
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }
finished() { [ -f "$target/version" ] && [ -f "$target/env.sh" ] && at_least "$(cat "$target/version")" "$minimum"; }

for program in apt-get dpkg-deb patchelf python3 node flock; do
  command -v "$program" > /dev/null || fail "'$program' is missing; install it with: sudo apt-get install ${program/apt-get/apt}"
done

mkdir -p "$(dirname "$target")"
exec 9> "$target.lock"
flock -n 9 || { say "another run is preparing $target; waiting for it"; flock 9; }
if finished; then echo "$target/env.sh"; exit 0; fi

rm -rf "$target" "$target".part.*
work=$(mktemp -d "$target.part.XXXXXX")
trap 'rm -rf "$work"' EXIT

# --- a private apt state with one source: the newer suite on a mirror the machine already uses -------------
mkdir -p "$work"/apt/lists/partial "$work"/apt/cache/archives/partial "$work"/out/root
: > "$work/apt/status"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -f "$keyring" ] || fail "$keyring is missing; install it with: sudo apt-get install debian-archive-keyring"

private_apt() {
  apt-get -qq -o Dir::State::Lists="$work/apt/lists" -o Dir::State::status="$work/apt/status" \
    -o Dir::Cache="$work/apt/cache" -o Dir::Etc::sourcelist="$work/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null -o APT::Sandbox::User="$(id -un)" \
    -o APT::Update::Error-Mode=any -o Acquire::Retries=3 "$@"
}

# Every address in the machine's apt sources, in both file forms; `apt-get indextargets` would need fetched lists.
mirrors() {
  cat /etc/apt/sources.list.d/*.sources 2> /dev/null | awk 'tolower($1) == "uris:" { for (i = 2; i <= NF; i++) print $i }'
  cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2> /dev/null |
    awk '$1 == "deb" { sub(/\[[^]]*\]/, ""); print $2 }'
}

# A mirror that is a snapshot of some past day has an expired list. The signature is checked all the same, and what
# we take goes into a private folder, so an old list is accepted (and said), but only after the strict try failed.
update_lists() {
  private_apt update > "$work/apt/update.log" 2>&1 && return 0
  grep -qE 'is expired|is not valid yet' "$work/apt/update.log" || return 1
  say "the mirror's list of '$suite' is out of date; its signature is good, so it is used"
  private_apt -o Acquire::Check-Valid-Until=false -o Acquire::Check-Date=false update > "$work/apt/update.log" 2>&1
}

found=
for mirror in $(mirrors | awk '!seen[$0]++' | grep -v security || true); do
  echo "deb [signed-by=$keyring] $mirror $suite main" > "$work/apt/sources.list"
  if update_lists; then found=$mirror; break; fi
done
if [ -z "$found" ]; then
  cat "$work/apt/update.log" >&2 2> /dev/null || true
  fail "no package mirror in the machine's apt sources offers Debian '$suite' (see the messages above)"
fi

# --- what emscripten pulls in, less what the machine's own python, node and compiler provide ----------------
skip='^(python3.*|libpython3.*|nodejs|libnode.*|node-(undici|llhttp|balanced.*|brace.*|minimatch|ms|debug|lru.*|semver|corepack|xtend)|openssl.*|libssl.*|debconf|tzdata|media-types|netbase|ccache|binutils.*|libbinutils|libgprofng0|libctf.*|libsframe.*|libjansson4|libc6-dev|libc-dev-bin|linux-libc-dev|libstdc\+\+-.*-dev|libgcc-.*-dev|libobjc.*|libgc1|lib(asan|lsan|tsan|ubsan|hwasan|itm|quadmath|gomp|atomic).*|libsqlite.*|libreadline.*|readline-common|libncursesw6|libdb5.*|libbz2.*|libuuid1|libexpat1|libsimd.*|libada.*|libuv1.*|libcares2|libllhttp.*|libhdr.*)$'
private_apt install -s --no-install-recommends emscripten > "$work/apt/plan" || fail "Debian '$suite' has no installable emscripten package"
offered=$(awk '$1 == "Inst" && $2 == "emscripten" { gsub(/[(]/, "", $3); print $3 }' "$work/apt/plan")
at_least "${offered%%[~+-]*}" "$minimum" || fail "Debian '$suite' offers Emscripten $offered, but at least $minimum is needed"
packages=$(awk '$1 == "Inst" { print $2 }' "$work/apt/plan" | grep -vE "$skip")

say "fetching $(wc -w <<< "$packages") packages of Emscripten $offered"
(cd "$work/apt/cache/archives" && private_apt download $packages) || fail "the packages could not be fetched"
say "unpacking"
for package in "$work"/apt/cache/archives/*.deb; do dpkg-deb -x "$package" "$work/out/root"; done

# --- make it run here. Paths written below are the final ones; the files still lie in the work folder -------
root=$work/out/root final=$target/root
multiarch=$(basename "$(dirname "$(ls "$root"/usr/lib/*/libstdc++.so.6 | head -n 1)")")
llvm=$(basename "$(ls -d "$root"/usr/lib/llvm-* | sort -V | tail -n 1)")
libraries=$final/usr/lib/$multiarch:$final/usr/lib/$llvm/lib
loader=$(basename "$(ls "$root/usr/lib/$multiarch"/ld-linux*.so.* | head -n 1)")
say "patching the programs to use their own libraries"
for program in "$root/usr/lib/$llvm"/bin/* "$root"/usr/bin/wasm*; do
  [ -L "$program" ] && continue
  patchelf --print-interpreter "$program" > /dev/null 2>&1 || continue   # a script
  patchelf --set-interpreter "$final/usr/lib/$multiarch/$loader" --force-rpath --set-rpath "$libraries" "$program"
done
for library in "$root/usr/lib/$multiarch"/libLLVM.so.* "$root/usr/lib/$multiarch"/libclang-cpp.so.*; do
  [ -L "$library" ] || patchelf --force-rpath --set-rpath "$libraries" "$library"   # their RUNPATH hides the root's libxml2
done

# emscripten's optimizer imports acorn: copies, because links resolve outside node_modules.
mkdir -p "$root/usr/share/emscripten/node_modules"
for module in acorn acorn-import-phases; do
  [ ! -e "$root/usr/share/nodejs/$module" ] || cp -rL "$root/usr/share/nodejs/$module" "$root/usr/share/emscripten/node_modules/$module"
done

cat > "$work/out/config.py" <<CONFIG
import shutil
LLVM_ROOT = '$final/usr/lib/$llvm/bin'
BINARYEN_ROOT = '$final/usr'
NODE_JS = shutil.which('node')
EMSCRIPTEN_ROOT = '$final/usr/share/emscripten'
CACHE = '$target/cache'
CONFIG
printf 'export EM_CONFIG=%q\nexport EMSCRIPTEN_ROOT=%q\nexport PATH=%q:"$PATH"\n' \
  "$target/config.py" "$final/usr/share/emscripten" "$final/usr/share/emscripten" > "$work/out/env.sh"

chmod 755 "$work/out"
mv -T "$work/out" "$target"
version=$(. "$target/env.sh" && emcc --version 2> "$work/emcc.log" | sed -nE '1s/.* ([0-9]+\.[0-9]+\.[0-9]+).*/\1/p') || true
[ -n "$version" ] || { cat "$work/emcc.log" >&2; fail "the unpacked emcc does not run (see above)"; }
at_least "$version" "$minimum" || fail "Debian '$suite' gave Emscripten $version, but at least $minimum is needed"
echo "$version" > "$target/version.part"
mv "$target/version.part" "$target/version"
say "Emscripten $version is ready in $target"
echo "$target/env.sh"

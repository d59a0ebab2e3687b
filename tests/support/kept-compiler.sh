#!/bin/sh
# The C++ compiler, which compiles the same text once a machine: what it makes is kept in $KEPT by the digest of the
# preprocessed text, the flags, the processor and the compiler. The last two arguments are `-o` and the output.
set -e
[ "$1" = --version ] && exec c++ --version
for output; do :; done
left=$(($# - 2))
for argument; do
  shift
  [ $left -gt 0 ] && set -- "$@" "$argument"
  left=$((left - 1))
done
for source; do :; done
digest=$({
  c++ --version
  printf '%s\n' "$@" | grep -v /
  grep -m 1 -i '^\(flags\|features\)' /proc/cpuinfo || uname -a
  # Assertions have the path of their file.
  c++ -E -P "$@" | sed "s|$(dirname "$source")||g"
} | sha256sum | cut -c 1-16)
kept=$KEPT/addon-$digest
if [ ! -f "$kept" ]; then
  mkdir -p "$KEPT"
  c++ "$@" -o "$kept.$$"
  mv "$kept.$$" "$kept"
fi
cp "$kept" "$output"

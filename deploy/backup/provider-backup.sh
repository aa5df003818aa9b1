#!/bin/sh
# Copies a provider's workspace, its registry and its objects, for a disk that is lost: provider-backup.sh WORKSPACE NEW-FOLDER
# A server may run meanwhile: the registry is copied in one transaction, and the objects both before it and after it, since a bundle goes
# as soon as its share is decided. One that comes and goes in between is missing: `aggregator ingest --resume` names its share, and its
# hospital sends it again.
# Private keys are NOT copied: keep them apart, since who has both can open every share (docs/deployment.md).
# AGGREGATOR names the program where neither PATH has it, which sudo replaces, nor /opt/deid-commons.
set -eu
umask 077
if [ $# -ne 2 ] || [ ! -f "$1/aggregator.json" ] || [ -e "$2" ]; then
  echo "error: expected a workspace and a folder that is not there yet; see $0" >&2
  exit 2
fi
AGGREGATOR=${AGGREGATOR:-$(command -v aggregator || echo /opt/deid-commons/bin/aggregator)}
target=${2%/}
workspace=$1 made=$target.partial
places=$(python3 "$(dirname "$0")/places.py" "$workspace")
database=$(printf '%s\n' "$places" | sed -n 1p) objects=$(printf '%s\n' "$places" | sed -n 2p)
rm -rf "$made"
# Nobody takes half a backup for one.
trap 'rm -rf "$made"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
mkdir -p "$made/workspace"
# First the head of the log, then what holds at least that: a later restore is held against it. Keep it somewhere else too.
"$AGGREGATOR" audit-log verify --workspace "$workspace" --json > "$made/log-head.json"
copy_objects() {
  if [ -d "$workspace/$objects" ]; then
    mkdir -p "$made/objects"
    cp -au "$workspace/$objects/." "$made/objects/"
  fi
}
case $objects in
  s3://*) ;;
  # What goes while it is copied is no error here, and any other comes again.
  *) copy_objects 2> /dev/null || : ;;
esac
case $database in
  # The program takes these three; PostgreSQL's own do not know the last.
  postgres://* | postgresql://* | postgresql+psycopg://*)
    pg_dump --format=custom --no-owner --file="$made/registry.pgdump" "postgresql://${database#*://}" ;;
  *) python3 - "$workspace/$database" "$made/registry.sqlite" <<'PYTHON' ;;
import sqlite3
import sys
from pathlib import Path

source, copy = sqlite3.connect(f"{Path(sys.argv[1]).absolute().as_uri()}?mode=ro", uri=True), sqlite3.connect(sys.argv[2])
with copy:
    source.backup(copy)
copy.execute("PRAGMA journal_mode=DELETE")
copy.close()
source.close()
PYTHON
esac
case $objects in
  s3://*) echo "objects: in $objects; copy the bucket by its own means, before this and after it" ;;
  *) copy_objects ;;
esac
# There is no folder before the first share. Where shares that need theirs are known, it is lost, or not mounted.
if [ "${objects#s3://}" = "$objects" ] && [ ! -d "$made/objects" ]; then
  "$AGGREGATOR" shares list --state received --state quarantined --state accepted --workspace "$workspace" --json > "$made/shares.json"
  if ! python3 -c 'import json, sys; sys.exit(bool(json.load(open(sys.argv[1])).get("shares")))' "$made/shares.json"; then
    echo "error: $workspace/$objects: expected the objects of the shares in the registry, found no folder; mount it or correct objects in aggregator.json" >&2
    exit 8
  fi
  rm "$made/shares.json"
fi
for name in aggregator.json embeddings language-model representer head audit releases proposal.json; do
  if [ -e "$workspace/$name" ]; then cp -a "$workspace/$name" "$made/workspace/"; fi
done
sums=$(cd "$made" && find . -type f -print0 | sort -z | xargs -0 sha256sum)
printf '%s\n' "$sums" > "$made/SHA256SUMS"
sync -f "$made"
mv "$made" "$target"
echo "backup in $target"
cat "$target/log-head.json"

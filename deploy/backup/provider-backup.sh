#!/bin/sh
# Copies a provider's workspace, its registry and its objects, for a disk that is lost: provider-backup.sh WORKSPACE NEW-FOLDER
# A server may run meanwhile: the registry is copied in one transaction, and the objects both before it and after it, since a bundle goes
# as soon as its share is decided. One that comes and goes in between is missing: `aggregator ingest --resume` names its share, and its
# hospital sends it again.
# Private keys are NOT copied: keep them apart, since who has both can open every share (docs/deployment.md).
set -eu
umask 077
if [ $# -ne 2 ] || [ ! -f "$1/aggregator.json" ] || [ -e "$2" ]; then
  echo "error: expected a workspace and a folder that is not there yet; see $0" >&2
  exit 2
fi
workspace=$1 made=$2.partial
rm -rf "$made"
mkdir -p "$made/workspace"
setting() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$workspace/aggregator.json" "$1"; }
# First the head of the log, then what holds at least that: a later restore is held against it. Keep it somewhere else too.
aggregator audit-log verify --workspace "$workspace" --json > "$made/log-head.json"
database=$(setting database) objects=$(setting objects)
copy_objects() {
  # There is none before the first share.
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

source, copy = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True), sqlite3.connect(sys.argv[2])
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
for name in aggregator.json embeddings representer head audit releases proposal.json; do
  if [ -e "$workspace/$name" ]; then cp -a "$workspace/$name" "$made/workspace/"; fi
done
sums=$(cd "$made" && find . -type f -print0 | sort -z | xargs -0 sha256sum)
printf '%s\n' "$sums" > "$made/SHA256SUMS"
sync -f "$made"
mv "$made" "$2"
echo "backup in $2"
cat "$2/log-head.json"

#!/bin/sh
# Lays a backup down as a new workspace: provider-restore.sh BACKUP KEYS NEW-WORKSPACE KNOWN-HEAD
# KNOWN-HEAD is the newest head of the log that anybody has kept: of a receipt, of `audit-log verify`, of the last backup; "none" if there is none.
# A backup that is older than that head is refused: what came since is missing, numbers of shares and releases would be given out twice.
# Run it as the user of the server: of what root lays down, that one could open neither the registry nor the keys.
# Registry and objects come to lie where aggregator.json says. AGGREGATOR names the program, as for provider-backup.sh.
# RESTORE_ALTHOUGH_OLDER=yes lays it down all the same, and says what must not be done with it.
set -eu
umask 077
if [ $# -ne 4 ] || [ ! -f "$1/SHA256SUMS" ] || [ ! -d "$2" ] || [ -e "$3" ]; then
  echo "error: expected a backup, a folder of keys, a folder that is not there yet, and a head of the log or none; see $0" >&2
  exit 2
fi
AGGREGATOR=${AGGREGATOR:-$(command -v aggregator || echo /opt/deid-commons/bin/aggregator)}
target=${3%/}
backup=$1 keys=$2 known=$4 made=$target.partial
(cd "$backup" && sha256sum --check --quiet --strict SHA256SUMS) || { echo "error: $backup: expected the bytes that were written, got others; take another backup" >&2; exit 13; }
places=$(python3 "$(dirname "$0")/places.py" "$backup/workspace")
database=$(printf '%s\n' "$places" | sed -n 1p) objects=$(printf '%s\n' "$places" | sed -n 2p)
rm -rf "$made"
# Keys lie in it.
trap 'rm -rf "$made"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
cp -a "$backup/workspace" "$made"
cp -a "$keys" "$made/keys"
if [ -d "$backup/objects" ]; then
  mkdir -p "$made/$objects"
  cp -a "$backup/objects/." "$made/$objects/"
fi
filled=no
if [ -f "$backup/registry.pgdump" ]; then
  if [ "$known" != none ] && [ "${RESTORE_ALTHOUGH_OLDER:-no}" != yes ]; then
    # Before a byte of it is in the database: what is refused afterwards would have to be taken out again. Every event names its hash, and the one before.
    pg_restore --data-only --table=events --file="$made/events" "$backup/registry.pgdump"
    if ! KNOWN=$known awk -F '\t' '{ for (at = 1; at <= NF; at++) if ($at == ENVIRON["KNOWN"]) found = 1 } END { exit !found }' "$made/events"; then
      echo "this backup is older than the head that you know: numbers would be given out twice; nothing was written into the database" >&2
      exit 21
    fi
    rm "$made/events"
  fi
  # The database must be there and empty: nothing of another is written over.
  pg_restore --exit-on-error --single-transaction --no-owner --dbname="postgresql://${database#*://}" "$backup/registry.pgdump"
  filled=yes
else
  mkdir -p "$(dirname "$made/$database")"
  cp -a "$backup/registry.sqlite" "$made/$database"
fi
code=0
if [ "$known" = none ]; then
  "$AGGREGATOR" audit-log verify --workspace "$made" || code=$?
else
  "$AGGREGATOR" audit-log verify --workspace "$made" --known "$known" || code=$?
fi
if [ "$code" -eq 21 ]; then
  echo "this backup is older than the head that you know, or its log was changed: numbers would be given out twice" >&2
fi
if [ "$code" -eq 21 ] && [ "${RESTORE_ALTHOUGH_OLDER:-no}" = yes ]; then
  echo "laid down all the same: publish nothing before releases/ is brought up to date from a mirror or a hospital, and ask every hospital to submit again what came since" >&2
elif [ "$code" -ne 0 ]; then
  if [ "$filled" = yes ]; then
    echo "the database holds the registry of this backup now, and no workspace uses it: make it empty again before the next try" >&2
  fi
  exit "$code"
fi
if [ ! -f "$made/keys/overlap.key" ]; then
  echo "warning: $keys: expected overlap.key among the keys, found none; no share is taken in where any came before, until it is copied into $target/keys" >&2
fi
echo "note: a share that was withdrawn after this backup was made counts again: withdraw it once more" >&2
mv "$made" "$target"
echo "workspace in $target; next: aggregator status, then aggregator ingest --resume"

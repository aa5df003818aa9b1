# What a person does with eyes and a telephone.

# Nothing goes on where a walk has stumbled.
trap 'kill $(jobs -p) 2> /dev/null || true' EXIT
# The fingerprint that a command printed.
typed() { grep -oE '([0-9a-f]{4}-){7}[0-9a-f]{4}' "$1" | head -1; }
# The release code that another hospital reads out.
read_out() { grep -oE '([a-z]{5}-){7}[a-z]{5}' "$1" | head -1; }
# The digest of a share, by its site and number, from the list.
digest_of() { aggregator shares list --json | python -c 'import json, sys; print(next(one["digest"] for one in json.load(sys.stdin)["shares"] if [one["site"], str(one["sequence"])] == sys.argv[1:]))' "$@"; }
# The head that a round proposes.
proposed() { grep -oE 'release --head [0-9a-f]{12}' "$1" | cut -d ' ' -f 3; }
# The digest of the fragments that were shown.
shown() { grep -oE 'digest [0-9a-f]{16}' "$1" | cut -d ' ' -f 2; }
# The adapted head whose gain was shown; nothing where it is not kept.
gains() { grep -oE 'adapt --use [0-9a-f]{16}' "$1" | cut -d ' ' -f 3; }
# Until the server answers; a second argument is its certificate where the walk made that itself.
answers() { python - "$1" "${2:-$TLS/ca.pem}" <<'PYTHON'
import ssl, sys, time, urllib.request
context = ssl.create_default_context(cafile=sys.argv[2])
for _ in range(240):
    try:
        urllib.request.urlopen(sys.argv[1], context=context)
        break
    except OSError:
        time.sleep(0.25)
else:
    sys.exit("the server does not answer")
PYTHON
}
# Two tables that differ in nothing but the texts of one column.
same_rows() { python - "$1" "$2" <<'PYTHON'
import csv, sys
before, after = (list(csv.DictReader(open(path, encoding="utf-8", newline=""))) for path in sys.argv[1:])
assert [{**row, "note": ""} for row in before] == [{**row, "note": ""} for row in after]
assert all(one["note"] != other["note"] for one, other in zip(before, after))
print(len(after), "rows, every other column as it was")
PYTHON
}
# Whoever opens the address of a review and says of every note that its labels are complete.
finishes_all() { python - "$1" <<'PYTHON'
import re, sys, time, httpx
for _ in range(240):
    found = re.search(r"open (http\S+)/#(\S+)", open(sys.argv[1], encoding="utf-8").read())
    if found:
        break
    time.sleep(0.25)
client = httpx.Client(base_url=found[1], timeout=60)
client.headers["x-review-key"] = client.post("/api/session", json={"token": found[2]}).json()["key"]
numbers = [row["number"] for row in client.get("/api/notes").json()["notes"]]
for number in numbers:
    while (note := client.get(f"/api/notes/{number}").json())["waiting"]:
        time.sleep(0.1)
    client.post(f"/api/notes/{number}/finish", json={"version": note["version"]}).raise_for_status()
print(len(numbers), "notes finished")
PYTHON
}
# A program that sends the local service a note.
hides() { python - "$1" <<'PYTHON'
import re, sys, time, httpx
for _ in range(240):
    found = re.search(r"serving (\S+); .* in (\S+)", open(sys.argv[1], encoding="utf-8").read())
    if found:
        break
    time.sleep(0.25)
headers = {"authorization": "Bearer " + open(found[2]).read().strip()}
notes = [{"id": "1", "text": "Seen on 03/04/2019, call 555-123-4567."}]
answer = httpx.post(found[1] + "/v1/batch", json={"notes": notes}, headers=headers, timeout=60).json()
assert answer["failed"] == 0 and "555-123-4567" not in answer["notes"][0]["text"]
print(answer["notes"][0]["text"])
PYTHON
}
# A command that must fail, with one line.
fails() {
  local code=0
  "$@" > /dev/null 2> told || code=$?
  cat told
  test $code -ne 0 && test "$(wc -l < told)" -eq 1
}

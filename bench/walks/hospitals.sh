# A provider and two hospitals, over HTTPS with an authority of their own.

# The provider makes a workspace, and moves its offline keys to sticks.
aggregator init provider --scheme i2b2_2014 | tee provider.txt
cd provider
aggregator keys export-offline ../stick-1 --holder 1
aggregator keys export-offline ../stick-2 --holder 2
aggregator keys export-offline ../stick-3 --holder 3
sticks="--offline-keys ../stick-1 --offline-keys ../stick-2"
aggregator keys list
# It makes a representer of public notes, attacks it, and publishes it.
aggregator train-embeddings "$NOTES/public.jsonl"
aggregator train-lm "$NOTES/public.jsonl" --epochs 1
aggregator train-repr --corpus "$NOTES/public.jsonl" --cluster-size 100 --preset quick
aggregator audit --corpus "$NOTES/public.jsonl"
aggregator publish $sticks
cd ..

# Two hospitals join: each reads its fingerprint to the provider by telephone, and the provider that of its releases.
site-client init st-anne --site st-anne
site-client init st-bede --site st-bede
site-client enrol --workspace st-anne --out st-anne.request.json --contact "Ward office, extension 12" | tee st-anne.txt
site-client enrol --workspace st-bede --out st-bede.request.json | tee st-bede.txt
aggregator site add st-anne.request.json --fingerprint "$(typed st-anne.txt)" --workspace provider
aggregator site add st-bede.request.json --fingerprint "$(typed st-bede.txt)" --workspace provider
aggregator site list --workspace provider
# A quick audit and clusters of a hundred words will do for generated notes, and for no others.
site-client policy set --demonstration --audit quick --workspace st-anne
site-client policy set --demonstration --audit quick --workspace st-bede
site-client policy show --workspace st-anne

# The provider serves.
aggregator announce --server "$SERVER" $(echo $sticks | sed 's#\.\./##g') --workspace provider
printf 'five words nobody puts together' > password
chmod 400 password
aggregator account add anna --role operator --password-file password --workspace provider
aggregator account add eva@example.org --through-proxy --workspace provider
aggregator account role anna approver --workspace provider
aggregator account password anna --password-file password --workspace provider
aggregator account remove eva@example.org --workspace provider
aggregator account list --workspace provider
aggregator serve --certificate "$TLS/chain.pem" --key "$TLS/key.pem" --port "$PORT" --address "$SERVER" --dashboard 127.0.0.1:0 --workspace provider 2> server.log &
served=$!
answers "$SERVER/releases/metadata/timestamp.json"

# St Anne pulls, looks for what nobody labelled, encodes, looks at what leaves, and submits.
cd st-anne
site-client pull "$SERVER/releases" --ca "$TLS/ca.pem" --fingerprint "$(typed ../provider.txt)"
printf 'name;count\nVan der Meulen;12\nOyelaran;7\n' > surnames.csv
printf 'Kilburn Terrace\nRue de la Paix\n' > streets.txt
site-client lists --people surnames.csv --streets streets.txt
site-client lists --remove streets
site-client check "$NOTES/st-anne.jsonl" --least 0.9 --out to-look-at.json
site-client check "$NOTES/st-anne.jsonl" --corrected corrected.jsonl > /dev/null
site-client encode "$NOTES/st-anne.jsonl" --out share.parquet
site-client inspect share.parquet --notes "$NOTES/st-anne.jsonl" --page share.html
site-client submit share.parquet --approver "A. Weiss" --ca "$TLS/ca.pem"
site-client keys show
site-client ledger show
site-client ledger verify
# It compares what it was shown with the other hospital, by file and by telephone.
site-client log export ../st-anne.checkpoint
site-client release-code | tee ../st-anne.code
cd ../st-bede
site-client pull "$SERVER/releases" --ca "$TLS/ca.pem" --fingerprint "$(typed ../provider.txt)"
site-client log compare ../st-anne.checkpoint
site-client release-code --compare "$(read_out ../st-anne.code)"

# St Bede sends its share on a stick, and gets its receipt so. Its own labels are mapped by a file.
site-client labels "$NOTES/st-bede.jsonl" --out our-labels.toml
site-client encode "$NOTES/st-bede.jsonl" --labels our-labels.toml --quarantine set-aside --out share.h5
site-client submit share.h5 --approver "B. Rossi" --to-folder ../stick
cd ..
aggregator ingest stick --workspace provider
site-client receipts stick --workspace st-bede
# Notes that the other hospital has shared, too, wait in quarantine, for a person at the provider.
site-client encode "$NOTES/st-anne.jsonl" --out st-bede/other.h5 --workspace st-bede
site-client submit st-bede/other.h5 --approver "B. Rossi" --to-folder stick --workspace st-bede
site-client encode "$NOTES/st-bede.jsonl" --out st-anne/other.parquet --workspace st-anne
site-client submit st-anne/other.parquet --approver "A. Weiss" --to-folder stick --workspace st-anne
aggregator ingest stick --workspace provider

# The provider looks at what it got, trains the head, and releases the pipeline.
cd provider
aggregator shares list
aggregator shares list --state quarantined
aggregator shares show "$(digest_of st-anne 1)"
aggregator shares accept "$(digest_of st-anne 2)" --name "D. Engel" --reason "the same patients"
aggregator shares reject "$(digest_of st-bede 2)" --name "D. Engel" --reason "the same patients once more"
aggregator alarms list
aggregator status
# Training together over a connection needs Flower, which is not here; what comes before it is.
site-client policy set --federated-rounds 40 --federated-on-shares --workspace ../st-anne
site-client federate --node-key ../st-anne.pub --workspace ../st-anne
aggregator federate --simulate --epochs 2 --influence none --no-operating-points --page rounds.html
aggregator train-head --epochs 1 --influence none --no-operating-points
# The round of every month: what came is taken in, the head trained, the gates are asked; it ends with what the approver types.
aggregator refresh ../stick --epochs 3 --influence none | tee round.txt
aggregator release --head "$(proposed round.txt)" $sticks
aggregator audit-log show --last 3
aggregator audit-log verify
aggregator renew
cd ..

# Both take it into use. What they find is measured on labelled notes.
cd st-anne
site-client pull --ca "$TLS/ca.pem"
site-client deid "$NOTES/new" --out safe
site-client deid "$NOTES/st-bede.jsonl" --ignore-labels --mode tag --out tagged
site-client evaluate "$NOTES/st-bede.jsonl" --page acceptance.html
# It adapts the head to corrected notes of its own, sees what that gains, and decides; then it goes back. A head that is worse is not kept.
site-client adapt "$NOTES/st-bede.jsonl" | tee adapted.txt
if site-client adapt --use "$(gains adapted.txt)" --approver "A. Weiss"; then
site-client deid "$NOTES/new" --out adapted-safe
site-client adapt --undo --approver "A. Weiss"
fi
# Phrases that many notes have may leave as text, where the policy lets them and a person approves. A pipeline of so few notes
# takes much for PHI: at times too few phrases are left, and it says so.
site-client policy set --text-fragments
if site-client fragment "$NOTES/many.jsonl" --out phrases.fragments; then
site-client inspect phrases.fragments --page phrases.html | tee phrases.txt
site-client approve-fragments phrases.fragments --approver "A. Weiss" --digest "$(shown phrases.txt)"
fi
# Two people review what it finds, on a page of this machine; here the pages are opened, and everything is finished unseen.
reviewed() { site-client review "$NOTES/new" --project "$1" > "$1.txt" & page=$!; finishes_all "$1.txt"; kill -INT $page; wait $page; tail -1 "$1.txt"; }
reviewed first-reader
reviewed second-reader
site-client review --compare first-reader second-reader
site-client review --project second-reader --export labelled.jsonl
# Another program of the hospital de-identifies over HTTP.
site-client serve-local --port 0 > service.txt & service=$!
hides service.txt
kill $service
wait $service
aggregator evaluate --gold "$NOTES/st-bede.jsonl" --system tagged
# Its key changes; its share is taken back; what it shared may be shared again, under another number.
site-client keys rotate --ca "$TLS/ca.pem"
site-client withdraw share.parquet --reason "consent withdrawn" --ca "$TLS/ca.pem"
site-client encode "$NOTES/st-anne.jsonl" --again --out again.parquet
site-client keys protect --new-passphrase-file "$PASSPHRASE"
DEID_COMMONS_PASSPHRASE_FILE="$PASSPHRASE" site-client keys unprotect
cd ..
site-client keys rotate --out st-bede.rotation.json --workspace st-bede
aggregator site rotate st-bede.rotation.json --workspace provider
site-client keys accept st-bede.rotation.accepted.json --workspace st-bede

# The provider's own keys change, and are put under a passphrase. A hospital leaves.
cd provider
aggregator keys rotate encryption --overlap 0 $sticks
aggregator keys protect --new-passphrase-file "$PASSPHRASE"
DEID_COMMONS_PASSPHRASE_FILE="$PASSPHRASE" aggregator keys unprotect
aggregator site revoke st-bede --reason "no longer takes part"
cd ..
kill $served
wait $served

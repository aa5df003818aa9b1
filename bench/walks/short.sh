# From nothing to two hospitals' shares over HTTPS, in as few commands as it takes.

# Three were typed ahead of these: `git clone`, `make demo`, `. .venv/bin/activate`. $NOTES is demo/notes; a fingerprint is read out by telephone.
# The provider makes a representer of public notes, attacks it, publishes it, and serves it.
openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout key.pem -out certificate.pem 2> /dev/null
aggregator init provider --scheme i2b2_2014 | tee provider.txt
aggregator train-embeddings "$NOTES/public.jsonl" --workspace provider
aggregator train-repr --corpus "$NOTES/public.jsonl" --cluster-size 100 --preset quick --workspace provider
aggregator audit --corpus "$NOTES/public.jsonl" --workspace provider
aggregator publish --workspace provider
aggregator serve --certificate certificate.pem --key key.pem --port "$PORT" --address "$SERVER" --workspace provider 2> server.log &
answers "$SERVER/releases/metadata/timestamp.json" certificate.pem

# St Anne joins, pulls on its own terms (these are for generated notes), encodes and sends.
site-client init st-anne --site st-anne
site-client enrol --workspace st-anne --out st-anne.json | tee st-anne.txt
aggregator site add st-anne.json --fingerprint "$(typed st-anne.txt)" --workspace provider
site-client policy set --demonstration --audit quick --workspace st-anne
site-client pull "$SERVER/releases" --ca certificate.pem --fingerprint "$(typed provider.txt)" --workspace st-anne
site-client encode "$NOTES/st-anne.jsonl" --out st-anne/share.parquet --workspace st-anne
site-client submit st-anne/share.parquet --approver "A. Weiss" --server "$SERVER" --ca certificate.pem --workspace st-anne

# So does St Bede.
site-client init st-bede --site st-bede
site-client enrol --workspace st-bede --out st-bede.json | tee st-bede.txt
aggregator site add st-bede.json --fingerprint "$(typed st-bede.txt)" --workspace provider
site-client policy set --demonstration --audit quick --workspace st-bede
site-client pull "$SERVER/releases" --ca certificate.pem --fingerprint "$(typed provider.txt)" --workspace st-bede
site-client encode "$NOTES/st-bede.jsonl" --out st-bede/share.parquet --workspace st-bede
site-client submit st-bede/share.parquet --approver "B. Rossi" --server "$SERVER" --ca certificate.pem --workspace st-bede

# Both shares are there.
aggregator shares list --workspace provider

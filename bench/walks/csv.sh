# A hospital whose notes are in a table: CSV in, a share; CSV in, CSV out.

site-client init deid --site st-clare --no-approval
cd deid
site-client policy set --demonstration --audit quick --least-new-notes 20
site-client pull "$RELEASES" --fingerprint "$(typed "$FINGERPRINTS")"
# Labels of a table are in brat or JSONL; here a table without labels is hidden in, and comes out as it came.
head -2 "$NOTES/new.csv"
site-client deid "$NOTES/new.csv" --text-column note --out safe
head -2 safe/new.csv
same_rows "$NOTES/new.csv" safe/new.csv
# The same by two runs that share the notes.
site-client deid "$NOTES/new.csv" --text-column note --part 1/2 --out safe-1
site-client deid "$NOTES/new.csv" --text-column note --part 2/2 --out safe-2
site-client deid-merge safe-1 safe-2 --out safe-both
cmp safe/new.csv safe-both/new.csv
# In another encoding, as a spreadsheet saves it.
site-client deid "$NOTES/latin.csv" --text-column note --encoding windows-1252 --out safe-latin
# Notes that read like notes: other names and dates, and who was what in a vault.
printf 'epsilon = 2\n[deny]\nHOSPITAL = ["St Clare"]\n' > ours.toml
site-client deid "$NOTES/new.csv" --text-column note --mode surrogate --config ours.toml --link-key --vault who-was-what.vault --out readable
site-client vault who-was-what.vault
# What is bad is told in a line, and leaves nothing.
fails site-client evaluate "$NOTES/new.csv" --text-column note
fails site-client deid "$NOTES/nothing-here" --out nowhere

"""All procedures by name, and what a folder holds: a new construction is a file in `procedures` and a line here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foundation.reading import read_text
from shared.anonymity.bank_files import FILE as BANK_FILE
from shared.anonymity.bank_files import load_bank
from shared.constructions.construction import Construction, Parts
from shared.constructions.procedures.codes import K_ANONYMOUS, SURROGATES
from shared.constructions.procedures.dann import DANN
from shared.constructions.procedures.invariance import INVARIANCE
from shared.constructions.procedures.k_anonymous import K_ANONYMOUS_CENTRES
from shared.constructions.procedures.k_anonymous_invariance import K_ANONYMOUS_INVARIANCE
from shared.constructions.procedures.noisy_surrogates import NOISY_SURROGATES
from shared.constructions.procedures.surrogates import SURROGATES_CENTRES
from shared.constructions.procedures.three_part import THREE_PART
from shared.constructions.training import Procedure
from shared.embeddings.files.artefact import load_vectors
from shared.errors import ConfigurationError, ModelError
from shared.labels import load_scheme_file
from shared.models.storage import load_representer

PROCEDURES: Mapping[str, Procedure] = {
    procedure.name: procedure
    for procedure in (
        SURROGATES,
        K_ANONYMOUS,
        SURROGATES_CENTRES,
        K_ANONYMOUS_CENTRES,
        NOISY_SURROGATES,
        K_ANONYMOUS_INVARIANCE,
        THREE_PART,
        DANN,
        INVARIANCE,
    )
}


def find_procedure(name: str) -> Procedure:
    """The procedure of that name.

    Raises:
        ConfigurationError: no such procedure.
    """
    if name not in PROCEDURES:
        raise ConfigurationError(f"expected a procedure among {', '.join(PROCEDURES)}, got {name!r}")
    return PROCEDURES[name]


def load_construction(folder: Path) -> Construction:
    """The construction that a folder holds, told by its files alone.

    Raises:
        EmbeddingError, ModelError: a file is missing, damaged, or does not fit the others; or no construction writes such files.
    """
    scheme = load_scheme_file(folder)
    # A release is signed as a whole, so nobody but the provider can have taken the bank away.
    bank = load_bank(folder, scheme) if (folder / BANK_FILE).exists() else None
    parts = Parts(load_vectors(folder), load_representer(folder), scheme, bank)
    kinds = {procedure.makes for procedure in PROCEDURES.values() if procedure.makes.is_made_of(parts)}
    if len(kinds) != 1:
        raise ModelError(
            "expected the word vectors, representer and surrogates of one construction, got a mixture that none writes; "
            "pull the release again, or update deid-commons"
        )
    return kinds.pop().assemble(parts)


def check_record(construction: Construction, path: Path) -> None:
    """Returns if what the record of a training states is what the construction shows, as far as it states anything.

    Args:
        construction: loaded from the same folder.
        path: the record; a release need not have one.

    Raises:
        ModelError: it states something else, or is no record.
    """
    if not path.exists():
        return
    try:
        record: Any = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path.name}: expected the record of a training, got no JSON; tell the provider") from error
    if not isinstance(record, dict):
        raise ModelError(f"{path.name}: expected the record of a training, got something else; tell the provider")
    construction.check_record(record)
    options = record.get("options")
    name = options.get("procedure") if isinstance(options, dict) else None
    if name is not None and name not in (*construction.made_by, *construction.formerly):
        raise ModelError(f"{path.name}: expected the procedure that made these files, got another; tell the provider")


def explain_promises(stated: Mapping[str, float]) -> list[str]:
    """What a manifest states of a construction, in words. What several promise is said once.

    Args:
        stated: its measures; those that no construction knows are left out.
    """
    kinds = dict.fromkeys(procedure.makes for procedure in PROCEDURES.values())
    return list(dict.fromkeys(line for kind in kinds for line in kind.explain(stated)))

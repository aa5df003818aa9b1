"""`aggregator train-head` and `refresh`: the head of the pool, by itself and as the round of every month."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aggregator.commands.options import (
    AUGMENTS,
    DEFENCES,
    INFLUENCE,
    TAGGERS,
    augment_options,
    existing_folder,
    existing_path,
    folder_option,
    resume_option,
)
from command_line.commands import Computation, examples, json_option, report, seed_option, warn
from command_line.progress import progress_bar

if TYPE_CHECKING:
    from aggregator.refreshing.found import Found
    from aggregator.training.head import HeadOptions, HeadTraining
    from aggregator.training.judging.comparison import Comparison, Distilled
    from aggregator.training.judging.recall import RecallChange
    from aggregator.training.judging.site_scores import SiteScore
    from shared.training.tagging import TaggingConfig

_SELF_DISTILLED = "{} teachers, each without a part of the pool, labelled the part that they had not seen; the head learned what they said, drawn anew in each pass"
_UNDERSAMPLED = "of the sentences without PHI {:.0%} sit out each pass, drawn anew"


def head_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of whatever trains a head of the pool: what goes into it, and what is measured of it."""
    options = (
        click.option("--epochs", default=20, show_default=True, type=click.IntRange(1), help="Passes over the pool."),
        click.option(
            "--batch",
            type=click.IntRange(1, 4096),
            help="Sentences a step (default: 32, and 64 for transformer).",
        ),
        click.option("--site", "only", multiple=True, help="Only this site's shares; may be given several times."),
        click.option(
            "--hold-out/--no-hold-out",
            default=True,
            show_default=True,
            help="Whether a tenth of every share is kept back to score and compare.",
        ),
        click.option(
            "--public/--no-public",
            default=True,
            show_default=True,
            help="Whether the provider's own notes join the pool.",
        ),
        click.option(
            "--defence",
            default=DEFENCES[0],
            show_default=True,
            type=click.Choice(DEFENCES),
            help="What keeps a site that lies from bending the head; see docs/adr/0021.",
        ),
        click.option(
            "--influence",
            default=INFLUENCE[0],
            show_default=True,
            type=click.Choice(INFLUENCE),
            help="How what a site does to the others is measured: by a small head without each site, by one like the head, or not.",
        ),
        click.option(
            "--undersampling",
            default=0.5,
            show_default=True,
            type=click.FloatRange(0, 1, max_open=True),
            help="Chance that a sentence without PHI sits out a pass, drawn anew in each; 0 for all sentences in every pass.",
        ),
        augment_options(
            AUGMENTS,
            "Altered copies to learn from: other PHI, other words around it, shorthand, other casing",
            "recase, where shares hold codes, and shorthand where they are English",
        ),
        click.option(
            "--tagger",
            default=TAGGERS[0],
            show_default=True,
            type=click.Choice(TAGGERS),
            help="Kind of the head; the others read words that shares of codes may have been made of, and take longer; see docs/provider.md.",
        ),
        click.option(
            "--language-model",
            type=existing_folder,
            help="For khin2018: folder of `aggregator train-lm`, whose contexts it reads as well.",
        ),
        click.option(
            "--checkpoint",
            type=existing_folder,
            help="For transformer: folder with config.json, tokenizer.json and model.safetensors of a pretrained network.",
        ),
        click.option(
            "--window",
            type=click.IntRange(1),
            help="For transformer: pieces of words that are read at a time (default: 128, the paper's).",
        ),
        click.option(
            "--crf/--no-crf",
            default=False,
            show_default=True,
            help="For transformer: whether the tags of a sentence are scored together, which the paper's are not.",
        ),
        click.option(
            "--distil",
            multiple=True,
            type=existing_path,
            help="Public notes without labels: the head learns from these, as the pool's head labels them, and never sees a share.",
        ),
        click.option(
            "--self-distil",
            metavar="TEACHERS",
            type=click.IntRange(2, 10),
            help="The head learns the pool as so many others label it, each the part that it has not seen, so that it tells less of whose notes are "
            "in it; it takes that many trainings more, and three are what was measured.",
        ),
        click.option(
            "--last-word/--no-last-word",
            default=True,
            show_default=True,
            help="Whether patterns, whole entities and further mentions follow the tagger in the release; see docs/adr/0034.",
        ),
        click.option(
            "--operating-points/--no-operating-points",
            default=True,
            show_default=True,
            help="Whether each hospital is left out once, to know what an unseen one is promised; see docs/adr/0036.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command(
    "train-head",
    cls=Computation,
    epilog=examples(
        "aggregator train-head --epochs 20",
        "aggregator train-head --influence full --defence none",
        "aggregator train-head --augment phi,recase",
        "aggregator train-head --distil public-notes/",
        "aggregator train-head --self-distil 3",
        "aggregator train-head --processes 4",
    ),
)
@head_options
@click.option(
    "--processes",
    default=1,
    show_default=True,
    type=click.IntRange(1, 256),
    help="Processes of this machine that train together, each on its part of the pool with batches of its own; see docs/operation.md.",
)
@resume_option
@folder_option
@seed_option("the training")
@json_option
def train_pool_head(processes: int, resume: bool, root: Path, seed: int, as_json: bool, **given: Any) -> None:
    """Train the head on the pool."""
    from aggregator import workspace
    from aggregator.training import head as train_head
    from aggregator.training.processes.starting import several, this_command

    target = workspace.open_workspace(root)
    config, options = head_recipe(seed, given)
    with several(processes, this_command()) as group:
        # The first one speaks for all.
        follows = group is not None and group.index > 0
        with progress_bar(quiet=as_json or follows) as bar:
            trained = train_head.train(target, config, options, bar.watch, resume=resume, tell=warn, group=group)
    if follows:
        return
    lines = [
        *head_lines(trained),
        f"head in {target.head}; next: aggregator release",
    ]
    report(trained.as_json(), lines, as_json=as_json)


@click.command(
    cls=Computation,
    epilog=examples("aggregator refresh", "aggregator refresh /media/stick /srv/deid/inbox --epochs 20"),
)
@click.argument("paths", metavar="[FILE|FOLDER]...", nargs=-1, type=click.Path(exists=True, path_type=Path))
@head_options
@folder_option
@seed_option("the training")
@json_option
def refresh(paths: tuple[Path, ...], root: Path, seed: int, as_json: bool, **given: Any) -> None:
    """The monthly round: take in what came, train the head, ask the gates, and propose a release to whoever approves it.

    It releases nothing. One that was cut goes on with the same command. Ends with 0 where a release is proposed or nothing is new, with 25
    where it is proposed although the head finds less, with 22 without a passed audit, and else with what `ingest` of the files ends with.
    """
    from aggregator import workspace
    from aggregator.refreshing.round import RoundPlan, run_round

    target = workspace.open_workspace(root)
    plan = RoundPlan(paths, *head_recipe(seed, given))

    def told(found: Found) -> None:
        report(found.as_json(), found.lines(), as_json=as_json)

    with progress_bar(quiet=as_json) as bar:
        failure = run_round(target, plan, told, bar.watch, warn)
    if failure is not None:
        raise failure


def head_recipe(seed: int, given: dict[str, Any]) -> tuple[TaggingConfig, HeadOptions]:
    """What `head_options` were given, as the training takes it."""
    from aggregator.training.augmenting import AugmentOptions
    from aggregator.training.head import HeadOptions
    from aggregator.training.judging.influence import InfluenceMode
    from aggregator.training.kinds import TaggerOptions, recipe_of

    options = HeadOptions(
        with_public=given["public"],
        hold_out=given["hold_out"],
        sites=frozenset(given["only"]) or None,
        defence=given["defence"],
        influence=InfluenceMode(given["influence"]),
        last_word=given["last_word"],
        operating_points=given["operating_points"],
        undersampling=given["undersampling"],
        augment=AugmentOptions(given["augment"], given["alpha"], given["entities"], given["wordnet"]),
        tagger=TaggerOptions(
            given["tagger"], given["language_model"], given["checkpoint"], given["window"], given["crf"]
        ),
        distil=given["distil"],
        self_distil=given["self_distil"] or 0,
    )
    return recipe_of(given["tagger"], given["epochs"], seed, given["batch"]), options


def head_lines(trained: HeadTraining) -> list[str]:
    """What a head was trained on, what it is worth, and what each site does to the others."""
    return [
        *_pool_lines(trained),
        *_teacher_lines(trained),
        *_influence_lines(trained),
        *_comparison_lines(trained.compared),
        *_points_lines(trained),
    ]


def _pool_lines(trained: HeadTraining) -> list[str]:
    from aggregator.publishing.head_record import describe_needs

    not_counted = sum(trained.not_counted.values())
    return [
        f"{trained.sentences} sentences, {trained.tokens} tokens in a pass over the pool"
        + (f"; {trained.left_out} accepted shares of another representer left out" if trained.left_out else ""),
        *([_UNDERSAMPLED.format(trained.undersampling)] if trained.undersampling else []),
        _augment_line(trained.augment),
        *([_describe_student(trained.distilled, public=trained.public)] if trained.distilled else []),
        *([_SELF_DISTILLED.format(trained.self_distilled)] if trained.self_distilled else []),
        *describe_needs({"tagger": trained.tagger}),
        f"defence {trained.defence}: the labels of {not_counted} tokens do not count",
        *(f"  {site:20} weighs {rate:.1%} of what it shared" for site, rate in sorted(trained.rates.items())),
        "held-out tenth of each site, token-binary; in brackets what the provider's own notes alone reach:",
        *(_score_line(score) for score in trained.scores),
        *_worth_lines(trained.scores),
    ]


def _describe_student(distilled: Distilled, *, public: bool) -> str:
    return (
        f"the pool taught a student, which is the head: it learned from public text{' and from your own notes' if public else ''}, and has seen no share; "
        f"of {distilled.tokens} tokens of the text the teacher was sure of {distilled.sure / distilled.tokens:.1%}, and took {distilled.phi / distilled.tokens:.2%} for PHI"
    )


def _score_line(score: SiteScore) -> str:
    if not score.phi_tokens:
        return f"  {score.site:20} not measured: no PHI among its {score.tokens} tokens"
    alone = "" if score.alone_f1 is None else f"  ({score.alone_f1:.3f})"
    return f"  {score.site:20} precision {score.precision:.3f}  recall {score.recall:.3f}  F1 {score.f1:.3f}{alone}"


def _augment_line(told: Mapping[str, Any]) -> str:
    if not told.get("methods"):
        return "no copies of sentences"
    alpha = told["alpha"]
    return (
        f"{alpha} of {alpha + 1} sentences of a pass are copies ({', '.join(told['methods'])}), made anew in every pass"
    )


def _worth_lines(scores: Sequence[SiteScore]) -> list[str]:
    """What sharing is worth at the sites, as far as anybody can know who has not their notes."""
    from aggregator.training.pool import PUBLIC

    measured = [score for score in scores if score.site != PUBLIC and score.phi_tokens]
    gains = [score.f1 - score.alone_f1 for score in measured if score.alone_f1 is not None]
    if not gains:
        return []
    return [
        f"worth of sharing: {100 * sum(gains) / len(gains):+.1f} points of F1, mean of {len(gains)} sites; what raw notes pooled would "
        "gain can't be known without them, docs/results/privacy.md measures it on open corpora"
    ]


def _influence_lines(trained: HeadTraining) -> list[str]:
    """What each site does to the others, or as far as the provider's own notes show it; and who stands out."""
    from aggregator.publishing.quality_gate import FALSE_ALARMS, OWN_HELD_OUT

    influence = trained.influence
    if influence is None:
        return ["influence of the sites: not measured"]
    of, where = ("", f", {OWN_HELD_OUT}") if _with_hospitals(trained) else (" at all others", "")
    lines = [f"recall{of} with each site and without it ({influence.mode}{where}); 95% interval of the difference:"]
    for one in influence.sites:
        if not one.changes:
            lines.append(f"  {one.site:20} not measured")
        for change in one.changes[:1]:
            lines.append(
                f"  {one.site:20} {change.recall:.3f} with, {change.before:.3f} without  ({change.low:+.3f} to {change.high:+.3f})"
            )
        for change in one.changes:
            if change.category == FALSE_ALARMS:
                lines.append(
                    f"  {'':20} {change.recall:.3f} with, {change.before:.3f} without of what is no PHI is hidden  "
                    f"({change.low:+.3f} to {change.high:+.3f})"
                )
    for site, reasons in influence.standing_out.items():
        lines += [f"  {site} STANDS OUT: {reason}" for reason in reasons]
    return lines


def _comparison_lines(compared: Comparison | None) -> list[str]:
    """Recall against the last release."""
    if compared is None:
        return []
    if compared.unfair:
        return [
            f"NOT compared with release {compared.release}: its head was trained with --no-hold-out, so it has learned from what is held "
            "out here; a release of this one takes --accept-drop --approver NAME"
        ]
    return [
        f"recall against release {compared.release}, and false alarms, the share hidden of what is no PHI; 95% interval of the difference:",
        *(_change_line(change, "was") for change in compared.changes),
    ]


def _teacher_lines(trained: HeadTraining) -> list[str]:
    """Recall of a student against its teacher."""
    if trained.distilled is None or not trained.distilled.changes:
        return []
    changes = trained.distilled.changes
    lines = [
        "recall against the head of the pool, which taught this one, and false alarms; 95% interval of the difference:",
        *(_change_line(change, "teacher") for change in changes),
    ]
    if any(change.is_worse for change in changes):
        lines.append(
            "WARNING: this head is worse than the one that taught it, and `release` will ask for the name of who accepts that: distil public "
            "text that is written as the notes are, or train without --distil"
        )
    return lines


def _change_line(change: RecallChange, other: str) -> str:
    return f"  {change.category:20} {change.recall:.3f}, {other} {change.before:.3f}  ({change.low:+.3f} to {change.high:+.3f})"


def _points_lines(trained: HeadTraining) -> list[str]:
    """What an unseen hospital is promised."""
    if trained.points is None:
        return [f"operating points: none, so hospitals can't ask for a recall; {trained.no_points}"]
    lines = [
        f"what a hospital that nobody has seen is promised, median of {trained.points.hospitals}, each left out in turn:"
    ]
    for one in trained.points.points:
        default = ", the default" if one == trained.points.default else ""
        lines.append(
            f"  --min-recall {one.target:<4g}  {one.hidden:.3f} of PHI hidden whole, {one.precision:.3f} of what is hidden is PHI; "
            f"at the worst {one.least:.3f}{default}"
        )
    return lines


def _with_hospitals(trained: HeadTraining) -> bool:
    from aggregator.publishing.quality_gate import trained_with_hospitals

    return trained_with_hospitals({"federated": trained.federated})

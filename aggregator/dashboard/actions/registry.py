"""All actions by name. A new one is a class and a line here; the contract test then holds it to its role, its two pages and its event."""

from __future__ import annotations

from collections.abc import Mapping

from aggregator.dashboard.actions.action import Action
from aggregator.dashboard.actions.shares import AcceptShare, RejectShare, WithdrawShare
from aggregator.dashboard.actions.sites import AcknowledgeAlarm, EnrolSite, RevokeSite
from aggregator.dashboard.actions.works import PublishRepresenter, ReleasePipeline, StopWork, TrainHead, VerifyLog

ACTIONS: Mapping[str, Action] = {
    action.name: action
    for action in (
        AcceptShare(),
        RejectShare(),
        WithdrawShare(),
        EnrolSite(),
        RevokeSite(),
        AcknowledgeAlarm(),
        VerifyLog(),
        TrainHead(),
        PublishRepresenter(),
        ReleasePipeline(),
        StopWork(),
    )
}

"""The requests of one answer, each booked when it is made -> Claude's messages, and their cost.

A request keeps its estimated cost if it is called off, cut off or lost, since the model may have
worked on it. A request that the API refused costs nothing.
"""

import logging
import secrets
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from anthropic.types import Message, TextBlock

from agent.answer import Usage
from agent.errors import BudgetSpent, ModelUnavailable
from agent.model.budget import Booking, Budget
from agent.model.client import Model, Request
from agent.model.cost import add, cost_usd, estimated_usd, is_possible, tokens
from agent.model.deadline import Deadline
from agent.model.http_call import Listener

log = logging.getLogger(__name__)


class Account:
    """What one answer has cost so far, and who pays."""

    def __init__(self, budget: Budget, payer: str, answer_id: str) -> None:
        self._budget, self._payer, self._answer_id = budget, payer, answer_id
        self.usage = Usage()
        self.usd: float | None = 0.0
        """Dollars. None if the price of a model or the usage of a response is not known."""

    def check(self) -> None:
        """Raise BudgetSpent if no request may be made now."""
        if refusal := self._budget.refusal(self._payer):
            raise BudgetSpent(refusal)

    def respond(
        self, model: Model, request: Request, deadline: Deadline, listener: Listener
    ) -> tuple[Message, dict[str, Any]]:
        """Return the model's message, and its usage and cost for the trace.

        Raises BudgetSpent, and what the model raises.
        """
        booked = _Booked(self, model.name, request, listener)
        try:
            message = model.respond(request, deadline, booked)
        except ModelUnavailable as error:
            booked.failed(error)
            raise
        usage = message.usage.model_dump(mode="json", exclude_none=True)
        spent = tokens(usage)
        if not is_possible(spent, request.max_tokens):
            log.warning("%s reports a usage that cannot be: the estimate stays", model.name)
            spent = Usage()
        self.usage = add(self.usage, spent)
        # A usage of zero does not mean that nothing was spent: some gateways leave it out.
        cost = cost_usd(model.name, usage) if spent != Usage() else None
        booked.answered(cost)
        usd = None if cost is None else round(cost, 6)
        return message, {**asdict(spent), "cost_usd": usd}

    def book(self, model: str, request: Request) -> Booking:
        """Book a request that is about to be made. Raises BudgetSpent."""
        estimate = estimated_usd(model, request.system, request.tools, request.messages)
        booking = Booking(secrets.token_hex(16), self._answer_id, self._payer, model, estimate)
        if refusal := self._budget.book(booking):
            raise BudgetSpent(refusal)
        self._add(estimate)
        return booking

    def correct(self, booking: Booking, usd: float | None) -> None:
        """Replace an estimate by the known cost; without one, the booking keeps its estimate."""
        if usd is None or booking.usd is None:
            self.usd = None
        else:
            self._add(usd - booking.usd)
            self._budget.correct(booking.id, usd)

    def _add(self, usd: float | None) -> None:
        self.usd = None if usd is None or self.usd is None else self.usd + usd


class _Booked:
    """Books a request each time that it goes out, and hands all events on."""

    def __init__(self, account: Account, model: str, request: Request, listener: Listener) -> None:
        self._account, self._model, self._request = account, model, request
        self._listener = listener
        self._booking: Booking | None = None

    def sending(self) -> None:
        self._booking = self._account.book(self._model, self._request)
        self._listener.sending()

    def began(self) -> None:
        self._listener.began()

    def wrote(self, content: Sequence[TextBlock]) -> None:
        self._listener.wrote(content)

    def retried(self, error: ModelUnavailable, wait: float) -> None:
        self.failed(error)
        self._listener.retried(error, wait)

    def failed(self, error: ModelUnavailable) -> None:
        """The attempt has failed."""
        if self._booking and not error.is_billed:
            self._account.correct(self._booking, 0.0)
        self._booking = None

    def answered(self, usd: float | None) -> None:
        """The attempt has succeeded."""
        if self._booking:
            self._account.correct(self._booking, usd)

"""One question put to an endpoint until there is an answer or a typed reason for none.

Two bounded loops: attempts, while the service fails; and around them repairs, while the answer
does not fit the schema. Every attempt of either is an intent and a receipt in the ledger.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import random
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from screentest.core.calls import NO_VALUE, CallIntent, CallReceipt, CallStatus, LedgerClient
from screentest.core.codec import from_json, to_json
from screentest.core.errors import NoValue, ServiceError
from screentest.core.outcome import Reason
from screentest.models.chat import wire
from screentest.models.chat.costs import Price
from screentest.models.chat.faults import CallFault, Clock, FaultKind, Retries
from screentest.models.chat.limiter import Limiter, Place
from screentest.models.chat.messages import ChatAnswer, ChatRequest, ModelReply, Usage
from screentest.models.chat.parsing import conclude, repair_turns
from screentest.models.chat.videos import NativeVideo, digests, films, pictures_sent
from screentest.models.chat.wire import Dialect, Endpoint, Secret

if TYPE_CHECKING:
    from pydantic import BaseModel

    from screentest.models.chat.client import ChatClient

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Got:
    """A reply and what it took."""

    reply: ModelReply
    attempts: int
    cost: Decimal | None


class CallLedger:
    """A ledger as async code uses it: an intent before and a receipt after each call, within the
    cap.

    Lives in one event loop.
    """

    def __init__(
        self, ledger: LedgerClient, price: Price | None, threads: ThreadPoolExecutor
    ) -> None:
        self._ledger = ledger
        self._price = price
        # A ledger waits for the disk; many who wait together share one write.
        self._threads = threads if getattr(ledger, "waits", True) else None
        self._open_calls = 0
        self._settled = 0
        self._change = asyncio.Event()
        self.asked: dict[str, Got | NoValue] = {}
        """By digest, what came of the requests made through this object: each is made once."""

    def slot(
        self, ours: Limiter, settings: CallSettings, digest: str
    ) -> AbstractAsyncContextManager[Place]:
        """Wait for a place: where workers share a ledger, its process says when for all of them."""
        shared = getattr(self._ledger, "slot", None)
        if shared is None:
            return ours.slot((id(self._ledger), digest))
        place: AbstractAsyncContextManager[Place] = shared(
            settings.endpoint.url, settings.concurrency, digest
        )
        return place

    def most(self, request: ChatRequest, extra_text: str) -> Decimal | None:
        """Return the most a call can cost; None without a price."""
        if self._price is None:
            return None
        return self._price.most(request, request.sampling.max_tokens, extra_text)

    def cost(self, usage: Usage, images: int) -> Decimal | None:
        """Return the cost of a call; None without a price or a count of tokens."""
        return None if self._price is None else self._price.cost(usage, images)

    async def remembered(self, digest: str) -> Got | None:
        """Return an answer that was paid for already."""
        receipt = await self.recall(digest)
        if receipt is None or receipt.answer is None:
            return None
        return Got(from_json(ModelReply, receipt.answer), 0, receipt.cost)

    async def recall(self, digest: str) -> CallReceipt | None:
        """Return the receipt of an answer that was paid for already."""
        return await self._in_thread(self._ledger.recall, digest)

    async def intend(self, intent: CallIntent) -> str:
        """Write the intent down.

        Near the cap it waits for calls under way, which may turn out cheaper than their most,
        before it gives up with NoValue(OVER_BUDGET).
        """
        while True:
            settled = self._settled
            self._open_calls += 1  # others that are refused meanwhile wait for this one
            try:
                return await self._in_thread(self._ledger.intend, intent)
            except BaseException as error:
                self._close_one()
                if not (isinstance(error, NoValue) and error.reason is Reason.OVER_BUDGET):
                    raise
                while self._open_calls and self._settled == settled:
                    await self._change.wait()
                if self._settled == settled:
                    raise

    async def settle(self, call: str, receipt: CallReceipt) -> None:
        await self._in_thread(self._ledger.settle, call, receipt)
        self.ended()

    def settle_now(self, call: str, receipt: CallReceipt) -> None:
        """Settle a call where nothing can be awaited any more."""
        self._ledger.settle(call, receipt)
        self.ended()

    def ended(self) -> None:
        """Count a call as over: settled, or its worker is gone."""
        self._settled += 1
        self._close_one()

    def _close_one(self) -> None:
        self._open_calls -= 1
        self._change.set()
        self._change = asyncio.Event()

    async def _in_thread(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._threads is None:
            return work(*args, **kwargs)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, lambda: work(*args, **kwargs))


logger = logging.getLogger("screentest.chat")
_SILENT_SECONDS = 2.0
"""A wait for a service that was never reached is reported before it is longer than this."""
_CONGESTED = (503, 529)
_NEVER_REACHED = (FaultKind.UNREACHED, FaultKind.NO_SUCH_HOST)


@dataclass(frozen=True, slots=True)
class CallSettings:
    """Settings that all calls of one backend share."""

    model: str
    endpoint: Endpoint
    dialect: Dialect
    structured: str
    """auto: in words, and enforced where the server can; schema: enforced; instructed: words."""
    retries: Retries
    concurrency: int = 64
    timeout: float = 300.0
    video: NativeVideo | None = None
    """How whole videos are sent; None: as frames."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the server's own beside the usual ones, such as how long a model thinks."""


class Caller:
    """Puts questions to one endpoint. Lives in one event loop."""

    def __init__(
        self,
        settings: CallSettings,
        client: ChatClient,
        secret: Secret,
        limiter: Limiter,
        clock: Clock,
        rng: random.Random,
    ) -> None:
        self._settings = settings
        self._client = client
        self._secret = secret
        self._limiter = limiter
        self._clock = clock
        self._rng = rng
        self._refused: set[type[BaseModel]] = set()
        """Schemas that the server does not take."""
        self._reached = False
        self._warned = False
        self.stopped: ServiceError | None = None
        """Why every further call would fail the same way."""
        self.sending: set[asyncio.Task[object] | None] = set()
        """Tasks whose call is under way, and perhaps paid for."""

    async def answer(self, request: ChatRequest, call_ledger: CallLedger) -> ChatAnswer:
        """Return the answer; raises NoValue, or ServiceError where the whole run must stop."""
        turns: list[wire.Turn] = []
        usage, attempts, costs = Usage(0, 0), 0, list[Decimal | None]()
        for repairs in range(request.max_repairs + 1):
            got = await self._call(request, turns, call_ledger)
            usage, attempts = usage + got.reply.usage, attempts + got.attempts
            costs.append(got.cost)
            try:
                answer = conclude(request, got.reply)
            except NoValue as error:
                turns += repair_turns(request, got.reply, error, repairs)
                continue
            paid = [cost for cost in costs if cost is not None]
            return replace(
                answer,
                usage=usage,
                cost=float(sum(paid)) if len(paid) == len(costs) else None,
                attempts=attempts,
                repairs=repairs,
                drifted=answer.model not in ("", self._settings.model),
            )
        raise AssertionError("the last repair returns or raises")

    async def _call(
        self, request: ChatRequest, turns: Sequence[wire.Turn], call_ledger: CallLedger
    ) -> Got:
        """One reply. Of identical requests only the first is sent and paid."""
        digest = call_digest(self._settings, request, turns)
        asked = call_ledger.asked.get(digest)
        if isinstance(asked, NoValue):
            raise asked
        if asked is not None:
            return replace(asked, attempts=0, cost=None if asked.cost is None else Decimal(0))
        try:
            got = await self._send(request, turns, call_ledger, digest)
        except NoValue as error:
            call_ledger.asked[digest] = error
            raise
        call_ledger.asked[digest] = got
        return got

    async def _send(
        self, request: ChatRequest, turns: Sequence[wire.Turn], call_ledger: CallLedger, digest: str
    ) -> Got:
        if (got := await call_ledger.remembered(digest)) is not None:
            return got
        retries = self._settings.retries
        failures = refusals = 0
        begun = self._clock.monotonic()
        for attempt in range(1, retries.most_calls + 1):
            enforced = self._enforces(request)
            async with call_ledger.slot(self._limiter, self._settings, digest) as place:
                if self.stopped is not None:
                    raise self.stopped
                if place.again and (got := await call_ledger.remembered(digest)) is not None:
                    return got
                try:
                    got = await self._attempt(
                        request, turns, call_ledger, digest, attempt, enforced
                    )
                except CallFault as error:
                    fault = error
                else:
                    place.well = True
                    return got
                wait = retries.wait(attempt, fault.retry_after, self._rng)
                congested = fault.kind is FaultKind.RATE_LIMITED or fault.status in _CONGESTED
                if congested:
                    place.pause = wait
            if fault.kind is FaultKind.RATE_LIMITED:
                refusals += 1
            else:
                failures += 1
            last = failures >= retries.max_attempts or refusals >= retries.max_refusals
            optional = fault.kind is FaultKind.NO_SCHEMAS and self._settings.structured == "auto"
            if enforced and optional:
                self._do_without(request, fault)
                failures -= 1  # the server did not fail, it was asked for too much
            elif self._stops_the_run(fault, last):
                host, model = self._settings.endpoint.host, self._settings.model
                self.stopped = fault.service_error(host, model)
                raise self.stopped
            elif not fault.again or last:
                raise fault.no_value(attempt)
            else:
                if self._clock.monotonic() - begun + wait > _SILENT_SECONDS:
                    self._warn_of_wait(fault, attempt, wait)
                if not congested:
                    await self._clock.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _warn_of_wait(self, fault: CallFault, attempt: int, wait: float) -> None:
        """Once: whoever sits before it should not take a wait for work."""
        if not self._warned and (not self._reached or wait > 5 * _SILENT_SECONDS):
            self._warned = True
            retries, host = self._settings.retries, self._settings.endpoint.host
            refused = fault.kind is FaultKind.RATE_LIMITED
            of = retries.max_refusals if refused else retries.max_attempts
            message = "waiting for %s: %s (attempt %d of %d, the next in %.0f s)"
            logger.warning(message, host, fault, attempt, of, wait)

    async def _attempt(
        self,
        request: ChatRequest,
        turns: Sequence[wire.Turn],
        call_ledger: CallLedger,
        digest: str,
        attempt: int,
        enforced: bool,
    ) -> Got:
        settings = self._settings
        images = len(pictures_sent(request, settings.video))
        body = call_body(settings, request, turns, enforced=enforced)
        most = call_ledger.most(request, "".join(text for _, text in turns))
        if settings.video is not None and films(request):
            most = None  # how many tokens a server makes of a video is not known
        call = await call_ledger.intend(
            CallIntent(digest, settings.model, attempt, request.use, images, most)
        )
        started = self._clock.monotonic()
        task: asyncio.Task[object] | None = asyncio.current_task()
        self.sending.add(task)
        try:
            reply = self._hidden(wire.read_reply(await self._client.send(body)))
        except CallFault as fault:
            fault.detail = self._secret.hide(fault.detail)
            self._reached = self._reached or fault.call_status is not CallStatus.UNREACHED
            latency = self._clock.monotonic() - started
            cost = None if most is None or fault.perhaps_billed else Decimal(0)
            failed = CallReceipt(fault.call_status, cost=cost, latency=latency, detail=str(fault))
            await call_ledger.settle(call, failed)
            raise
        except asyncio.CancelledError:
            interrupted = CallReceipt(CallStatus.TIMED_OUT, detail="interrupted by the user")
            call_ledger.settle_now(call, interrupted)
            raise
        finally:
            self.sending.discard(task)
        self._reached = True
        cost = call_ledger.cost(reply.usage, images)
        latency = self._clock.monotonic() - started
        await call_ledger.settle(call, _answered(request, reply, cost, latency))
        return Got(reply, attempt, cost if cost is not None else most)

    def _enforces(self, request: ChatRequest) -> bool:
        can = request.schema is not None and self._settings.structured != "instructed"
        return can and request.schema not in self._refused

    def _do_without(self, request: ChatRequest, fault: CallFault) -> None:
        """From now on ask for this schema in words only, and say so."""
        assert request.schema is not None
        if request.schema not in self._refused:
            self._refused.add(request.schema)
            host, name = self._settings.endpoint.host, request.schema.__name__
            logger.warning(
                f"{host} does not enforce the schema {name} ({fault}): it is asked for in words, "
                "and answers are checked all the same"
            )

    def _stops_the_run(self, fault: CallFault, last: bool) -> bool:
        if fault.stops_the_run or fault.kind in (FaultKind.NO_SCHEMAS, FaultKind.NO_VIDEO):
            return True
        # Nothing was ever heard of this host: a wrong address, or no server.
        return last and fault.kind in _NEVER_REACHED and not self._reached

    def _hidden(self, reply: ModelReply) -> ModelReply:
        # A server that echoes the key must not get it into the ledger.
        texts = ("text", "refusal", "finish", "model", "fingerprint")
        hidden: dict[str, Any] = {name: self._secret.hide(getattr(reply, name)) for name in texts}
        return replace(reply, **hidden)


def call_body(
    settings: CallSettings, request: ChatRequest, turns: Sequence[wire.Turn] = (), *, enforced: bool
) -> bytes:
    """Return the body of a call; ``enforced`` has the server hold the answer to its schema."""
    return wire.body(
        request,
        settings.model,
        {**settings.dialect.fields(request.sampling, request.repeat), **settings.extra},
        instructed=settings.structured != "schema",
        enforced=enforced,
        turns=turns,
        video=settings.video,
    )


def call_digest(
    settings: CallSettings, request: ChatRequest, turns: Sequence[wire.Turn] = ()
) -> str:
    """Return a hash of all that is sent, the model and the number of the repeat included."""
    how = [settings.model, settings.endpoint.label, settings.dialect.name, settings.structured]
    if settings.video is not None and (shown := films(request)):
        how += [settings.video.part, *digests(shown)]
    if settings.extra:
        how.append(json.dumps(settings.extra, sort_keys=True))
    return hashlib.sha256(json.dumps([*how, request.key, *turns]).encode()).hexdigest()


def _answered(
    request: ChatRequest, reply: ModelReply, cost: Decimal | None, latency: float
) -> CallReceipt:
    detail = reply.finish
    try:
        conclude(request, reply)
    except NoValue as error:
        detail = f"{NO_VALUE}{error.reason.value}"
    return CallReceipt(
        CallStatus.ANSWERED,
        model=reply.model,
        fingerprint=reply.fingerprint,
        tokens_in=reply.usage.input_tokens,
        tokens_out=reply.usage.output_tokens,
        cost=cost,
        latency=latency,
        detail=detail,
        answer=to_json(reply),
    )

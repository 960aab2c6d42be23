"""The vocabulary: frozen dataclasses and protocols. No I/O, no heavy imports."""

from screentest.core.aspects import BUILTIN_ASPECTS, Aspect, AspectInfo, PairKind, all_aspects
from screentest.core.calls import (
    CallIntent,
    CallReceipt,
    CallStatus,
    LedgerClient,
    Progress,
    Silent,
)
from screentest.core.codec import DecodeError, from_json, from_object, to_json
from screentest.core.errors import (
    BadOption,
    ManifestError,
    MissingPackage,
    NoValue,
    RunBusy,
    RunDamaged,
    RunError,
    RunTooNew,
    ScreentestError,
    ServiceError,
    Stopped,
    StorageError,
    UnknownName,
    UserError,
    VideoError,
)
from screentest.core.frames import (
    NATIVE,
    BaseConsumer,
    Borders,
    Consumer,
    Fault,
    Filter,
    Frame,
    FrameRequest,
    Image,
    Layout,
    Size,
    VideoInfo,
)
from screentest.core.item import Clip, Item, Script, Shot, Span, Time, Transition, seconds, timecode
from screentest.core.metric import (
    Judge,
    JudgeInfo,
    Level,
    Measurement,
    Metric,
    MetricInfo,
    Outcomes,
    OutputInfo,
    Question,
    RatingJudge,
    Resources,
    SideEffect,
    Traits,
)
from screentest.core.outcome import Failure, Outcome, Point, Reason, Score, Summary, attempt
from screentest.core.registry import Built, Entry, Registry, Spec, build, register, registry
from screentest.core.signature import Signature
from screentest.core.table import Cell, Column, Table
from screentest.core.verdict import Choice, Verdict, prefer_higher

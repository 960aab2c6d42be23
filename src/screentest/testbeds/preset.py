"""``build(preset="paper")``: a testbed made as SLVMEval makes its own, or none.

What the paper names is taken: one frame a second, captions read by a chat model, U²-Net, Grounding
DINO, Stable Diffusion and Qwen-Image-Edit on whole frames, FFmpeg's cuts. A part that is not here
is refused before anything is made, with how to get it; nothing stands in for it.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from screentest.core import BadOption, NoValue, Reason, UserError
from screentest.core.registry import registry
from screentest.models.choice import ModelChoice, check_loads
from screentest.testbeds.options import BuildOptions
from screentest.testbeds.sources import roles_of


@dataclass(frozen=True, slots=True)
class Preset:
    """What is fixed."""

    name: str
    operators: Sequence[str]
    """As ``build`` takes them."""
    models: Mapping[str, str]
    """Backend and model by role."""
    files: Mapping[str, str]
    """MD5 by role, of models that are one file."""
    reader: str
    """The model that reads captions, in words."""
    pictures: str
    """Where the pictures for backgrounds come from, in words."""
    options: BuildOptions

    def takes(self, **given: object) -> None:
        """Refuse options that contradict it; None is not given."""
        for option, value in given.items():
            fixed = "paper" if option == "operators" else getattr(self.options, _FIELDS[option])
            if value is not None and value != fixed:
                shown = ", ".join(map(str, fixed)) if isinstance(fixed, tuple) else fixed
                raise BadOption(
                    f"`preset={self.name}` has `{option}={'unset' if fixed is None else shown}`",
                    advice=f"Leave `{option}` out, or build without the preset.",
                )

    def applied(self, options: BuildOptions) -> BuildOptions:
        """Return the options with the models and the detector of the preset.

        A model that the user names must be of the same backend, or an external worker: it may lie
        in another place, it may not be another method.
        """
        profiles = {model.profile for model in options.models} - {"", self.name}
        other = min(profiles, default="")
        if other:
            raise BadOption(
                f"`preset={self.name}` has its own models", advice=f"Leave `models={other}` out."
            )
        by_role = {choice.role: choice for choice in options.models if not choice.profile}
        models = []
        for role, text in self.models.items():
            ours = ModelChoice.parse(f"{role}={text}")
            theirs = by_role.get(role, ours)
            if theirs.backend not in (ours.backend, "external"):
                raise BadOption(
                    f"`preset={self.name}` takes {ours} and not {theirs}",
                    advice=f"Give `model={role}={ours.backend}:PATH` for weights in another place,"
                    " or build without the preset.",
                )
            if theirs.backend != "external":
                self._must_be_the_model(ours, theirs)
            # A model without a name is the backend's own default, which may be a smaller one.
            models.append(theirs if theirs.model else replace(theirs, model=ours.model))
        detector = self.options.detector
        return replace(options, models=tuple(models), detector=detector, preset=self.name)

    def _must_be_the_model(self, ours: ModelChoice, theirs: ModelChoice) -> None:
        """Refuse another model of the same backend, and options that change what it gives."""
        entry = registry.entry(ours.role, ours.backend)
        free = {"seed", "revision", *entry.info.get("neutral", ())}
        fixed = {name: parameter.default for name, parameter in entry.parameters.items()}
        fixed |= dict(ours.options)
        for name, value in theirs.options.items():
            if name in fixed and name not in free and value != fixed[name]:
                raise BadOption(
                    f"`preset={self.name}` has {name}={fixed[name]} of {ours}, and not {value}",
                    advice=f"Leave {name} out, or build without the preset.",
                )
        elsewhere = Path(theirs.model).expanduser().exists()
        if theirs.model and theirs.model != ours.model and not elsewhere:
            raise BadOption(
                f"`preset={self.name}` takes {ours.model} and not {theirs.model}",
                advice="Give the folder of its weights, or build without the preset.",
            )

    def _must_be_the_file(self, choice: ModelChoice) -> None:
        wanted = self.files.get(choice.role)
        if wanted is None or choice.backend == "external":
            return
        with Path(choice.model).expanduser().open("rb") as file:
            digest = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False))
        if digest.hexdigest() != wanted:
            raise NoValue(
                Reason.WRONG_FILE,
                f"{choice.model} has MD5 {digest.hexdigest()}, the published file {wanted}",
                advice="Get that file.",
            )

    def must_be_here(self, options: BuildOptions, *, chat: bool, backgrounds: bool) -> None:
        """Refuse to begin where anything is missing: all of it, each with how to get it."""
        needed = roles_of(options)
        missing = []
        for choice in options.models:
            try:
                if choice.role in needed:
                    check_loads(choice)
                    self._must_be_the_file(choice)
            except NoValue as error:
                missing.append(f"{choice.role}: {error.message}: {error.advice}")
        if not chat:
            missing.append(
                f"captions: {self.reader} reads them: "
                "`model=chat=openai:NAME,base_url=http://HOST:PORT/v1`"
            )
        names = [spec.partition(":")[0] for spec in options.degradations]
        if not backgrounds and "background_consistency" in names:
            missing.append(f"backgrounds: {self.pictures}: `backgrounds=DIR`")
        if missing:
            raise UserError(
                f"`preset={self.name}` needs what is not here:\n"
                + "\n".join(f"  {line}" for line in missing),
                advice="Nothing is put in its place. `aspects` leaves out what needs it; "
                "docs/slvmeval.md has the whole recipe.",
            )


_FIELDS = {
    "clips": "clips",
    "severities": "severities",
    "min_clips": "least_clips",
    "long_side": "long_side",
    "fps": "rate",
    "extract": "extract",
}


PAPER = Preset(
    "paper",
    **tomllib.loads(Path(__file__).with_name("paper.toml").read_text(encoding="utf-8")),
    options=BuildOptions(rate=Fraction(1), extract="chat", detector="scdet"),
)
PRESETS = {PAPER.name: PAPER}


def preset_named(name: str) -> Preset:
    """Return the preset of that name; BadOption where there is none."""
    if name not in PRESETS:
        raise BadOption(f"unknown preset {name!r}", advice=f"Presets: {', '.join(PRESETS)}.")
    return PRESETS[name]

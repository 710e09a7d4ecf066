"""Run a transformers model in this process, with its chat template and greedy decoding."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import InputError, UsageError
from ...core.extras import command_for, import_extra, missing, package
from ...language.hub import first_line, loading, model_files
from ..tasks import prompts
from . import AnswerError, Reply, Request
from .clip_sources import View

ADVICE = (
    "--transformers takes the folder or Hub name of a vision-language model (AutoModelForImageTextToText) that is "
    "tuned for instructions."
)


@dataclass
class LocalModel:
    """A transformers model that takes images or video, and text.

    Attributes:
        name: Folder, or name on the Hub.
        revision: Commit, tag or branch on the Hub; "" for the cached one, or else the newest. Becomes the commit.
        device: Device, such as "cpu" or "cuda:0"; "" for a GPU if one is available.
        dtype: Data type, such as "bfloat16"; "auto" for that of the weights.
        device_map: How accelerate distributes the model over devices, such as "auto"; "" for a single device.
        batch: Number of requests that are answered together.
        send: "video" or "frames" (as images); "" for video if the processor and the chat template support it.
        remarks: Notes on how frames are sent.
    """

    name: str
    revision: str = ""
    device: str = ""
    dtype: str = "auto"
    device_map: str = ""
    batch: int = 1
    send: str = "frames"
    remarks: tuple[str, ...] = ()
    _waiting: list[tuple[Request, asyncio.Future[Reply]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Load the model.

        Raises:
            UsageError: The folder, device or dtype does not exist, or options conflict.
            InputError: Packages are missing, or the model cannot be loaded.
        """
        self._torch = torch = import_extra("torch", what="--transformers", extra="probes")
        transformers = import_extra("transformers", what="--transformers", extra="probes")
        transformers.utils.logging.disable_progress_bar()
        dtype = getattr(torch, self.dtype, None)
        if self.dtype != "auto" and not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
            raise UsageError(f"--dtype must be auto, float32, float16 or bfloat16; got {self.dtype!r}.")
        if self.device and self.device_map:
            raise UsageError("--device and --device-map are mutually exclusive: choose one of them.")
        if self.device_map:
            import_extra("accelerate", what="--device-map")
        try:
            device = torch.device(self.device or ("cuda" if torch.cuda.is_available() else "cpu"))
            torch.empty(0, device=device)
        except (RuntimeError, AssertionError) as error:
            raise UsageError(f"--device {self.device!r} cannot be used: {first_line(error)}.") from None
        files = model_files(self.name, self.revision, ADVICE)
        self.revision = files.revision or self.revision
        with loading(files, ADVICE):
            self.processor = load_processor(files.folder)
            spread = {"device_map": self.device_map} if self.device_map else {}
            self.model = transformers.AutoModelForImageTextToText.from_pretrained(
                files.folder, dtype=self.dtype, **spread
            ).eval()
            if not spread:
                self.model.to(device)
        if not getattr(self.processor, "chat_template", None):
            raise InputError(f"{self.name} has no chat template, which prompts need. {ADVICE}")
        if self.send != "frames":
            self.send = "video" if self._takes_video() else self._without_video()

    def _takes_video(self) -> bool:
        if getattr(self.processor, "video_processor", None) is None:
            return False
        return self._prompt([{"type": "video"}]) != self._prompt([])

    def _without_video(self) -> str:
        if self.send == "video":
            if find_spec("torchvision") is None:
                raise missing([package("torchvision", "--send video")])
            raise InputError(
                f"the processor or chat template of {self.name} does not support video. Use --send frames."
            )
        if find_spec("torchvision") is None and not self.send:
            hint = f"Frames are sent as images; to send video to models that support it: {command_for('torchvision')}"
            self.remarks = (hint,)
        return "frames"

    @property
    def at_once(self) -> int:
        """Number of requests that are answered concurrently."""
        return self.batch

    @property
    def about(self) -> Mapping[str, Any]:
        """Properties that determine the answers, for the record of a run."""
        return {
            "transformers": self.name,
            "revision": self.revision,
            "dtype": str(self.model.dtype).removeprefix("torch."),
            "decoding": "greedy",
            "sent": self.send,
        }

    def _prompt(self, content: Sequence[Mapping[str, str]], text: str = "") -> str:
        message = {"role": "user", "content": [*content, {"type": "text", "text": text}]}
        return str(self.processor.apply_chat_template([message], add_generation_prompt=True, tokenize=False))

    def _content(self, view: View | None) -> list[dict[str, str]]:
        if view is None:
            return []
        if self.send == "video":
            return [{"type": "video"}]
        return [{"type": "text", "text": prompts()["frames"]}, *[{"type": "image"}] * len(view.pictures)]

    def inputs(self, *requests: Request) -> Any:
        """Return the model's inputs for requests with equal numbers of frames, as tensors by name.

        Raises:
            AnswerError: The processor fails.
        """
        import jinja2

        views = [request.view for request in requests if request.view is not None]
        options: dict[str, Any] = {}
        if views and self.send == "video":
            options["videos"] = [np.stack(view.pictures) for view in views]
            options |= {"video_metadata": [metadata_of(view) for view in views], "do_sample_frames": False}
        elif views:
            options["images"] = [list(view.pictures) for view in views]
        if len(requests) > 1:
            options |= {"padding": True, "padding_side": "left"}
        try:
            texts = [self._prompt(self._content(request.view), request.text) for request in requests]
            start = getattr(getattr(self.processor, "tokenizer", None), "bos_token", None)
            if start and texts[0].startswith(start):  # the template has already added it
                options["add_special_tokens"] = False
            return self.processor(text=texts, return_tensors="pt", **options).to(self.model.device)
        except (ValueError, TypeError, RuntimeError, IndexError, jinja2.TemplateError) as error:
            raise AnswerError(f"the processor of {self.name} fails: {first_line(error)}") from error

    def read(self, inputs: Mapping[str, Any]) -> None:
        """Run the model on a prompt, without generating an answer."""
        with self._torch.inference_mode():
            self.model(**inputs)

    async def reply(self, request: Request) -> Reply:
        """Generate an answer in this thread; see `Model.reply`."""
        answered: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, answered))
        if len(self._waiting) >= self.batch:
            await self.finish()
        return await answered

    async def finish(self) -> None:
        """Answer all waiting requests, in batches with equal numbers of frames."""
        groups: dict[int, list[tuple[Request, asyncio.Future[Reply]]]] = {}
        for item in self._waiting:
            view = item[0].view
            groups.setdefault(len(view.pictures) if view else 0, []).append(item)
        self._waiting = []
        for group in groups.values():
            self._answer(group)

    def _answer(self, waiting: Sequence[tuple[Request, asyncio.Future[Reply]]]) -> None:
        """Answer requests together, or one by one if that fails, for example for lack of memory."""
        try:
            inputs = self.inputs(*(request for request, _ in waiting))
            replies = self.generate(inputs, [request.max_tokens for request, _ in waiting])
        except AnswerError as error:
            if len(waiting) == 1:
                waiting[0][1].set_exception(error)
            else:
                for item in waiting:
                    self._answer([item])
        else:
            for (_, answered), reply in zip(waiting, replies, strict=True):
                answered.set_result(reply)

    def generate(self, inputs: Mapping[str, Any], max_tokens: Sequence[int]) -> list[Reply]:
        """Generate answers by greedy decoding, or raise AnswerError if the model fails."""
        try:
            with self._torch.inference_mode():
                sequences = self.model.generate(**inputs, max_new_tokens=max(max_tokens), do_sample=False, num_beams=1)
        except (ValueError, RuntimeError, IndexError) as error:
            raise AnswerError(f"{self.name} fails: {first_line(error)}") from error
        ends = getattr(self.model.generation_config, "eos_token_id", None)
        ends = ends if isinstance(ends, list) else [ends]
        start = 1 if self.model.config.is_encoder_decoder else inputs["input_ids"].shape[1]
        replies = []
        for row, mask, most in zip(sequences, inputs["attention_mask"], max_tokens, strict=True):
            tokens = row[start:].tolist()
            length = next((index + 1 for index, token in enumerate(tokens) if token in ends), len(tokens))
            new = tokens[: min(length, most)]
            replies.append(
                Reply(
                    text=self.processor.decode(new, skip_special_tokens=True),
                    cut=len(new) >= most and new[-1] not in ends,
                    input_tokens=int(mask.sum()),
                    output_tokens=len(new),
                )
            )
        return replies

    async def close(self) -> None:
        """Do nothing, because there are no connections."""


def metadata_of(view: View) -> dict[str, Any]:
    """Return the frame rate and times of a clip's frames, in the form that processors of transformers expect."""
    height, width = view.pictures[0].shape[:2]
    metadata: dict[str, Any] = {"total_num_frames": len(view.pictures), "height": height, "width": width}
    if view.timing is not None:
        metadata |= {
            "fps": view.timing.fps,
            "total_num_frames": view.timing.num_frames,
            "duration": view.timing.num_frames / view.timing.fps,
            "frames_indices": list(view.timing.positions),
        }
    return metadata


def load_processor(folder: Path) -> Any:
    """Load a model's processor, without its video part if torchvision is not installed.

    Raises:
        OSError: The processor does not exist.
        ImportError: The processor requires a missing package.
    """
    transformers = import_extra("transformers", what="--transformers", extra="probes")
    with suppress(ImportError, AttributeError):
        return transformers.AutoProcessor.from_pretrained(folder)
    config = transformers.AutoConfig.from_pretrained(folder)
    processor = transformers.models.auto.processing_auto.PROCESSOR_MAPPING[type(config)]

    class PicturesOnly(processor):  # type: ignore[misc, valid-type]
        """The processor without its video part."""

        def check_argument_for_proper_class(self, argument_name: str, argument: Any) -> Any:
            if argument_name == "video_processor":
                return None
            return super().check_argument_for_proper_class(argument_name, argument)

    settings, _ = PicturesOnly.get_processor_dict(folder)
    parts = {
        "image_processor": transformers.AutoImageProcessor.from_pretrained(folder),
        "tokenizer": transformers.AutoTokenizer.from_pretrained(folder),
    }
    known = {*inspect.signature(processor.__init__).parameters} - {*parts, "video_processor"}
    further = {key: value for key, value in settings.items() if key in known}
    return PicturesOnly(**parts, **{"chat_template": parts["tokenizer"].chat_template, **further})

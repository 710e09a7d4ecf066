"""A transformers model that runs in this process, with its chat template and greedy decoding."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.errors import InputError, UsageError
from ...core.extras import import_extra
from ..tasks import prompts
from .models import AnswerError, Reply, Request


@dataclass
class LocalModel:
    """An image-text or video-text model of transformers.

    Attributes:
        name: A folder, or a name on the Hub.
        revision: A commit, tag or branch on the Hub; "" for the newest.
        device: For example "cpu" or "cuda:0"; "" for a GPU if there is one.
        dtype: For example "bfloat16"; "auto" for that of the weights.
    """

    name: str
    revision: str = ""
    device: str = ""
    dtype: str = "auto"
    at_once: int = 1

    def __post_init__(self) -> None:
        """Load the model.

        Raises:
            UsageError: The folder, device or dtype does not exist.
            InputError: Packages are missing, or the model cannot be loaded.
        """
        self._torch = torch = import_extra("torch", what="--transformers", extra="probes")
        transformers = import_extra("transformers", what="--transformers", extra="probes")
        transformers.utils.logging.disable_progress_bar()
        if self.name.startswith("~"):
            self.name = str(Path(self.name).expanduser())
        if self.name.startswith((".", "/")) and not Path(self.name).is_dir():
            raise UsageError(f"--transformers: there is no folder {self.name}.")
        dtype = getattr(torch, self.dtype, None)
        if self.dtype != "auto" and not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
            raise UsageError(f"--dtype {self.dtype!r}: allowed are auto, float32, float16 and bfloat16.")
        try:
            device = torch.device(self.device or ("cuda" if torch.cuda.is_available() else "cpu"))
            torch.empty(0, device=device)
        except (RuntimeError, AssertionError) as error:
            raise UsageError(f"--device {self.device!r} cannot be used: {_line(error)}.") from None
        named = {"revision": self.revision} if self.revision else {}
        unsafe = import_extra("safetensors", what="--transformers", extra="probes").SafetensorError
        try:
            self.processor = load_processor(self.name, **named)
            self.model = transformers.AutoModelForImageTextToText.from_pretrained(self.name, dtype=self.dtype, **named)
            self.model.to(device).eval()
        except (OSError, ValueError, ImportError, KeyError, RuntimeError, unsafe) as error:
            raise InputError(
                f"--transformers {self.name!r} cannot be loaded: {_line(error)}. Give a folder, or the Hub name, of a "
                "model for images and text (AutoModelForImageTextToText)."
            ) from error
        if not getattr(self.processor, "chat_template", None):
            raise InputError(
                f"--transformers {self.name!r} has no chat template, which prompts need. Give an instruction-tuned "
                "model."
            )

    @property
    def about(self) -> Mapping[str, Any]:
        """What determines the answers, for the record."""
        return {
            "transformers": self.name,
            "revision": getattr(self.model.config, "_commit_hash", None) or self.revision,
            "dtype": str(self.model.dtype).removeprefix("torch."),
            "decoding": "greedy",
        }

    def inputs(self, request: Request) -> Any:
        """Return the model's inputs for a request, as tensors by name.

        Raises:
            AnswerError: The processor fails.
        """
        import jinja2

        pictures = list(request.view.pictures) if request.view else []
        content: list[dict[str, str]] = [{"type": "text", "text": prompts()["frames"]}] * bool(pictures)
        content += [{"type": "image"}] * len(pictures)
        message = {"role": "user", "content": [*content, {"type": "text", "text": request.text}]}
        try:
            text = self.processor.apply_chat_template([message], add_generation_prompt=True, tokenize=False)
            given: dict[str, Any] = {"images": pictures} if pictures else {}
            start = getattr(getattr(self.processor, "tokenizer", None), "bos_token", None)
            if start and text.startswith(start):  # the template has put it there already
                given["add_special_tokens"] = False
            return self.processor(text=[text], return_tensors="pt", **given).to(self.model.device)
        except (ValueError, TypeError, RuntimeError, IndexError, jinja2.TemplateError) as error:
            raise AnswerError(f"the processor of {self.name} fails: {_line(error)}") from error

    def read(self, inputs: Mapping[str, Any]) -> None:
        """Run the model on a prompt without generating an answer."""
        with self._torch.inference_mode():
            self.model(**inputs)

    async def reply(self, request: Request) -> Reply:
        """Generate an answer, in this thread: see `Model.reply`."""
        return self.generate(self.inputs(request), request.max_tokens)

    def generate(self, inputs: Mapping[str, Any], max_tokens: int) -> Reply:
        """Generate an answer greedily.

        Args:
            inputs: Result of `inputs`.
            max_tokens: Longest answer.

        Raises:
            AnswerError: The model fails.
        """
        try:
            with self._torch.inference_mode():
                found = self.model.generate(**inputs, max_new_tokens=max_tokens, do_sample=False, num_beams=1)
        except (ValueError, RuntimeError, IndexError) as error:
            raise AnswerError(f"{self.name} fails: {_line(error)}") from error
        asked = inputs["input_ids"].shape[1]
        new = found[0] if self.model.config.is_encoder_decoder else found[0, asked:]
        ends = getattr(self.model.generation_config, "eos_token_id", None)
        ended = len(new) > 0 and int(new[-1]) in (ends if isinstance(ends, list) else [ends])
        return Reply(
            text=self.processor.decode(new, skip_special_tokens=True),
            cut=len(new) >= max_tokens and not ended,
            input_tokens=asked,
            output_tokens=len(new),
        )

    async def close(self) -> None:
        """Do nothing: there are no connections."""


def load_processor(name: str, **named: Any) -> Any:
    """Load a model's processor. Without torchvision its video part is left out, since frames are passed as pictures.

    Raises:
        OSError: The processor does not exist.
        ImportError: It cannot work without the missing packages.
    """
    transformers = import_extra("transformers", what="--transformers", extra="probes")
    with suppress(ImportError, AttributeError):
        return transformers.AutoProcessor.from_pretrained(name, **named)
    config = transformers.AutoConfig.from_pretrained(name, **named)
    mapping = transformers.models.auto.processing_auto.PROCESSOR_MAPPING
    processor = mapping[type(config)]

    class PicturesOnly(processor):  # type: ignore[misc, valid-type]
        """The processor without the part that reads videos."""

        def check_argument_for_proper_class(self, argument_name: str, argument: Any) -> Any:
            if argument_name == "video_processor":
                return None
            return super().check_argument_for_proper_class(argument_name, argument)

    said, _ = PicturesOnly.get_processor_dict(name, **named)
    parts = {
        "image_processor": transformers.AutoImageProcessor.from_pretrained(name, **named),
        "tokenizer": transformers.AutoTokenizer.from_pretrained(name, **named),
    }
    known = inspect.signature(processor.__init__).parameters
    further = {key: value for key, value in said.items() if key in known and key not in (*parts, "video_processor")}
    return PicturesOnly(**parts, **{"chat_template": parts["tokenizer"].chat_template, **further})


def _line(error: BaseException) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__).rstrip(".")

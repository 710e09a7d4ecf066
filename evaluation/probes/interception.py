"""Intercept softmax in the attention of a torch model, for `quag` and `captured_attention`.

A torch function mode intercepts every call of softmax, and hooks identify the calling attention module. Calls elsewhere
(routers, samplers, pooling heads) and calls whose last two axes match no labels are not changed. Fused kernels never
call softmax: transformers models are switched to eager attention, `scaled_dot_product_attention` is computed in steps,
and `multi_head_attention_forward` is run with its inner calls visible.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from ...core.errors import ProbeError, UsageError
from .labels import Labels, Streams
from .layers import shown
from .quadrants import NEITHER, LayerTally, Quadrants, QuagReport, quadrant_name

Tensor = torch.Tensor
Module = torch.nn.Module

SOFTMAX: Mapping[Callable[..., Any], int] = {
    torch.softmax: 2,
    torch.special.softmax: 2,
    torch.Tensor.softmax: 2,
    functional.softmax: 3,
}
"""Functions that compute softmax, with the position of their argument `dtype`."""


@dataclass(frozen=True)
class Operation:
    """An operator of QUAG, with the quadrants and heads to which it is applied."""

    quadrants: Quadrants
    operator: str
    heads: frozenset[int] | None
    hidden_below: float | None
    measure: bool

    def __call__(self, scores: Tensor, weights: Tensor, grid: Grid, tally: LayerTally) -> Tensor:
        """Change weights (batch, heads, queries, keys), the softmax of the scores, and update the tally."""
        lowest = torch.finfo(scores.dtype).min / 2 if self.hidden_below is None else self.hidden_below
        visible = scores > lowest
        if visible.shape[1] > 1 and bool((visible == visible[:, :1]).all()):  # typical of masks: one head is enough
            visible = visible[:, :1]
        wide = torch.promote_types(weights.dtype, torch.float32)
        before = weights.to(wide)
        after = self._operate(scores.to(wide), before, visible, grid, tally)
        if after is not before and self.heads is not None:
            after = torch.where(self._heads(weights), after, before)
        if self.measure:
            measure(before.detach(), after.detach(), visible, grid, tally)
        return weights if after is before else after.to(weights.dtype)

    def _operate(self, scores: Tensor, weights: Tensor, visible: Tensor, grid: Grid, tally: LayerTally) -> Tensor:
        parts = grid.parts(self.quadrants)
        if not parts:
            return weights
        if self.operator == "knockout":
            cells = visible & torch.stack([part.cells for part in parts]).any(0)
            kept = visible & ~cells
            touched, emptied = cells.any(-1, keepdim=True), ~kept.any(-1, keepdim=True)
            tally.emptied += int((touched & emptied & self._heads(weights)).sum())
            kept_weights = torch.softmax(scores.masked_fill(~kept, -torch.inf), -1)
            return torch.where(touched, kept_weights.masked_fill(emptied, 0), weights)
        averaged = scores.masked_fill(~visible, 0) if self.operator == "merge" else weights
        values = scores if self.operator == "merge" else weights
        visible_cells = visible.to(averaged.dtype)
        for part in parts:
            values = torch.where(
                part.cells & visible, part.sums(averaged) / part.sums(visible_cells).clamp(min=1), values
            )
        return torch.softmax(values, -1) if self.operator == "merge" else values

    def _heads(self, weights: Tensor) -> Tensor:
        count = weights.shape[1]
        chosen = torch.ones(count, dtype=torch.bool) if self.heads is None else torch.zeros(count, dtype=torch.bool)
        for head in self.heads or ():
            if not 0 <= head < count:
                raise UsageError(f"head {head} does not exist: heads are 0 to {count - 1}.")
            chosen[head] = True
        return chosen.to(weights.device)[None, :, None, None]


@dataclass(frozen=True)
class QuadrantCells:
    """Cells of several quadrants, with at most one quadrant in each row, so that each row has a single mean.

    Attributes:
        cells: Booleans of shape (batch or 1, 1, queries, keys).
        which: 1 where a row has cells with keys of a label, shape (batch or 1, 1, queries, labels).
        indicator: 1 where a key has a label, shape (batch or 1, 1, keys, labels).
    """

    cells: Tensor
    which: Tensor
    indicator: Tensor

    def sums(self, values: Tensor) -> Tensor:
        """Sum values (batch, heads, queries, keys) over the keys of each row's quadrant, including masked keys."""
        by_label = values @ self.indicator.to(values.dtype)
        return (by_label * self.which.to(values.dtype)).sum(-1, keepdim=True)


@dataclass
class Grid:
    """Labels of a layer's queries and keys as tensors, (batch or 1, 1, queries, 1) and (batch or 1, 1, 1, keys)."""

    queries: Tensor
    keys: Tensor
    parts_by_quadrants: dict[Quadrants, list[QuadrantCells]] = field(default_factory=dict)

    @classmethod
    def of(cls, labels: tuple[Labels, Labels], device: torch.device) -> Grid:
        """Create a grid on a device from the labels of queries and keys."""
        queries, keys = (torch.from_numpy(np.ascontiguousarray(axis)).to(device) for axis in labels)
        return cls(queries[:, None, :, None], keys[:, None, None, :])

    def parts(self, quadrants: Quadrants) -> list[QuadrantCells]:
        """Divide quadrants into sets with at most one quadrant per row, omitting quadrants that do not occur."""
        if quadrants not in self.parts_by_quadrants:
            key_labels = present(self.keys)
            keys_of = {
                query: [key for key in key_labels if (query, key) in quadrants] for query in present(self.queries)
            }
            longest = max(map(len, keys_of.values()), default=0)
            self.parts_by_quadrants[quadrants] = [
                self._part({query: keys[index] for query, keys in keys_of.items() if index < len(keys)})
                for index in range(longest)
            ]
        return self.parts_by_quadrants[quadrants]

    def _part(self, key_of: Mapping[int, int]) -> QuadrantCells:
        keys = sorted(set(key_of.values()))
        indicator = torch.cat([self.keys == key for key in keys], dim=-2)
        rows = [torch.tensor([query for query, key_label in key_of.items() if key_label == key]) for key in keys]
        which = torch.cat([torch.isin(self.queries, labels.to(self.queries.device)) for labels in rows], dim=-1)
        cells = torch.stack([which[..., [index]] & (self.keys == key) for index, key in enumerate(keys)]).any(0)
        return QuadrantCells(cells, which, indicator.transpose(-1, -2))


def measure(before: Tensor, after: Tensor, visible: Tensor, grid: Grid, tally: LayerTally) -> None:
    """Add the attention in each quadrant to the tally, counting labelled rows that have a visible key."""
    alive = (visible.any(-1, keepdim=True) & (grid.queries != NEITHER)).expand(*before.shape[:-1], 1)
    tally.rows += float(alive.sum())
    keys = [label for label in present(grid.keys) if label != NEITHER]
    if not keys:
        return
    indicator = torch.cat([grid.keys == label for label in keys], dim=-2).to(before.dtype).transpose(-1, -2)
    has_visible_key = (visible.to(before.dtype) @ indicator) > 0
    before_by_label = before @ indicator
    after_by_label = before_by_label if after is before else after @ indicator
    for query in (label for label in present(grid.queries) if label != NEITHER):
        rows = alive & (grid.queries == query)
        sums = [
            (rows * values).sum(dim=(0, 1, 2)).tolist() for values in (has_visible_key, before_by_label, after_by_label)
        ]
        for index, key in enumerate(keys):
            tally.add((query, key), *(sums_of_label[index] for sums_of_label in sums))
    if after is not before:
        tally.moved += float(((after - before).abs().sum(-1, keepdim=True) * alive).sum()) / 2


def present(labels: Tensor) -> list[int]:
    """Return the sorted labels that occur in a tensor."""
    return sorted(set(labels.flatten().tolist()))


ACTIVE: list[AttentionInterception] = []


class AttentionInterception(TorchFunctionMode):
    """The context manager that `quag` returns."""

    def __init__(self, model: Module, operation: Operation, streams: Streams, layers: dict[str, Module]):
        super().__init__()
        self.model, self.operation, self.streams, self.layers = model, operation, streams, layers
        self.report = QuagReport(
            operation.operator,
            tuple(quadrant_name(quadrant) for quadrant in sorted(operation.quadrants)),
            {name: LayerTally(name) for name in layers},
        )
        self.running: list[tuple[str, list[bool]]] = []
        self.grids: dict[tuple[Any, ...], Grid | None] = {}
        self.shared: dict[tuple[Any, ...], Grid] = {}
        self.depth = 0
        self.undo = ExitStack()

    def __enter__(self) -> QuagReport:
        self.depth += 1
        if self.depth == 1:
            if any(set(probe.layers.values()) & set(self.layers.values()) for probe in ACTIVE):
                raise UsageError(
                    "quag and captured_attention blocks on the same model cannot be nested. Leave the outer block "
                    "first."
                )
            with ExitStack() as stack:
                ACTIVE.append(self)
                stack.callback(ACTIVE.remove, self)
                stack.enter_context(eager_attention(self.model))
                for name, module in self.layers.items():
                    begin, end = self._hooks(name)
                    stack.callback(module.register_forward_pre_hook(begin).remove)
                    stack.callback(module.register_forward_hook(end, always_call=True).remove)
                self.undo = stack.pop_all()
        super().__enter__()  # type: ignore[no-untyped-call]
        return self.report

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        super().__exit__(kind, error, trace)  # type: ignore[no-untyped-call]
        self.depth -= 1
        if self.depth == 0:
            self.undo.close()
            self.running.clear()
            if kind is None:
                self._refuse_unreached()

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if self.running:
            if func in SOFTMAX:
                return self._softmax(func, args, kwargs)
            if func is functional.scaled_dot_product_attention:
                with self:
                    return attention_in_steps(*args, **kwargs)
            if func is functional.multi_head_attention_forward:
                with self:
                    return LOOKED_INTO(*args, **kwargs)
        return func(*args, **kwargs)

    def _softmax(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
        weights: Tensor = func(*args, **kwargs)
        scores: Tensor = args[0] if args else kwargs["input"]
        axis = args[1] if len(args) > 1 else kwargs.get("dim")
        if axis not in (-1, weights.ndim - 1) or weights.ndim not in (3, 4):
            return weights
        return self._reached(scores, weights)

    def _reached(self, scores: Tensor, weights: Tensor) -> Tensor:
        name, reached = self.running[-1]
        tally = self.report.tallies[name]
        batch, queries, keys = weights.shape[0], *weights.shape[-2:]
        grid = self._grid(name, batch, queries, keys, weights.device, folded=weights.ndim == 3)
        if grid is None:
            tally.other.add(tuple(weights.shape))
            return weights
        reached.append(True)
        shape = weights.shape
        if weights.ndim == 3:  # batch and heads are merged into one axis
            folded = (max(len(grid.queries), len(grid.keys)), -1, *shape[1:])
            return self.operation(scores.reshape(folded), weights.reshape(folded), grid, tally).reshape(shape)
        return self.operation(scores, weights, grid, tally)

    def _grid(
        self, name: str, batch: int, queries: int, keys: int, device: torch.device, *, folded: bool = False
    ) -> Grid | None:
        grid_key = (name, batch, queries, keys, device, folded)
        if grid_key not in self.grids:
            labels = self.streams.match(name, batch, queries, keys, folded=folded)
            self.grids[grid_key] = None if labels is None else self._shared(labels, device)
        return self.grids[grid_key]

    def _shared(self, labels: tuple[Labels, Labels], device: torch.device) -> Grid:
        grid_key = (device, *(item for axis_labels in labels for item in (axis_labels.shape, axis_labels.tobytes())))
        return self.shared.setdefault(grid_key, Grid.of(labels, device))

    def _hooks(self, name: str) -> tuple[Callable[..., None], Callable[..., None]]:
        def begin(module: Module, inputs: Any) -> None:
            self.running.append((name, []))

        def end(module: Module, inputs: Any, output: Any) -> None:
            if self.running:
                _, reached = self.running.pop()
                self.report.tallies[name].runs += 1
                self.report.tallies[name].hits += bool(reached)

        return begin, end

    def _refuse_unreached(self) -> None:
        tallies = self.report.tallies.values()
        not_run = [tally.name for tally in tallies if not tally.runs]
        not_reached = [tally for tally in tallies if tally.hits < tally.runs]
        if len(not_run) == len(tallies):
            raise ProbeError(f"{type(self.model).__name__} did not run within the block: {shown(not_run)}.")
        if not_reached:
            shapes = sorted({shape for tally in not_reached for shape in tally.other})
            why = (
                f"their softmax has the shapes {', '.join(map(str, shapes[:8]))}, the labels {self.streams.lengths()}. "
                "Pass labels that match, or select other modules with `layers`."
                if shapes
                else "they call no softmax that torch exposes (a fused or compiled kernel, or their own formula). "
                "Use eager attention, or select other modules with `layers`."
            )
            counts = shown([f"{tally.name} ({tally.hits} of {tally.runs} runs)" for tally in not_reached])
            raise ProbeError(f"{type(self.model).__name__}: attention was not reached in {counts}: {why}")
        if not_run:
            raise ProbeError(
                f"{type(self.model).__name__}: these layers did not run within the block: {shown(not_run)}. Select "
                "other modules with `layers`."
            )


def attention_in_steps(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Compute `scaled_dot_product_attention` with a separate softmax that can be intercepted."""
    if enable_gqa:
        key, value = (heads.repeat_interleave(query.shape[-3] // heads.shape[-3], -3) for heads in (key, value))
    scores = query @ key.transpose(-1, -2) * (query.shape[-1] ** -0.5 if scale is None else scale)
    lowest = torch.finfo(scores.dtype).min
    if is_causal:
        attn_mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
    if attn_mask is None:
        hidden = None
    elif attn_mask.dtype == torch.bool:
        hidden = ~attn_mask
        scores = scores.masked_fill(hidden, lowest)
    else:
        scores = scores + attn_mask
        hidden = scores <= lowest / 2
    weights = torch.softmax(scores, -1)
    if hidden is not None:  # a row without visible keys yields 0 there
        weights = weights.masked_fill(hidden.all(-1, keepdim=True), 0)
    return functional.dropout(weights, dropout_p) @ value


def _looked_into(function: Any) -> Callable[..., Any]:
    """Copy a function of `torch.nn.functional` so that function modes see its inner calls, but not the call itself."""
    namespace = {**function.__globals__, "has_torch_function": lambda tensors: False}
    copy = types.FunctionType(
        function.__code__, namespace, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


LOOKED_INTO = _looked_into(functional.multi_head_attention_forward)


@contextmanager
def eager_attention(model: Module) -> Iterator[None]:
    """Switch all transformers models inside a model to eager attention within a `with` block."""
    models: list[Any] = [
        submodel for submodel in model.modules() if callable(getattr(submodel, "set_attn_implementation", None))
    ]
    configs: dict[int, Any] = {}
    pending = [submodel.config for submodel in models]
    while pending:
        config = pending.pop()
        if config is not None and id(config) not in configs:
            configs[id(config)] = config
            pending += [getattr(config, key, None) for key in getattr(config, "sub_configs", {})]
    before = [(config, config._attn_implementation) for config in configs.values()]
    try:
        for submodel in models:  # each sets its submodels as well
            can_switch = getattr(submodel, "_can_set_attn_implementation", lambda: True)
            if can_switch() and submodel.config._attn_implementation != "eager":
                submodel.set_attn_implementation("eager")
        yield
    finally:
        for config, implementation in before:
            config._attn_implementation_internal = implementation


NOTHING = Operation(frozenset(), "capture", heads=None, hidden_below=None, measure=False)


class AttentionCapture(AttentionInterception):
    """Records the softmax output of layers without changing it."""

    def __init__(self, model: torch.nn.Module, layers: dict[str, torch.nn.Module], batch: int):
        super().__init__(model, NOTHING, Streams([], None), layers)
        self.batch = batch
        self.maps: dict[str, list[NDArray[np.float32]]] = {name: [] for name in layers}

    def _reached(self, scores: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        name, reached = self.running[-1]
        if reached:
            raise ProbeError(
                f"{name or 'the model itself'} calls softmax more than once in a run, as encoders do that process "
                "images one by one, so it has no single attention map. Select other modules with `layers`."
            )
        reached.append(True)
        maps = weights.detach().to("cpu", torch.float32, copy=True)
        if maps.ndim == 3:  # batch and heads are merged into one axis
            if len(maps) % self.batch:
                raise UsageError(
                    f"{name or 'the model itself'} merges batch and heads into one axis of length {len(maps)}, which "
                    f"is not a multiple of batch={self.batch}. Set `batch` to the number of items in a run."
                )
            maps = maps.reshape(self.batch, -1, *maps.shape[1:])
        self.maps[name].append(maps.numpy())
        return weights

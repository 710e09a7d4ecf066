"""What may become a wrong option of a question: answers of its own split, and answers carried over to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.seeds import rng_for
from ..language.cast import Cast
from ..language.text_key import text_key
from ..language.words import Caption
from .confuser import Confuser
from .effects import may_be_right
from .entities import Entity, entities
from .predicates import Restated, find_restated
from .search import nearest_to
from .style import plain_style
from .transfer import Roles, carry_over, read_roles

Floats = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Floats]

CARRIED = 72  # questions whose answers are carried over
RESTATING = 16  # and more whose answers say again what they ask
OWN = 12  # questions of the same pool whose answers are taken as they are
FEW = 4  # with fewer, those that may be right are taken too
FEWEST = 16  # candidates of a row at the least, if its pool has as many
ALIKE = 10  # rows that ask the very same and are looked at
SOMEBODY = "somebody"


@dataclass(frozen=True)
class QuestionRow:
    """A question with what is right.

    Attributes:
        id: Unique.
        question: The question.
        texts: What is right, by kind: "answer", and "explanation" if there is one.
        pool: Rows lend their texts, as they are, inside a pool only, such as a split.
        group: What belongs together, such as the rows of a video.
        split: Its split.
    """

    id: str
    question: str
    texts: Mapping[str, str]
    pool: str = ""
    group: str = ""
    split: str = ""


@dataclass(frozen=True)
class Candidate:
    """What may become a wrong option.

    Attributes:
        source: The row whose right texts these are, or were before they were carried over.
        texts: By kind.
    """

    source: int
    texts: Mapping[str, str]


class Candidates:
    """Makes the candidates of every row.

    Attributes:
        rows: The rows, their texts in one style.
        texts: By kind, the right texts.
    """

    def __init__(
        self,
        rows: Sequence[QuestionRow],
        reader: Confuser,
        embed: Embed,
        *,
        seed: int,
        same_question: float,
        kept_apart: Mapping[str, Sequence[str]],
        one_style: bool = True,
    ):
        """Read all questions and texts, and find for each question those that ask alike."""
        names = reader.cast.names
        self._styled = (lambda text: plain_style(text, names)) if one_style else (lambda text: text)
        self.rows = [
            QuestionRow(r.id, r.question, {k: self._styled(t) for k, t in r.texts.items()}, r.pool, r.group, r.split)
            for r in rows
        ]
        self.kinds = tuple(rows[0].texts) if rows else ()
        self._cast, self._seed, self._limit = reader.cast, seed, same_question
        asked = [reader.read(row.question) for row in self.rows]
        self._roles: list[Roles] = [read_roles(caption, reader.cast) for caption in asked]
        self._captions = {kind: [reader.read(row.texts[kind]) for row in self.rows] for kind in self.kinds}
        self._found: dict[str, list[tuple[Entity, ...]]] = {
            kind: [tuple(entities(caption, reader.cast)) for caption in captions]
            for kind, captions in self._captions.items()
        }
        self._restated: dict[str, list[Restated | None]] = {
            kind: [
                find_restated(caption, roles.predicate, roles.subject.key[-1])
                if roles.predicate and roles.subject
                else None
                for caption, roles in zip(captions, self._roles, strict=True)
            ]
            for kind, captions in self._captions.items()
        }
        place = {row.id: number for number, row in enumerate(self.rows)}
        self._apart = [
            frozenset(place[other] for other in kept_apart.get(row.id, ()) if other in place) for row in rows
        ]
        self.questions = embed([row.question for row in self.rows])
        bare = [_without_people(caption, reader.cast) for caption in asked]
        ids = [row.id for row in self.rows]
        self._alike = _Alike(bare, embed, ids, seed, range(len(rows)))
        restating = [row for row in range(len(rows)) if any(places[row] for places in self._restated.values())]
        self._restating = _Alike(bare, embed, ids, seed, restating)
        pools: dict[str, list[int]] = {}
        for number in sorted(range(len(rows)), key=lambda n: rows[n].id):
            pools.setdefault(rows[number].pool, []).append(number)
        self._pools = pools
        self._near_own: dict[int, list[int]] = {}
        for members in pools.values():
            vectors = self.questions[members]
            near = nearest_to(vectors, vectors, min(4 * OWN, len(members)))
            for own, others in zip(members, near.tolist(), strict=True):
                self._near_own[own] = [members[other] for other in others]

    def of(self, row: int) -> list[Candidate]:
        """Return the candidates of a row, each different from the others and from what is right; doubtful ones last."""
        asked = self.rows[row]
        right = {kind: text_key(text) for kind, text in asked.texts.items()}
        found: dict[tuple[str, ...], Candidate] = {}
        doubtful: dict[tuple[str, ...], Candidate] = {}

        def offer(source: int, texts: Mapping[str, str]) -> None:
            keys = tuple(text_key(texts[kind]) for kind in self.kinds)
            if keys in found or any(key == right[kind] for kind, key in zip(self.kinds, keys, strict=True)):
                return
            candidate = Candidate(source, dict(texts))
            for kind, text in texts.items():
                others = (asked.texts[other] for other in self.kinds if other != kind)
                if may_be_right(text, asked.question, (asked.texts[kind], *others)):
                    doubtful.setdefault(keys, candidate)
                    return
            found[keys] = candidate

        def carry(source: int, inject: bool = False, restate: bool = False) -> None:
            texts = self.carried(source, row, inject, restate)
            if texts is None:
                return
            lender = self.rows[source]
            same = any(text_key(texts[kind]) == text_key(lender.texts[kind]) for kind in self.kinds)
            if not same or lender.pool == asked.pool:  # else it is a text of another split, as it is
                offer(source, texts)

        for source in self._sources(row, self._alike, CARRIED):
            carry(source)
            carry(source, inject=True)
        if self._roles[row].predicate:
            for source in self._sources(row, self._restating, RESTATING):
                carry(source, restate=True)
        own = [other for other in self._near_own[row] if self._may_lend(row, other)]
        for other in own[:OWN]:
            offer(other, self.rows[other].texts)
        if len(found) < FEWEST:
            members = self._pools[asked.pool]
            for number in rng_for(self._seed, "candidates", asked.id).permutation(len(members)).tolist():
                if len(found) >= FEWEST:
                    break
                if self._may_lend(row, members[number]):
                    offer(members[number], self.rows[members[number]].texts)
        return [*found.values(), *list(doubtful.values())[: max(0, FEW - len(found))]]

    def carried(self, source: int, row: int, inject: bool = False, restate: bool = False) -> dict[str, str] | None:
        """Return the texts of one row carried over to another; None where that cannot be done.

        Args:
            source: The row whose texts they are.
            row: The other one.
            inject: As for `carry_over`.
            restate: Whether what they say again of their question becomes what the other question says.
        """
        found = {}
        for kind in self.kinds:
            text = carry_over(
                self._captions[kind][source],
                self._found[kind][source],
                self._roles[source],
                self._roles[row],
                inject=inject,
                restated=self._restated[kind][source] if restate else None,
            )
            if text is None:
                return None
            found[kind] = self._styled(text) if restate else text
        return found

    def _sources(self, row: int, alike: _Alike, most: int) -> Iterator[int]:
        number = 0
        for other in alike.of(row):
            if number == most:
                return
            if self._may_lend(row, other):
                number += 1
                yield other

    def _may_lend(self, row: int, other: int) -> bool:
        if other == row or other in self._apart[row]:
            return False
        cosine = float(self.questions[row].astype(np.float64) @ self.questions[other].astype(np.float64))
        return round(cosine, 4) < self._limit


class _Alike:
    """Some rows in the order in which their questions are like one's own, whoever they are about."""

    def __init__(self, bare: Sequence[str], embed: Embed, ids: Sequence[str], seed: int, lenders: Sequence[int]):
        self._asks: dict[str, list[int]] = {}
        for row in sorted(lenders, key=lambda row: ids[row]):
            self._asks.setdefault(bare[row], []).append(row)
        every = sorted(set(bare))
        self._distinct, self._bare, self._ids, self._seed = list(self._asks), bare, ids, seed
        self._number = {text: number for number, text in enumerate(every)}
        vectors = embed(every)
        lending = vectors[[self._number[text] for text in self._distinct]]
        self._near = nearest_to(vectors, lending, min(2 * CARRIED, len(lending)))

    def of(self, row: int) -> Iterator[int]:
        """Yield rows, the most alike first; of those that ask the very same a few, drawn."""
        text = self._bare[row]
        for other in (self._distinct[n] for n in self._near[self._number[text]].tolist()):
            members = self._asks[other]
            if len(members) > ALIKE:
                rng = rng_for(self._seed, "alike", self._ids[row], other)
                members = [members[n] for n in rng.permutation(len(members))[: ALIKE + 1].tolist()]
            yield from members


def _without_people(caption: Caption, cast: Cast) -> str:
    changes: dict[int, str] = {}
    for entity in entities(caption, cast):
        changes[entity.first] = SOMEBODY
        changes |= dict.fromkeys(range(entity.first + 1, entity.stop), "")
    return caption.edit(changes)

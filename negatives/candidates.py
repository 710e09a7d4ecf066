"""Candidate distractors of a question: answers from its pool, and answers adapted from other questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ..core.seeds import rng_for
from ..language.cast import Cast
from ..language.text_key import text_key
from ..language.words import Caption
from .confuser import Confuser
from .effects import may_be_right
from .entities import entities
from .options import COSINE_DIGITS, Embed, QuestionRow
from .predicates import find_restated
from .search import nearest
from .style import plain_style
from .transfer import Roles, carry_over, read_roles

DONORS = 72  # questions whose answers are adapted
RESTATING = 16  # additional ones whose answers restate their question
OWN = 12  # questions in the same pool whose answers are used unchanged
FEW = 4  # threshold below which doubtful candidates are added
FEWEST = 16  # minimum candidates per row, if the pool is large enough
SAME_WORDING = 10  # donors among questions with the same wording
SOMEBODY = "somebody"
REMEMBERED = 1 << 18  # cached adapted texts

folded = lru_cache(maxsize=REMEMBERED)(text_key)


@dataclass(frozen=True)
class Candidate:
    """A candidate distractor.

    Attributes:
        source: Number of the row whose correct texts these are, or from which they were adapted.
        texts: Texts by target.
    """

    source: int
    texts: Mapping[str, str]


class AdaptableTexts:
    """The parsed texts of all questions, and their adaptations to other questions.

    Nothing in this class depends on splits, so several divisions of the same questions can share an instance.

    Attributes:
        texts: Correct texts of each row by target, in one style if requested.
        roles: Roles in the question of each row.
        wordings: Question of each row without the names of people.
        restating: Numbers of the rows with a text that restates the question.
    """

    def __init__(self, rows: Sequence[QuestionRow], confuser: Confuser, *, one_style: bool):
        """Parse all questions and texts."""
        names, cast = confuser.cast.names, confuser.cast
        self._styled = (lambda text: plain_style(text, names)) if one_style else (lambda text: text)
        self.texts = [{target: self._styled(text) for target, text in row.texts.items()} for row in rows]
        self.targets = tuple(rows[0].texts) if rows else ()
        asked = [confuser.read(row.question) for row in rows]
        self.roles = [read_roles(caption, cast) for caption in asked]
        self.wordings = [_without_people(caption, cast) for caption in asked]
        self._captions = [[confuser.read(texts[target]) for target in self.targets] for texts in self.texts]
        self._found = [[tuple(entities(caption, cast)) for caption in some] for some in self._captions]
        self._restated = [
            [
                find_restated(caption, roles.predicate, roles.subject.key[-1])
                if roles.predicate and roles.subject
                else None
                for caption in some
            ]
            for some, roles in zip(self._captions, self.roles, strict=True)
        ]
        self.restating = [row for row, places in enumerate(self._restated) if any(places)]
        # Many questions have the same roles, so a text is adapted once for all of them.
        self._numbers: dict[Roles, int] = {}
        self._plain = [self._number(replace(roles, predicate=None)) for roles in self.roles]
        self._full = [self._number(roles) for roles in self.roles]
        self._distinct = list(self._numbers)
        self._adapted = lru_cache(maxsize=REMEMBERED)(self._adapt)

    def _number(self, roles: Roles) -> int:
        return self._numbers.setdefault(roles, len(self._numbers))

    def adapted(self, source: int, row: int, *, inject: bool = False, restate: bool = False) -> dict[str, str] | None:
        """Return the texts of one row adapted to the question of another; None if that is impossible.

        Args:
            source: The row to which the texts belong.
            row: The other row.
            inject: See `transfer.carry_over`.
            restate: Whether to replace the part that restates the donor's question with the predicate of the other
                question.
        """
        texts = self._adapted(source, (self._full if restate else self._plain)[row], inject, restate)
        return None if texts is None else dict(zip(self.targets, texts, strict=True))

    def _adapt(self, source: int, number: int, inject: bool, restate: bool) -> tuple[str, ...] | None:
        found = []
        for caption, named, restated in zip(
            self._captions[source], self._found[source], self._restated[source], strict=True
        ):
            text = carry_over(
                caption,
                named,
                self.roles[source],
                self._distinct[number],
                inject=inject,
                restated=restated if restate else None,
            )
            if text is None:
                return None
            found.append(self._styled(text) if restate else text)
        return tuple(found)


class Candidates:
    """The candidates of every row."""

    def __init__(
        self,
        rows: Sequence[QuestionRow],
        adaptable: AdaptableTexts,
        embed: Embed,
        *,
        seed: int,
        same_question: float,
        kept_apart: Mapping[str, Sequence[str]],
    ):
        """Find questions of similar wording for each question."""
        self.rows, self._adaptable, self._seed, self._limit = rows, adaptable, seed, same_question
        place = {row.id: number for number, row in enumerate(rows)}
        self._apart = [
            frozenset(place[other] for other in kept_apart.get(row.id, ()) if other in place) for row in rows
        ]
        self.questions = embed([row.question for row in rows])
        self._exact = self.questions.astype(np.float64)
        ids = [row.id for row in rows]
        self._alike = _SimilarWording(adaptable.wordings, embed, ids, seed, range(len(rows)))
        self._restating = _SimilarWording(adaptable.wordings, embed, ids, seed, adaptable.restating)
        self._pools: dict[str, list[int]] = {}
        for number in sorted(range(len(rows)), key=lambda n: rows[n].id):
            self._pools.setdefault(rows[number].pool, []).append(number)
        self._near_own: dict[int, list[int]] = {}
        for members in self._pools.values():
            vectors = self.questions[members]
            near = nearest(vectors, vectors, min(4 * OWN, len(members)))
            for own, others in zip(members, near.tolist(), strict=True):
                self._near_own[own] = [members[other] for other in others]

    def of(self, row: int) -> list[Candidate]:
        """Return the candidates of a row, distinct from one another and from the correct texts; doubtful ones last."""
        asked, own_texts, targets = self.rows[row], self._adaptable.texts[row], self._adaptable.targets
        right = [folded(own_texts[target]) for target in targets]
        found: dict[tuple[str, ...], Candidate] = {}
        doubtful: dict[tuple[str, ...], Candidate] = {}

        def offer(source: int, texts: Mapping[str, str]) -> None:
            keys = tuple(folded(texts[target]) for target in targets)
            if keys in found or any(key == own for own, key in zip(right, keys, strict=True)):
                return
            for target, text in texts.items():
                others = (own_texts[other] for other in targets if other != target)
                if may_be_right(text, asked.question, (own_texts[target], *others)):
                    doubtful.setdefault(keys, Candidate(source, texts))
                    return
            found[keys] = Candidate(source, texts)

        def adapt(source: int, inject: bool = False, restate: bool = False) -> None:
            texts = self._adaptable.adapted(source, row, inject=inject, restate=restate)
            if texts is None:
                return
            before = self._adaptable.texts[source]
            unchanged = any(folded(texts[target]) == folded(before[target]) for target in targets)
            if not unchanged or self.rows[source].pool == asked.pool:
                offer(source, texts)

        for source in self._donors(row, self._alike, DONORS):
            adapt(source)
            adapt(source, inject=True)
        if self._adaptable.roles[row].predicate:
            for source in self._donors(row, self._restating, RESTATING):
                adapt(source, restate=True)
        own = [other for other in self._near_own[row] if self._may_lend(row, other)]
        for other in own[:OWN]:
            offer(other, self._adaptable.texts[other])
        if len(found) < FEWEST:
            members = self._pools[asked.pool]
            for number in rng_for(self._seed, "candidates", asked.id).permutation(len(members)).tolist():
                if len(found) >= FEWEST:
                    break
                if self._may_lend(row, members[number]):
                    offer(members[number], self._adaptable.texts[members[number]])
        return [*found.values(), *list(doubtful.values())[: max(0, FEW - len(found))]]

    def _donors(self, row: int, alike: _SimilarWording, most: int) -> Iterator[int]:
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
        return round(float(self._exact[row] @ self._exact[other]), COSINE_DIGITS) < self._limit


class _SimilarWording:
    """Donors ranked by the similarity of their questions, regardless of the people involved."""

    def __init__(self, wordings: Sequence[str], embed: Embed, ids: Sequence[str], seed: int, donors: Sequence[int]):
        self._rows: dict[str, list[int]] = {}
        for row in sorted(donors, key=lambda row: ids[row]):
            self._rows.setdefault(wordings[row], []).append(row)
        every = sorted(set(wordings))
        self._distinct, self._wordings, self._ids, self._seed = list(self._rows), wordings, ids, seed
        self._number = {text: number for number, text in enumerate(every)}
        vectors = embed(every)
        offered = vectors[[self._number[text] for text in self._distinct]]
        self._near = nearest(vectors, offered, min(2 * DONORS, len(offered)))

    def of(self, row: int) -> Iterator[int]:
        """Yield donors, most similar first; of those with the same wording, a few at random."""
        for other in (self._distinct[n] for n in self._near[self._number[self._wordings[row]]].tolist()):
            members = self._rows[other]
            if len(members) > SAME_WORDING:
                rng = rng_for(self._seed, "alike", self._ids[row], other)
                members = [members[n] for n in rng.permutation(len(members))[: SAME_WORDING + 1].tolist()]
            yield from members


def _without_people(caption: Caption, cast: Cast) -> str:
    changes: dict[int, str] = {}
    for entity in entities(caption, cast):
        changes[entity.first] = SOMEBODY
        changes |= dict.fromkeys(range(entity.first + 1, entity.stop), "")
    return caption.edit(changes)

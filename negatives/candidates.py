"""Collect candidate distractors for a question: answers from its pool, and answers adapted from other questions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice
from operator import ge

import numpy as np
from numpy.typing import NDArray

from ..core.numerics import rng_for
from ..core.progress import tracked
from ..language.embeddings import nearest
from ..language.lexicon import FINITE
from ..language.people import Cast
from ..language.words import Caption, text_key
from .adaptation import Arguments, adapt, has_pronouns, parsed_alike
from .confusion import Confuser
from .content_words import may_be_right
from .entities import Entity, entities
from .options import COSINE_DIGITS, Embed, QuestionRow, in_lower_case, plain_style
from .roles import Move, Player, Predicate, Referent, Roles, find_restated, moves, read_roles, referents, strangers

Indices = NDArray[np.int32]

DONORS = 100  # questions whose answers are adapted: of all, and of those unseen wherever the question is
RESTATING = 64  # additional ones whose answers restate their question
OWN = 64  # questions whose answers fit best, which are used unchanged: of its donors,
KNOWN = 32  # and of all if it is outside train, so that some options are correct in train
DRAWN = 12  # others, at random
MOST_BARRED = 64  # questions that are no donors, for which others are looked for
NEAR = 20  # questions whose answers show what fits
SHARPNESS = 8.0  # weight of near questions
FEW = 4  # threshold below which doubtful candidates are added
FEWEST = 32  # minimum candidates per row, if the pool is large enough
SAME_WORDING = 10  # donors among questions with the same wording
AIMING = ("to", "so", "in")  # first words of answers for which the other question's predicate matters
SOMEBODY = "somebody"
SEEN = (False,)
REMEMBERED = 1 << 18  # cached adapted texts
BLOCK = 256  # questions compared with all others at a time

folded = lru_cache(maxsize=REMEMBERED)(text_key)


class AdaptableTexts:
    """The parsed texts of all questions, which can be adapted to other questions.

    Nothing in this class depends on splits, so several divisions of the same questions can share an instance.

    Attributes:
        texts: Correct texts of each row by target, in one style if requested.
        roles: Roles in the question of each row.
        wordings: Question of each row without the names of people.
        restating: Numbers of the rows with a text that restates the question.
    """

    def __init__(self, rows: Sequence[QuestionRow], confuser: Confuser, *, one_style: bool):
        names, cast = confuser.cast.names, confuser.cast
        self.names = names
        self._styled = (lambda text: plain_style(text, names)) if one_style else (lambda text: text)
        self._read = confuser.read
        self.texts = [{target: self._styled(text) for target, text in row.texts.items()} for row in rows]
        self.targets = tuple(rows[0].texts) if rows else ()
        questions_read = [confuser.read(in_lower_case(row.question)) for row in rows]
        self.roles = [read_roles(caption, cast) for caption in questions_read]
        self.wordings = [_without_people(caption, cast) for caption in questions_read]
        self._captions = [[confuser.read(texts[target]) for target in self.targets] for texts in self.texts]
        self._found = [[tuple(entities(caption, cast)) for caption in some] for some in self._captions]
        self._restated = [
            [
                find_restated(caption, roles.predicate, roles.subject.key[-1])
                if roles.predicate and roles.subject
                else None
                for caption in some
            ]
            for roles, some in self._by_row()
        ]
        texts = [list(zip(*some, strict=True)) for some in zip(self._captions, self._found, strict=True)]
        self._mentioned = [[_mentioned(caption, in_text) for caption, in_text in some] for some in texts]
        self._strangers = [[strangers(caption, in_text, cast) for caption, in_text in some] for some in texts]
        self._pronouns = [[has_pronouns(caption) for caption in some] for some in self._captions]
        questions = ((caption, tuple(entities(caption, cast))) for caption in questions_read)
        reasons = [(roles.predicate, caption) for roles, some in self._by_row() for caption in some]
        self._arguments = Arguments(chain(questions, *texts), reasons)
        self._about_donor = [
            [roles.predicate is not None and _tells(caption, roles.predicate) for caption in some]
            for roles, some in self._by_row()
        ]
        self.restating = [row for row, places in enumerate(self._restated) if any(places)]
        self._rewritten = lru_cache(maxsize=REMEMBERED)(self._rewrite)

    def adapted(self, source: int, row: int, *, inject: bool = False, restate: bool = False) -> tuple[str, ...] | None:
        """Adapt the texts of one row to the question of another, by target. Return None if that is impossible.

        `source` is the row to which the texts belong; with `inject`, unused people and things of the other question
        replace those that only the text mentions. With `restate`, the part
        that restates the donor's question is replaced with the predicate of the other question.
        """
        roles, target = self.roles[source], self.roles[row]
        all_moves = None if inject else moves(roles, target)
        adapted = []
        for column in range(len(self.targets)):
            if inject:
                all_moves = moves(roles, target, self._strangers[source][column])
            if all_moves is None:
                return None
            # What the text does not mention has no effect, so that many questions share a result.
            mentioned = self._mentioned[source][column]
            moved = tuple(move for move in all_moves if move[0] in mentioned)
            if any(p.is_thing and p.key in mentioned for p in _lost(roles, target, all_moves)):
                return None  # "to cut the rope with the scissors" if the other question has no scissors
            meant = referents(roles, target, all_moves, mentioned) if self._pronouns[source][column] else ()
            restated = restate and self._restated[source][column] is not None
            if self._about_donor[source][column] and not restated and self.wordings[source] != self.wordings[row]:
                return None  # "Tom jumped to avoid the ball"
            predicate = target.predicate if restated or self._captions[source][column].lower_at(0) in AIMING else None
            text = self._rewritten(source, column, moved, meant, predicate, restated)
            if text is None:
                return None
            adapted.append(text)
        return tuple(adapted)

    def _by_row(self) -> Iterator[tuple[Roles, list[Caption]]]:
        return zip(self.roles, self._captions, strict=True)

    def well_formed(self, source: int, texts: Sequence[str]) -> bool:
        """Return whether the texts of a row, after adaptation, have the same grammar as before.

        They are parsed, which takes some milliseconds each, so check only texts that are about to be used.
        """
        return all(
            text == own.text or parsed_alike(own, self._read(text))
            for own, text in zip(self._captions[source], texts, strict=True)
        )

    def forget(self) -> None:
        """Free the memory of adapted texts."""
        self._rewritten.cache_clear()

    def _rewrite(
        self,
        source: int,
        column: int,
        moved: tuple[Move, ...],
        meant: tuple[Referent, ...],
        predicate: Predicate | None,
        restated: bool,
    ) -> str | None:
        """Return a text after replacements. Many questions need the same ones, so results are cached."""
        text = adapt(
            self._captions[source][column],
            self._found[source][column],
            moved,
            self._arguments,
            referents=meant,
            predicate=predicate,
            restated=self._restated[source][column] if restated else None,
        )
        return None if text is None else self._styled(text)


class Candidates:
    """The candidate distractors of every row.

    Texts are numbered, and equal texts share a number.

    Attributes:
        questions: Embeddings of the questions.
        rights: Numbers of the correct texts, int32 of shape (rows, targets).
        tables: All texts by target; more are added as candidates are made.
    """

    def __init__(
        self,
        rows: Sequence[QuestionRow],
        adaptable: AdaptableTexts,
        embed: Embed,
        *,
        seed: int,
        same_question: float,
        kept_apart: Mapping[str, Sequence[str]],
        train: str | None = None,
    ):
        """For each question, find other questions with similar wording.

        `kept_apart` maps the id of a row to the ids of rows that must not be its donors. Answers are adapted only from
        rows that are outside the split `train` in every division in which the question itself is. Otherwise, an adapted
        option would resemble an answer of train more than a correct option does.
        """
        self._rows, self._adaptable, self._seed = rows, adaptable, seed
        self.targets, self.names, self.well_formed = adaptable.targets, adaptable.names, adaptable.well_formed
        self.tables: dict[str, list[str]] = {target: [] for target in self.targets}
        self._numbers: list[dict[str, int]] = [{} for _ in self.targets]
        self._keys: list[list[str]] = [[] for _ in self.targets]
        own = [self._numbered(tuple(texts[target] for target in self.targets)) for texts in adaptable.texts]
        self.rights = np.array(own, np.int32).reshape(len(rows), len(self.targets))
        self._own = own
        self.questions = embed([row.question for row in rows])
        self._answers = [embed([texts[target] for texts in adaptable.texts]) for target in self.targets]
        self._barred = self._not_donors(same_question, kept_apart)
        ids = [row.id for row in rows]
        self._by_id = sorted(range(len(rows)), key=lambda row: ids[row])
        self._unseen = [tuple(split != train for split in row.splits if train) for row in rows]
        self._alike, self._restating = {}, {}
        for unseen in sorted({*self._unseen, SEEN * len(self._unseen[0])}):
            allowed = [row for row, other in enumerate(self._unseen) if all(map(ge, other, unseen))]
            self._alike[unseen] = _SimilarWording(adaptable.wordings, embed, ids, seed, allowed)
            restating = sorted(set(allowed) & set(adaptable.restating))
            self._restating[unseen] = _SimilarWording(adaptable.wordings, embed, ids, seed, restating)

    def of_rows(self) -> Iterator[Indices]:
        """Yield the candidates of each row, doubtful ones last. They differ from each other and from the correct texts.

        Each row of the int32 table is a candidate: the number of the question whose correct texts these are, or from
        which they were adapted, and the numbers of the texts by target. Texts are taken unchanged only from donors
        of this one (`_is_donor`), or from any if there are too few.
        """
        pools: dict[str, list[int]] = {}
        for row in self._by_id:
            pools.setdefault(self._rows[row].pool, []).append(row)
        donors_of = {name: [row for row in self._by_id if self._is_donor(row, some[0])] for name, some in pools.items()}
        known = {name: self._by_id if any(self._unseen[some[0]]) else donors_of[name] for name, some in pools.items()}
        fitting, fitting_known = self._fitting(pools, donors_of, OWN), self._fitting(pools, known, KNOWN)
        for row in tracked(range(len(self._rows)), "making candidates", "question"):
            yield self._of(row, donors_of[self._rows[row].pool], fitting[row], fitting_known[row])
        self._adaptable.forget()

    def _is_donor(self, row: int, donor: int) -> bool:
        """Return whether texts of a row may be options of another one unchanged."""
        unseen, donor_unseen = self._unseen[row], self._unseen[donor]
        return self._rows[row].pool == self._rows[donor].pool or (
            any(donor_unseen) and all(map(ge, unseen, donor_unseen))
        )

    def _fitting(
        self, pools: Mapping[str, Sequence[int]], donors_of: Mapping[str, Sequence[int]], most: int
    ) -> dict[int, list[int]]:
        """Return the donors of each row whose texts fit it best, at most `most`.

        A text fits a question if it is similar to the question and to the correct texts of the nearest questions.
        """
        by_id = np.array(self._by_id)
        near = np.empty((len(by_id), min(NEAR, len(by_id) - 1)), np.int64)
        near[by_id] = by_id[nearest(self.questions[by_id], None, near.shape[1])]
        cosines = np.einsum("rd,rnd->rn", self.questions, self.questions[near])
        weights = np.exp(SHARPNESS * cosines)[:, :, None]
        wanted = [self.questions + (weights * answers[near]).sum(1) / weights.sum(1) for answers in self._answers]
        fitting: dict[int, list[int]] = {}
        for name, members in pools.items():
            donors = donors_of[name]
            for first in range(0, len(members), BLOCK):
                rows = members[first : first + BLOCK]
                fits = sum(
                    vectors[rows] @ answers[donors].T for vectors, answers in zip(wanted, self._answers, strict=True)
                ).round(COSINE_DIGITS)
                best = np.argsort(-fits, axis=1, kind="stable")[:, : most + MOST_BARRED]
                for row, others in zip(rows, best.tolist(), strict=True):
                    fitting[row] = [donors[n] for n in others if donors[n] not in self._barred[row]][:most]
        return fitting

    def _of(self, row: int, members: Sequence[int], fitting: Sequence[int], known: Sequence[int]) -> Indices:
        certain: dict[tuple[str, ...], tuple[int, ...]] = {}
        doubtful: dict[tuple[str, ...], tuple[int, ...]] = {}

        def offer(source: int, numbers: Sequence[int]) -> None:
            keys = self._keys_of(numbers)
            if keys not in certain and keys not in doubtful and not self._repeats(row, numbers):
                (doubtful if self._doubts(row, numbers) else certain)[keys] = (source, *numbers)

        for other in (*fitting, *known):
            offer(other, self._own[other])
        drawn = rng_for(self._seed, "candidates", self._rows[row].id).permutation(len(members))[: DRAWN + FEWEST]
        for index in drawn.tolist():
            other = members[index]
            if other not in self._barred[row] and (index in drawn[:DRAWN] or len(certain) < FEWEST):
                offer(other, self._own[other])
        for source, texts in self._adaptations(row, fitting):
            numbers = self._numbered(texts)
            own = zip(self._keys_of(numbers), self._keys_of(self._own[source]), strict=True)
            if self._is_donor(source, row) or not any(key == known for key, known in own):
                offer(source, numbers)
        if len(certain) < FEWEST // 2:  # a small collection
            for index in rng_for(self._seed, "any", self._rows[row].id).permutation(len(self._rows)).tolist():
                other = self._by_id[index]
                if other not in self._barred[row] and len(certain) < FEWEST // 2:
                    offer(other, self._own[other])
        candidates = [*certain.values(), *list(doubtful.values())[: max(0, FEW - len(certain))]]
        return np.array(candidates, np.int32).reshape(len(candidates), 1 + len(self.targets))

    def _adaptations(self, row: int, fit: Sequence[int]) -> Iterator[tuple[int, tuple[str, ...]]]:
        near = {*fit, *self._donors(row, self._alike[SEEN * len(self._unseen[row])], DONORS)}
        near |= {*self._donors(row, self._alike[self._unseen[row]], DONORS)}
        for source in sorted(near, key=lambda other: self._rows[other].id):
            texts = self._adaptable.adapted(source, row)
            if texts is not None:
                yield source, texts
            more = self._adaptable.adapted(source, row, inject=True)
            if more is not None and more != texts:
                yield source, more
        if self._adaptable.roles[row].predicate:
            for source in self._donors(row, self._restating[self._unseen[row]], RESTATING):
                texts = self._adaptable.adapted(source, row, restate=True)
                if texts is not None:
                    yield source, texts

    def _numbered(self, texts: Sequence[str]) -> tuple[int, ...]:
        of_texts = []
        for target, text, numbers, keys in zip(self.targets, texts, self._numbers, self._keys, strict=True):
            number = numbers.setdefault(text, len(numbers))
            if number == len(keys):
                self.tables[target].append(text)
                keys.append(folded(text))
            of_texts.append(number)
        return tuple(of_texts)

    def _keys_of(self, numbers: Sequence[int]) -> tuple[str, ...]:
        return tuple(keys[number] for keys, number in zip(self._keys, numbers, strict=True))

    def _repeats(self, row: int, numbers: Sequence[int]) -> bool:
        """Return whether any of the texts is equivalent to the correct one."""
        own = self._keys_of(self._own[row])
        return any(key == right for key, right in zip(self._keys_of(numbers), own, strict=True))

    def _doubts(self, row: int, numbers: Sequence[int]) -> bool:
        """Return whether any of the texts may be correct, judging by its words."""
        right, question = self._adaptable.texts[row], self._rows[row].question
        for target, number in zip(self.targets, numbers, strict=True):
            others = (right[other] for other in self.targets if other != target)
            if may_be_right(self.tables[target][number], question, (right[target], *others)):
                return True
        return False

    def _donors(self, row: int, alike: _SimilarWording, most: int) -> Iterator[int]:
        return islice((other for other in alike.of(row) if other not in self._barred[row]), most)

    def _not_donors(self, same_question: float, kept_apart: Mapping[str, Sequence[str]]) -> list[frozenset[int]]:
        """Return the rows that must not be donors of each row: itself, those kept apart, and equivalent questions."""
        row_of = {row.id: number for number, row in enumerate(self._rows)}
        exact = self.questions.astype(np.float64)
        barred = []
        for first in range(0, len(exact), BLOCK):
            same = (exact[first : first + BLOCK] @ exact.T).round(COSINE_DIGITS) >= same_question
            for number, others in enumerate(same, first):
                apart = (row_of[other] for other in kept_apart.get(self._rows[number].id, ()) if other in row_of)
                barred.append(frozenset((number, *apart, *np.flatnonzero(others).tolist())))
        return barred


class _SimilarWording:
    """Ranks donors by how similar their questions are, regardless of the people involved."""

    def __init__(self, wordings: Sequence[str], embed: Embed, ids: Sequence[str], seed: int, donors: Sequence[int]):
        self._rows: dict[str, list[int]] = {}
        for row in sorted(donors, key=lambda row: ids[row]):
            self._rows.setdefault(wordings[row], []).append(row)
        distinct = sorted(set(wordings))
        self._distinct, self._wordings, self._ids, self._seed = list(self._rows), wordings, ids, seed
        self._number = {text: number for number, text in enumerate(distinct)}
        vectors = embed(distinct)
        offered = vectors[[self._number[text] for text in self._distinct]]
        self._near = nearest(vectors, offered, min(2 * DONORS, len(offered)))

    def of(self, row: int) -> Iterator[int]:
        """Yield donors, the most similar first. Of those with the same wording, yield a few at random."""
        for other in (self._distinct[n] for n in self._near[self._number[self._wordings[row]]].tolist()):
            members = self._rows[other]
            if len(members) > SAME_WORDING:
                rng = rng_for(self._seed, "alike", self._ids[row], other)
                members = [members[n] for n in rng.permutation(len(members))[: SAME_WORDING + 1].tolist()]
            yield from members


def _lost(source: Roles, target: Roles, moved: Sequence[Move]) -> Iterator[Player]:
    """Yield the people and things of a question that another question lacks and does not replace."""
    known = {player.key for player in target.players} | {key for key, _, _ in moved}
    return (player for player in source.players if player.key not in known)


def _tells(caption: Caption, predicate: Predicate) -> bool:
    """Return whether a text tells that its question's predicate happened, as in "Tom jumped onto the towel"."""
    verbs = (token for token in caption.tokens if token.arc in ("ROOT", "conj", "advcl", "ccomp", "relcl"))
    return any(token.tag in (*FINITE, "VBG") and token.lemma == predicate.verb for token in verbs)


def _mentioned(caption: Caption, characters: Iterable[Entity]) -> frozenset[tuple[str, ...]]:
    """Return the names of all people, and the words, that a text contains."""
    keys: set[tuple[str, ...]] = {(token.lower,) for token in caption.tokens}
    waiting = list(characters)
    while waiting:
        entity = waiting.pop()
        keys.add(entity.key)
        waiting += entity.parts
    return frozenset(keys)


def _without_people(caption: Caption, cast: Cast) -> str:
    changes: dict[int, str] = {}
    for entity in entities(caption, cast):
        changes[entity.first] = SOMEBODY
        changes |= dict.fromkeys(range(entity.first + 1, entity.stop), "")
    return caption.edit(changes)

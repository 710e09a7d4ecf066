// @ts-check
"use strict";

/**
 * Complement videos side by side, synchronized, with the yes/no questions about each.
 *
 * Content: `variants` ({label, name, film, pieces: [{name, start, stop}]}), `unit` of the pieces ("frames" or "seconds"),
 * `phrases` of pieces, `questions` ({text, type, wording, control, flips, opposite: row of Q′, answers: [{id, answer,
 * said, verdict}] in the order of the variants}), `facts`.
 */
const ComplementView = (() => {
  const { el } = Dom;

  /** @typedef {{ name: string, start: number, stop: number }} Piece */

  /**
   * @param {{ label: string, name: string, film: string | null, pieces: Piece[] }} variant
   * @param {any} content
   * @param {Player} player
   * @param {Group} group
   */
  function column(variant, content, player, group) {
    const whole = variant.pieces[variant.pieces.length - 1]?.stop || 1;
    const inFrames = content.unit === "frames";
    const cursor = el("span", { class: "cursor", "aria-hidden": "true" });
    const now = el("p", { class: "now", "aria-hidden": "true" });
    /** @param {Piece} piece */
    const named = (piece) => (piece.name in content.phrases ? content.phrases[piece.name] : "between them");
    const bars = variant.pieces.map((piece) => {
      const bar = el(
        "button",
        {
          type: "button",
          class: `piece piece-${piece.name.toLowerCase()}`,
          "aria-label": `${piece.name}: ${named(piece)}, ${piece.start} to ${piece.stop} ${content.unit}`,
          title: `${piece.name}: ${named(piece)}`,
          disabled: !inFrames || !player.film.file,
          onclick: () => group.seek(piece.start),
        },
        el("span", {}, piece.name === "filler" ? "" : piece.name),
      );
      bar.style.flexGrow = String(Math.max(0.001, piece.stop - piece.start));
      return bar;
    });
    group.listen((frame) => {
      if (!inFrames) return;
      cursor.style.left = `${(100 * (frame + 0.5)) / whole}%`;
      variant.pieces.forEach((piece, at) => {
        const on = piece.start <= frame && frame < piece.stop;
        bars[at].classList.toggle("on", on);
        if (on) {
          const text = piece.name === "filler" ? "between them" : `${piece.name}: ${named(piece)}`;
          if (now.textContent !== text) now.textContent = text;
        }
      });
    });
    return el(
      "section",
      { class: "variant", "aria-label": `${variant.label}, ${variant.name}` },
      el("h2", {}, el("span", { class: "sign" }, variant.label), " ", el("span", { class: "quiet" }, variant.name)),
      player.film.frames || player.film.fault ? player.element : null,
      el("div", { class: "line" }, el("div", { class: "pieces", role: "group", "aria-label": "Pieces" }, ...bars), inFrames && player.film.file && cursor),
      now,
    );
  }

  /** Whether a question is one of those that the index was filtered by. @param {any} question @param {Query} query */
  function sought(question, query) {
    const { type, wording } = query.chosen;
    return (
      (type !== undefined || wording !== undefined || Boolean(query.verdict)) &&
      (type === undefined || type === question.type) &&
      (wording === undefined || wording === question.wording) &&
      (!query.verdict || question.answers.some((/** @type {any} */ each) => each.verdict === query.verdict))
    );
  }

  /** @param {any} content @param {Query} query */
  function questions(content, query) {
    const status = el("p", { class: "relation", role: "status" });
    /** @type {HTMLElement[][]} */
    const cells = [];
    const labels = content.variants.map((/** @type {any} */ variant) => variant.label);

    /** @param {number} row @param {number} side */
    function show(row, side) {
      clear();
      const question = content.questions[row];
      const answer = question.answers[side];
      cells[row][side].classList.add("is-self");
      const parts = [`${labels[side]}: ${question.text} ${answer.answer}.`];
      if (answer.said !== null) parts.push(`The model says “${answer.said}”.`);
      if (question.opposite !== null && question.opposite !== undefined) {
        const other = content.questions[question.opposite];
        cells[question.opposite][side]?.classList.add("is-opposite");
        parts.push(`Q′: ${other.text} ${other.answers[side]?.answer}.`);
      } else parts.push("It has no Q′.");
      question.answers.forEach((/** @type {any} */ each, /** @type {number} */ at) => {
        if (at === side) return;
        cells[row][at].classList.add("is-counterpart");
        parts.push(`Counterpart in ${labels[at]}: ${each.answer}.`);
      });
      status.textContent = parts.join("  ");
    }

    function clear() {
      for (const row of cells) for (const cell of row) cell.classList.remove("is-self", "is-opposite", "is-counterpart");
      status.textContent = "Point at an answer, or move to it with Tab, to see its Q′ and its counterpart.";
    }

    const rows = content.questions.map((/** @type {any} */ question, /** @type {number} */ row) => {
      cells[row] = question.answers.map((/** @type {any} */ answer, /** @type {number} */ side) => {
        const button = el(
          "button",
          {
            type: "button",
            class: `answer ${answer.answer}`,
            onfocus: () => show(row, side),
            onblur: clear,
            onmouseenter: () => show(row, side),
            onmouseleave: clear,
            onclick: () => show(row, side),
          },
          el("span", { class: "unseen" }, `${labels[side]}: `),
          answer.answer,
          Blocks.mark(answer.verdict),
        );
        return button;
      });
      return el(
        "tr",
        { class: sought(question, query) ? "sought" : "" },
        el("td", { class: "type" }, el("span", { class: "tag" }, question.type), question.wording !== "-" && el("small", {}, question.wording)),
        el("th", { scope: "row" }, question.text, question.control && el("span", { class: "tag negative" }, "negative control")),
        ...cells[row].map((cell) => el("td", { class: "value" }, cell)),
      );
    });
    clear();
    return el(
      "section",
      { class: "questions", "aria-label": "Questions" },
      el("h2", {}, `${content.questions.length} questions`),
      status,
      el(
        "table",
        { class: "asked-table" },
        el(
          "thead",
          {},
          el("tr", {}, el("th", { scope: "col" }, "Type"), el("th", { scope: "col" }, "Question"), ...labels.map((/** @type {string} */ label) => el("th", { scope: "col" }, label))),
        ),
        el("tbody", {}, ...rows),
      ),
    );
  }

  /** @param {any} content @param {Record<string, Film>} films @param {Query} query what the index was filtered by, which is marked */
  function draw(content, films, query) {
    const players = content.variants.map((/** @type {any} */ variant) =>
      Players.make(variant.film ? films[variant.film] : undefined, `${variant.label}, the ${variant.name} video`),
    );
    const group = Sync.group(players);
    const columns = content.variants.map((/** @type {any} */ variant, /** @type {number} */ at) => column(variant, content, players[at], group));
    return el(
      "div",
      { class: "view" },
      el(
        "h1",
        { class: "phrases" },
        el("span", { class: "phrase a" }, el("b", {}, "A"), content.phrases.A),
        el("span", { class: "phrase b" }, el("b", {}, "B"), content.phrases.B),
      ),
      el("div", { class: "variants" }, ...columns),
      Blocks.controls(group),
      questions(content, query),
      Dom.facts(content.facts),
    );
  }

  return { draw };
})();

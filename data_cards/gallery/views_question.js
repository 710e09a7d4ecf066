// @ts-check
"use strict";

/**
 * A question about a video, with its options if there are any. Benchmarks without their own view use this one.
 *
 * Content: `film`, `text`, `blocks` (see `Blocks.options`), `facts`.
 */
const QuestionView = (() => {
  const { el } = Dom;

  /** @param {any} content @param {Record<string, Film>} films */
  function draw(content, films) {
    const film = content.film ? films[content.film] : undefined;
    return el(
      "div",
      { class: film ? "view beside" : "view" },
      Blocks.single(film, "the video"),
      el(
        "div",
        { class: "asked" },
        el("h1", {}, content.text),
        ...content.blocks.map((/** @type {Block} */ block) => Blocks.options(block, [])),
        Dom.facts(content.facts),
      ),
    );
  }

  return { draw };
})();

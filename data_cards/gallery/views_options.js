// @ts-check
"use strict";

/**
 * A multiple-choice question whose distractors come from other questions or from the correct option.
 *
 * Content: `film`, `text`, `blocks` (see `Blocks.options`), `numbers` ([name, meaning] of what options have), `confusions`
 * ({label, place, text, note} for each confusion of the correct option), `facts`.
 */
const OptionsView = (() => {
  const { el } = Dom;

  /** @param {{ label: string, place: number | null, text: string | null, note: string }} each */
  function confusion(each) {
    const where = each.place === null ? "not offered" : `option ${String.fromCharCode(65 + each.place)}`;
    return el("li", {}, el("strong", {}, each.label), ` · ${where}`, each.text && el("p", {}, each.text), each.note && el("p", { class: "quiet" }, each.note));
  }

  /** @param {any} content @param {Record<string, Film>} films */
  function draw(content, films) {
    const film = content.film ? films[content.film] : undefined;
    return el(
      "div",
      { class: film ? "view beside" : "view" },
      Blocks.single(film, "the clip"),
      el(
        "div",
        { class: "asked" },
        el("h1", {}, content.text),
        ...content.blocks.map((/** @type {Block} */ block) => Blocks.options(block, content.numbers)),
        content.confusions.length > 0 &&
          el("details", { class: "more" }, el("summary", {}, "How the confusions were made from the correct options"), el("ul", { class: "plain" }, ...content.confusions.map(confusion))),
        el(
          "details",
          { class: "more" },
          el("summary", {}, "What the numbers mean"),
          Dom.facts(content.numbers.map((/** @type {[string, string]} */ [name, meaning]) => [name.replace("_", " "), meaning])),
        ),
        Dom.facts(content.facts),
      ),
    );
  }

  return { draw };
})();

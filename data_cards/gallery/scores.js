// @ts-check
"use strict";

/** The tables of a score, whose rows link to the exhibits that they are about. */
const ScoresPage = (() => {
  const { el } = Dom;

  /** @param {Cell} value */
  function text(value) {
    if (value === null) return "–";
    if (typeof value === "number") return Number.isInteger(value) ? value.toLocaleString("en") : value.toFixed(3);
    if (Array.isArray(value)) {
      const [middle, low, high] = value;
      if (middle === null) return "–";
      return low === null || high === null ? middle.toFixed(3) : `${middle.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}]`;
    }
    return value;
  }

  /**
   * Facet values that a row of scores refers to, from cells under the name of a facet.
   * @param {Index} index @param {ScoreTable} table @param {Cell[]} row
   */
  function chosen(index, table, row) {
    /** @type {Record<string, string>} */
    const found = {};
    const facets = [...index.facets, ...index.askedFacets];
    table.headings.forEach((heading, at) => {
      const value = row[at] === null ? "" : String(row[at]);
      for (const facet of facets)
        if (!(facet.name in found) && facet.headings.includes(heading) && facet.values.includes(value)) found[facet.name] = value;
    });
    return found;
  }

  /** The split and the table that were scored, where the index tells them apart. @param {Index} index @param {ScorePage} scores */
  function scored(index, scores) {
    const of = /** @type {[string, string][]} */ ([
      ["split", scores.split],
      ["table", scores.config],
    ]);
    return Object.fromEntries(of.filter(([name, value]) => index.facets.some((facet) => facet.name === name && facet.values.includes(value))));
  }

  /**
   * @param {Index} index
   * @param {(query: Query) => string} link
   */
  function draw(index, link) {
    const scores = index.scores;
    if (!scores) return el("p", {}, "No scores are shown in this gallery.");
    const verdict = index.answered ? "wrong" : "";
    const tables = scores.tables.map((table) =>
      el(
        "section",
        { class: "score", "aria-label": table.name },
        el("h2", {}, table.name),
        el(
          "div",
          { class: "scroll", tabindex: 0, role: "group", "aria-label": `Table: ${table.name}` },
          el(
            "table",
            { class: "figures" },
            el("thead", {}, el("tr", {}, ...table.headings.map((heading) => el("th", { scope: "col" }, heading)), el("th", { scope: "col" }, el("span", { class: "unseen" }, "Items")))),
            el(
              "tbody",
              {},
              ...table.rows.map((row, at) => {
                const about = chosen(index, table, row);
                const query = { q: "", chosen: { ...scored(index, scores), ...about }, verdict };
                const linked = Object.keys(about).length > 0 || (table.name === "headline" && at === 0 && verdict);
                const count = linked ? Search.run(index, query).length : 0;
                return el(
                  "tr",
                  {},
                  ...row.map((cell) => el("td", { class: typeof cell === "string" ? "" : "number" }, text(cell))),
                  el("td", {}, linked && count > 0 && el("a", { href: link(query) }, `${count.toLocaleString("en")} ${verdict || "items"}`)),
                );
              }),
            ),
          ),
        ),
      ),
    );
    return el(
      "div",
      { class: "view scores" },
      el("h1", {}, "Scores"),
      el("p", { class: "quiet" }, `Predictions ${scores.predictions}, table ${scores.config}, split ${scores.split}. `, verdict && `Links lead to the ${index.noun}s of a row that the model got wrong.`),
      ...tables,
      scores.notes.length > 0 && el("ul", { class: "plain" }, ...scores.notes.map((note) => el("li", {}, note))),
    );
  }

  return { draw };
})();

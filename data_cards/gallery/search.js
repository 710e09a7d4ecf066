// @ts-check
"use strict";

/**
 * Search and filters over the index.
 *
 * @typedef {{ q: string, chosen: Record<string, string>, verdict: string }} Query
 *   words, values of facets by name, and "", "right", "wrong" or "contradictory"
 */
const Search = (() => {
  const MARKS = /\p{M}/gu;
  const EDGES = /^[.,;:!?"“”()[\]]+|[.,;:!?"“”()[\]]+$/g;

  /** Split what a reader types into the words that all have to be there. @param {string} text */
  function words(text) {
    return text
      .toLowerCase()
      .normalize("NFKD")
      .replace(MARKS, "")
      .split(/\s+/)
      .map((word) => word.replace(EDGES, ""))
      .filter(Boolean);
  }

  /**
   * Find the exhibits that contain all words and facet values of a query, and a question with all its question values.
   * @param {Index} index
   * @param {Query} query
   * @returns {number[]} their places
   */
  function run(index, query) {
    const wanted = words(query.q);
    const facets = index.facets.flatMap((facet, number) => {
      const value = query.chosen[facet.name];
      return value === undefined ? [] : [[number, facet.values.indexOf(value)]];
    });
    const asked = index.askedFacets.flatMap((facet, number) => {
      const value = query.chosen[facet.name];
      return value === undefined ? [] : [[number, facet.values.indexOf(value)]];
    });
    const verdict = index.askedFacets.length;
    const fits = index.kinds.map(
      (kind) =>
        asked.every(([number, value]) => kind[number] === value) && (!query.verdict || kind[verdict] === query.verdict),
    );
    const judging = asked.length > 0 || Boolean(query.verdict);
    const found = [];
    for (let place = 0; place < index.entries.length; place++) {
      const entry = index.entries[place];
      if (
        facets.every(([number, value]) => entry[3][number].includes(value)) &&
        (!judging || entry[4].some((kind) => fits[kind])) &&
        wanted.every((word) => entry[5].includes(word))
      )
        found.push(place);
    }
    return found;
  }

  return { run, words };
})();

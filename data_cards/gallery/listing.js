// @ts-check
"use strict";

/** The index: search, filters, and a card for each exhibit that is found. */
const Listing = (() => {
  const { el, icon } = Dom;
  const AT_ONCE = 60; // cards that are added when the user scrolls near the end
  const MOST_CHOICES = 100; // maximum number of values in a menu; above it, a text field is used

  /** @param {Index} index @param {number} place @param {(id: string) => string} link */
  function card(index, place, link) {
    const [id, title, picture, values, kinds] = index.entries[place];
    const verdict = index.askedFacets.length;
    const wrong = kinds.some((kind) => index.kinds[kind][verdict] === "wrong");
    const against = kinds.some((kind) => index.kinds[kind][verdict] === "contradictory");
    const judged = kinds.some((kind) => index.kinds[kind][verdict]);
    const split = index.facets.findIndex((facet) => facet.name === "split");
    return el(
      "li",
      {},
      el(
        "a",
        { class: picture ? "card" : "card bare", href: link(id) },
        picture && el("img", { src: `thumbs/${picture}.jpg`, alt: "", loading: "lazy", decoding: "async" }),
        el("span", { class: "title" }, title),
        el(
          "span",
          { class: "under" },
          el("span", { class: "id" }, id),
          split >= 0 && index.facets[split].values.length > 1 && el("span", {}, values[split].map((value) => index.facets[split].values[value]).join(", ")),
          judged && Blocks.mark(wrong ? "wrong" : "right"),
          against && Blocks.mark("contradictory"),
        ),
      ),
    );
  }

  /**
   * A menu for a facet, or a text field if it has too many values.
   * @param {Facet} facet @param {string | undefined} value @param {(value: string | undefined) => void} choose
   */
  function filter(facet, value, choose) {
    if (facet.values.length < 2 && value === undefined) return null;
    const name = Blocks.fresh("facet");
    if (facet.values.length > MOST_CHOICES) {
      const input = el("input", { id: name, list: `${name}-values`, value: value ?? "", placeholder: "any", onchange: () => choose(facet.values.includes(input.value) ? input.value : undefined) });
      return el("div", { class: "filter" }, el("label", { for: name }, facet.label), input, el("datalist", { id: `${name}-values` }, ...facet.values.map((each) => el("option", { value: each }))));
    }
    const select = el("select", { id: name, onchange: () => choose(select.value === "" ? undefined : facet.values[Number(select.value)]) }, el("option", { value: "" }, "any"), ...facet.values.map((each, at) => el("option", { value: at, selected: each === value }, each)));
    return el("div", { class: "filter" }, el("label", { for: name }, facet.label), select);
  }

  /**
   * @param {Index} index
   * @param {Query} query
   * @param {{ heading: string, line: string }} texts
   * @param {{ change: (query: Query, typing?: boolean) => void, link: (query: Query, id: string) => string }} act
   */
  function draw(index, query, texts, act) {
    const list = el("ul", { class: "cards" });
    const count = el("p", { class: "count", role: "status" });
    const more = el("button", { type: "button", class: "plain-button", onclick: () => extend() }, "Show more");
    const end = el("div", { class: "end" }, more);
    /** @type {number[]} */
    let found = [];
    let shown = 0;

    function extend() {
      const next = found.slice(shown, shown + AT_ONCE);
      shown += next.length;
      list.append(...next.map((place) => card(index, place, (id) => act.link(query, id))));
      end.hidden = shown >= found.length;
    }

    const clear = el("a", { class: "clear", href: "#" }, "Clear");

    function refresh() {
      clear.hidden = !Object.keys(query.chosen).length && !query.verdict && !query.q;
      found = Search.run(index, query);
      shown = 0;
      list.replaceChildren();
      extend();
      const all = index.entries.length;
      const of = found.length === all ? "" : ` of ${all.toLocaleString("en")}`;
      const left = index.total > all ? ` The output has ${index.total.toLocaleString("en")}.` : "";
      count.textContent = `${found.length.toLocaleString("en")}${of} ${index.noun}${found.length === 1 && !of ? "" : "s"}.${left}`;
    }

    const search = el("input", {
      type: "search",
      id: "search",
      value: query.q,
      placeholder: "Search",
      autocomplete: "off",
      spellcheck: "false",
      "aria-label": "Search",
      oninput: () => {
        query = { ...query, q: search.value };
        refresh();
        act.change(query, true);
      },
    });

    const filters = el("div", { class: "filters", role: "group", "aria-label": "Filters" });
    function drawFilters() {
      /** @param {Facet} facet */
      const one = (facet) =>
        filter(facet, query.chosen[facet.name], (value) => {
          const chosen = { ...query.chosen };
          if (value === undefined) delete chosen[facet.name];
          else chosen[facet.name] = value;
          query = { ...query, chosen };
          refresh();
          act.change(query);
        });
      const verdict = el(
        "select",
        {
          id: "verdict",
          onchange: () => {
            query = { ...query, verdict: verdict.value };
            refresh();
            act.change(query);
          },
        },
        ...["", "wrong", "right", "contradictory"]
          .filter((each) => !each || index.kinds.some((kind) => kind[index.askedFacets.length] === each))
          .map((each) => el("option", { value: each, selected: each === query.verdict }, each || "any")),
      );
      Dom.fill(
        filters,
        ...index.facets.map(one),
        ...index.askedFacets.map(one),
        index.answered && el("div", { class: "filter" }, el("label", { for: "verdict" }, "Model"), verdict),
        clear,
      );
    }

    drawFilters();
    refresh();
    new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && !end.hidden && extend(), { rootMargin: "600px" }).observe(end);
    const element = el(
      "div",
      { class: "listing" },
      el("div", { class: "intro" }, el("h1", {}, texts.line || texts.heading)),
      el("div", { class: "tools" }, el("div", { class: "search" }, icon("search"), search, el("kbd", { "aria-hidden": "true" }, "/")), filters),
      count,
      list,
      end,
    );
    return { element, found: () => found };
  }

  return { draw };
})();

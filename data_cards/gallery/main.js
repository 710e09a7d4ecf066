// @ts-check
"use strict";

/**
 * Routing by the fragment of the address: `#item=ID` shows an exhibit, `#page=scores` the scores, anything else the
 * index. `q`, `is` (the verdict) and the names of facets filter the index, and are kept for going back.
 */
(() => {
  const { el, icon } = Dom;
  /** @type {Record<string, (content: any, films: Record<string, Film>, query: Query) => HTMLElement>} */
  const VIEWS = {
    complement: ComplementView.draw,
    grid: GridView.draw,
    options: OptionsView.draw,
    graph: GraphView.draw,
    question: QuestionView.draw,
  };
  const RESERVED = new Set(["q", "is", "item", "page"]);
  const index = Data.all();
  const page = /** @type {HTMLElement} */ (document.getElementById("page"));
  const nav = /** @type {HTMLElement} */ (document.getElementById("nav"));
  const texts = { heading: page.dataset.heading ?? index.title, line: page.dataset.line ?? "" };
  let turn = 0;
  /** @type {number[]} */
  let found = [];
  let scrolled = 0;

  /** @returns {{ item: string | null, page: string | null, query: Query }} */
  function read() {
    const given = new URLSearchParams(location.hash.slice(1));
    /** @type {Record<string, string>} */
    const chosen = {};
    for (const facet of [...index.facets, ...index.askedFacets]) {
      const value = given.get(facet.name);
      if (value !== null && !RESERVED.has(facet.name)) chosen[facet.name] = value;
    }
    return { item: given.get("item"), page: given.get("page"), query: { q: given.get("q") ?? "", chosen, verdict: given.get("is") ?? "" } };
  }

  /** @param {Query} query @param {Record<string, string>} [more] */
  function link(query, more = {}) {
    const made = new URLSearchParams({ ...more });
    if (query.q) made.set("q", query.q);
    for (const [name, value] of Object.entries(query.chosen)) made.set(name, value);
    if (query.verdict) made.set("is", query.verdict);
    return `#${made}`;
  }

  function showIndex() {
    const { query } = read();
    const listing = Listing.draw(index, query, texts, {
      change(next) {
        history.replaceState(null, "", link(next));
        found = listing.found();
      },
      link: (now, id) => link(now, { item: id }),
    });
    found = listing.found();
    Dom.fill(page, listing.element);
    document.title = texts.heading;
    window.scrollTo(0, scrolled);
  }

  /** @param {string} id */
  async function showItem(id) {
    const mine = turn;
    const { query } = read();
    const place = Data.place(id);
    if (place === undefined) {
      Dom.fill(page, el("div", { class: "view" }, el("h1", {}, "Not in this gallery"), el("p", {}, `There is no ${index.noun} ${id} here. `, el("a", { href: "#" }, `All ${index.noun}s`))));
      return;
    }
    found = Search.run(index, query);
    if (!found.includes(place)) found = index.entries.map((_, number) => number);
    const at = found.indexOf(place);
    /** @param {number} to @param {"left" | "right"} name @param {string} label */
    const beside = (to, name, label) => {
      const other = index.entries[found[to]];
      return other
        ? el("a", { class: "round", href: link(query, { item: other[0] }), "aria-label": `${label}: ${other[1]}`, id: `go-${name}` }, icon(name))
        : el("span", { class: "round off" }, icon(name));
    };
    let drawn;
    try {
      const { item, films } = await Data.item(place);
      if (mine !== turn) return;
      drawn = VIEWS[item.view](item.content, films, query);
    } catch (error) {
      if (mine !== turn) return;
      drawn = el("p", {}, `The data of this ${index.noun} could not be loaded: ${error instanceof Error ? error.message : error}.`);
    }
    const filtered = found.length !== index.entries.length;
    Dom.fill(
      page,
      el(
        "div",
        { class: "crumbs" },
        el("a", { href: link(query), id: "up" }, icon("left"), filtered ? "Back to what was found" : `All ${index.noun}s`),
        el("span", { class: "quiet" }, `${(at + 1).toLocaleString("en")} of ${found.length.toLocaleString("en")}`),
        beside(at - 1, "left", "Before"),
        beside(at + 1, "right", "Next"),
      ),
      drawn,
    );
    document.title = `${index.entries[place][1]} · ${texts.heading}`;
    window.scrollTo(0, 0);
    page.dispatchEvent(new Event("shown"));
  }

  function show() {
    turn++;
    Sync.stopAll();
    const state = read();
    drawNav(state.page === "scores");
    if (state.item !== null) void showItem(state.item);
    else if (state.page === "scores") {
      Dom.fill(page, ScoresPage.draw(index, (query) => link(query)));
      document.title = `Scores · ${texts.heading}`;
      window.scrollTo(0, 0);
    } else showIndex();
  }

  function recall() {
    try {
      return localStorage.getItem("gallery-theme");
    } catch {
      return null; // storage is disabled
    }
  }

  /** @param {string | null} theme */
  function dress(theme) {
    if (theme) document.documentElement.dataset.theme = theme;
  }

  function turnTheme() {
    const dark = document.documentElement.dataset.theme
      ? document.documentElement.dataset.theme === "dark"
      : window.matchMedia("(prefers-color-scheme: dark)").matches;
    const next = dark ? "light" : "dark";
    dress(next);
    try {
      localStorage.setItem("gallery-theme", next);
    } catch {
      /* it holds for this page */
    }
  }

  /** @param {boolean} scores */
  function drawNav(scores) {
    Dom.fill(
      nav,
      index.scores && el("a", { href: "#page=scores", "aria-current": scores ? "page" : null }, "Scores"),
      el("button", { type: "button", class: "round", "aria-label": "Light or dark", onclick: turnTheme }, icon("theme")),
    );
  }

  /** @param {KeyboardEvent} event */
  function key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const typing = target.matches("input[type=search], input[list], select, textarea");
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && !target.matches("select")) {
      document.getElementById("up")?.click();
      return;
    }
    if (typing) return;
    const group = Sync.current();
    /** @type {Record<string, () => void>} */
    const acts = {
      "/": () => document.getElementById("search")?.focus(),
      j: () => document.getElementById("go-right")?.click(),
      k: () => document.getElementById("go-left")?.click(),
      ",": () => group?.step(-1),
      ".": () => group?.step(1),
    };
    if (!target.matches("button, a, input, summary")) acts[" "] = () => void group?.toggle();
    const act = acts[event.key];
    if (!act || (event.key === " " && !group)) return;
    event.preventDefault();
    act();
  }

  dress(recall());
  document.addEventListener("keydown", key);
  window.addEventListener("hashchange", (event) => {
    if (!/[#&]item=/.test(event.oldURL) && !/[#&]page=/.test(event.oldURL)) scrolled = /[#&]item=/.test(event.newURL) ? window.scrollY : 0;
    show();
    document.getElementById("main")?.focus({ preventScroll: true }); // the start of the new page
  });
  show();
})();

// @ts-check
"use strict";

/**
 * A question graph: the question at the top, its sub-questions below, an arrow from each child
 * to its parent, and the rule where the arrows meet.
 *
 * Content: `film`, `text`, `answer`, `nodes` ({id, text, kind, answer, reason, decided, options, program, said, verdict,
 * path, contradicts}, children first), `rows` (places of nodes, top row first), `hidden`, `edges` ({parent, rule,
 * children, contradicts, errors}), `facts`.
 */
const GraphView = (() => {
  const { el, svg } = Dom;
  const WIDTH = 232; // width of a box, and gap between boxes, in pixels, as in gallery.css
  const GAP = 24;

  /** @param {any} node @param {() => void} pick */
  function box(node, pick) {
    const classes = ["node", node.verdict, node.path && "on-path", node.contradicts && "contradicts"].filter(Boolean).join(" ");
    return el(
      "button",
      { type: "button", class: classes, onclick: pick, onfocus: pick },
      el("span", { class: "kind" }, node.kind),
      el("span", { class: "text" }, node.text),
      el("span", { class: "said" }, node.answer === null ? el("em", {}, "answer not known") : el("b", {}, node.answer), node.said !== null && el("span", {}, ` · said “${node.said}”`)),
      el("span", { class: "marks" }, Blocks.mark(node.verdict), node.contradicts && Blocks.mark("contradictory")),
    );
  }

  /** @param {any} node */
  function about(node) {
    /** @type {[string, string][]} */
    const facts = [
      ["Id", node.id],
      ["Kind", node.kind],
      ["Program", node.program],
      ["Right answer", node.answer ?? `not known: ${node.reason}`],
    ];
    if (node.decided) facts.push(["Decided by", node.decided]);
    if (node.options.length) facts.push(["Options", node.options.join(", ")]);
    if (node.said !== null) facts.push(["The model says", node.said]);
    return el("div", {}, el("h3", {}, node.text), Dom.facts(facts));
  }

  /**
   * Center every question below its parents, as far as there is room.
   * @param {any} content
   * @param {HTMLElement[]} boxes
   */
  function arrange(content, boxes) {
    /** @type {Map<number, number[]>} */
    const parents = new Map();
    for (const edge of content.edges)
      for (const child of edge.children) parents.set(child, [...(parents.get(child) ?? []), edge.parent]);
    /** @type {Map<number, number>} */
    const left = new Map();
    for (const row of content.rows) {
      /** @type {number[]} */
      const wanted = row.map((/** @type {number} */ place) => {
        const above = (parents.get(place) ?? []).filter((parent) => left.has(parent));
        return above.length ? above.reduce((sum, parent) => sum + (left.get(parent) ?? 0), 0) / above.length : 0;
      });
      const placed = [...wanted];
      for (let at = 1; at < placed.length; at++) placed[at] = Math.max(placed[at], placed[at - 1] + WIDTH + GAP);
      const shift = placed.reduce((sum, x, at) => sum + x - wanted[at], 0) / placed.length;
      row.forEach((/** @type {number} */ place, /** @type {number} */ at) => left.set(place, placed[at] - shift));
    }
    const first = Math.min(...left.values());
    for (const row of content.rows) {
      let end = first;
      for (const place of row) {
        const x = left.get(place) ?? 0;
        boxes[place].style.marginLeft = `${x - end}px`;
        end = x + WIDTH;
      }
    }
  }

  /**
   * @param {any} content
   * @param {HTMLElement[]} boxes by place; those that are not shown are missing
   */
  function arrows(content, boxes) {
    const head = Blocks.fresh("head");
    const layer = svg("svg", { class: "arrows", "aria-hidden": "true", focusable: "false" });
    const names = el("div", { class: "rules", "aria-hidden": "true" });

    function draw() {
      const canvas = layer.parentElement;
      if (!canvas) return;
      const origin = canvas.getBoundingClientRect();
      layer.setAttribute("width", String(canvas.scrollWidth));
      layer.setAttribute("height", String(canvas.scrollHeight));
      /** @type {Node[]} */
      const lines = [
        svg(
          "defs",
          {},
          ...["plain", "error", "against"].map((kind) =>
            svg("marker", { id: `${head}-${kind}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, svg("path", { class: `head ${kind}`, d: "M0 0.5 8 4 0 7.5z" })),
          ),
        ),
      ];
      /** @type {HTMLElement[]} */
      const tags = [];
      /** @type {Map<number, any[]>} */
      const below = new Map();
      for (const edge of content.edges) below.set(edge.parent, [...(below.get(edge.parent) ?? []), edge]);
      for (const [parent, edges] of below) {
        if (!boxes[parent]) continue;
        const top = boxes[parent].getBoundingClientRect();
        edges.forEach((edge, at) => {
          const x = top.left - origin.left + (top.width * (at + 1)) / (edges.length + 1);
          const y = top.bottom - origin.top;
          for (const child of edge.children) {
            if (!boxes[child]) continue;
            const from = boxes[child].getBoundingClientRect();
            const cx = from.left - origin.left + from.width / 2;
            const cy = from.top - origin.top;
            const kind = edge.errors.includes(child) ? "error" : edge.contradicts ? "against" : "plain";
            const bend = Math.max(24, (cy - y) * 0.6);
            lines.push(svg("path", { class: `arrow ${kind}`, d: `M${cx} ${cy}C${cx} ${cy - bend} ${x} ${y + bend} ${x} ${y + 2}`, "marker-end": `url(#${head}-${kind})` }));
          }
          const tag = el("span", { class: edge.contradicts ? "rule against" : "rule" }, edge.rule, edge.contradicts && " ↯");
          tag.style.left = `${x}px`;
          tag.style.top = `${y + 14 + 20 * at}px`;
          tags.push(tag);
        });
      }
      layer.replaceChildren(...lines);
      names.replaceChildren(...tags);
    }

    return { layer, names, draw };
  }

  /** The graph in words, for those who do not see it. @param {any} content */
  function inWords(content) {
    return el(
      "ul",
      { class: "unseen" },
      ...content.edges.map((/** @type {any} */ edge) =>
        el(
          "li",
          {},
          `“${content.nodes[edge.parent].text}” is composed by ${edge.rule} of ${edge.children.map((/** @type {number} */ child) => `“${content.nodes[child].text}”`).join(" and ")}.`,
          edge.contradicts && " The model's answers contradict one another.",
        ),
      ),
    );
  }

  /** @param {any} content */
  function legend(content) {
    const judged = content.nodes.some((/** @type {any} */ node) => node.verdict);
    if (!judged) return null;
    return el(
      "p",
      { class: "legend" },
      Blocks.mark("right"),
      Blocks.mark("wrong"),
      Blocks.mark("contradictory"),
      el("span", { class: "key error" }, "error path"),
      el("span", { class: "key against" }, "answers that contradict one another"),
    );
  }

  /** @param {any} content @param {Record<string, Film>} films */
  function draw(content, films) {
    const film = content.film ? films[content.film] : undefined;
    const detail = el("div", { class: "detail", role: "status" });
    /** @type {HTMLElement[]} */
    const boxes = [];
    const root = content.nodes.length - 1;
    /** @param {number} place */
    function pick(place) {
      for (const each of boxes) each?.classList.remove("picked");
      boxes[place]?.classList.add("picked");
      Dom.fill(detail, about(content.nodes[place]));
    }
    const rows = content.rows.map((/** @type {number[]} */ row) =>
      el("div", { class: "row" }, ...row.map((place) => (boxes[place] = box(content.nodes[place], () => pick(place))))),
    );
    arrange(content, boxes);
    const { layer, names, draw: lines } = arrows(content, boxes);
    const canvas = el("div", { class: "canvas" }, layer, names, ...rows);
    new ResizeObserver(() => lines()).observe(canvas);
    pick(root);
    return el(
      "div",
      { class: "view" },
      el("h1", {}, content.text),
      el(
        "div",
        { class: film ? "graph-top" : "" },
        Blocks.single(film, "the video"),
        el("section", { class: "picked-node", "aria-label": "The question that is picked" }, detail),
      ),
      el(
        "section",
        { class: "graph", "aria-label": "What the question is composed of" },
        el("h2", {}, "Composition"),
        legend(content),
        content.hidden > 0 && el("p", { class: "quiet" }, `${content.hidden} more questions are not drawn.`),
        el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "The graph" }, canvas),
        inWords(content),
      ),
      Dom.facts(content.facts),
    );
  }

  return { draw };
})();

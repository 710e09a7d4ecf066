// @ts-check
"use strict";

/**
 * A clip under all visual perturbations and severities, its captions under all text perturbations, and combinations.
 *
 * Content: `clean` ({film, verdict}), `severities`, `rows` ({name, family, unit, cells: [{severity, level, film,
 * verdict}]}), `texts` ({name, family, does, verdict}), `captions` ({id, text, changes: [{text, reason}] in the order of
 * `texts`}), `pairs` ({visual, text, severity, cells: [{visual, text, verdict}]} or null), `facts`.
 *
 * @typedef {{ severity: number, level: string, film: string | null, verdict: string }} GridCell
 * @typedef {{ name: string, family: string, unit: string, cells: GridCell[] }} GridRow
 * @typedef {{ text: string | null, reason: string | null }} Change
 */
const GridView = (() => {
  const { el } = Dom;
  const AT_ONCE = 24; // maximum number of small players in a grid

  /** @param {string} name */
  const words = (name) => name.replaceAll("_", " ");

  /** @param {Record<string, Film>} films @param {string | null} name */
  const filmOf = (films, name) => (name ? films[name] : undefined);

  /** Group things by their family. @template {{ family: string }} T @param {T[]} things @returns {[string, T[]][]} */
  function families(things) {
    /** @type {Map<string, T[]>} */
    const found = new Map();
    for (const thing of things) found.set(thing.family, [...(found.get(thing.family) ?? []), thing]);
    return [...found];
  }

  /**
   * The clean and the perturbed clip, synchronized, with a wipe between them.
   * @param {any} content
   * @param {Record<string, Film>} films
   */
  function comparison(content, films) {
    /** @type {GridRow[]} */
    const rows = content.rows;
    const clean = Players.make(filmOf(films, content.clean.film), "the clean clip");
    const right = el("div", { class: "half perturbed" });
    const stage = el("div", { class: "stage wipe" }, el("div", { class: "half clean" }, clean.element, el("span", { class: "corner" }, "clean")), right);
    const edge = el("input", {
      type: "range",
      class: "edge",
      min: 0,
      max: 100,
      value: 50,
      "aria-label": "Wipe: how much is clean, in per cent",
      oninput: () => stage.style.setProperty("--wipe", `${edge.value}%`),
    });
    stage.append(edge);
    const group = Sync.group([clean]);
    const title = el("p", { class: "chosen", role: "status" });
    const severity = el("input", { type: "range", min: 0, max: content.severities.length - 1, step: 1, value: 0, "aria-label": "Severity", oninput: () => show() });
    const marks = el("div", { class: "ticks", "aria-hidden": "true" }, ...content.severities.map((/** @type {number} */ each) => el("span", {}, String(each))));
    const choice = el(
      "select",
      { "aria-label": "Perturbation", onchange: () => show() },
      ...families(rows).map(([family, members]) => el("optgroup", { label: family }, ...members.map((row) => el("option", { value: row.name }, words(row.name))))),
    );
    const split = el("input", { type: "checkbox", checked: true, onchange: () => stage.classList.toggle("wipe", split.checked) });
    /** @type {((name: string, severity: number) => void)[]} */
    const listeners = [];

    function show() {
      const row = rows.find((each) => each.name === choice.value) ?? rows[0];
      const at = content.severities[Number(severity.value)];
      const cell = row.cells.find((each) => each.severity === at) ?? row.cells[0];
      severity.setAttribute("aria-valuetext", `severity ${cell.severity}, ${cell.level}`);
      Dom.fill(title, el("b", {}, words(row.name)), ` · severity ${cell.severity} · ${row.unit}: ${cell.level} `, Blocks.mark(cell.verdict));
      const player = Players.make(filmOf(films, cell.film), `the clip with ${words(row.name)}, severity ${cell.severity}`);
      Dom.fill(right, player.element, el("span", { class: "corner" }, `${words(row.name)} ${cell.severity}`));
      group.replace([clean, player]);
      for (const heard of listeners) heard(row.name, cell.severity);
    }

    /** @param {string} name @param {number} level */
    function pick(name, level) {
      choice.value = name;
      severity.value = String(Math.max(0, content.severities.indexOf(level)));
      show();
    }

    const shown = rows.some((row) => row.cells.some((cell) => filmOf(films, cell.film)));
    const element = el(
      "section",
      { class: "comparison", "aria-label": "Clean beside perturbed" },
      shown && stage,
      Blocks.controls(group),
      el(
        "div",
        { class: "choose" },
        el("label", {}, el("span", {}, "Perturbation"), choice),
        content.severities.length > 1 && el("label", { class: "severity" }, el("span", {}, "Severity"), severity, marks),
        shown && el("label", { class: "tick" }, split, "wipe"),
      ),
      title,
    );
    return { element, pick, listen: (/** @type {(name: string, severity: number) => void} */ heard) => void listeners.push(heard), show };
  }

  /**
   * All perturbations at all severities: pictures that play on hover or focus.
   * @param {any} content
   * @param {Record<string, Film>} films
   * @param {ReturnType<typeof comparison>} chosen
   */
  function grid(content, films, chosen) {
    /** @type {Player[]} */
    const all = [];
    /** @type {Map<string, HTMLElement>} */
    const cells = new Map();
    let everywhere = false;
    /** @type {Set<Player>} */
    const visible = new Set();
    /** @type {Map<Element, Player>} */
    const byElement = new Map();

    /** @param {Player} player */
    function play(player) {
      const video = player.wake();
      if (!video) return;
      video.loop = true;
      void video.play().catch(() => undefined);
    }
    /** @param {Player} player */
    const rest = (player) => player.video?.pause();

    const seen = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        const player = byElement.get(entry.target);
        if (!player) continue;
        if (entry.isIntersecting) visible.add(player);
        else {
          visible.delete(player);
          rest(player);
        }
      }
      if (everywhere) [...visible].slice(0, AT_ONCE).forEach(play);
    });

    /** @param {GridRow} row @param {number} severity */
    function cell(row, severity) {
      const found = row.cells.find((each) => each.severity === severity);
      if (!found) return el("td", {}, "–");
      const label = `${words(row.name)}, severity ${severity}${found.verdict ? `, the model is ${found.verdict}` : ""}`;
      const player = Players.make(filmOf(films, found.film), "", { lazy: true });
      all.push(player);
      const go = () => !Dom.still() && play(player);
      const stop = () => !everywhere && rest(player);
      const button = el(
        "button",
        {
          type: "button",
          class: `thumb ${found.verdict}`,
          "aria-label": label,
          title: `${row.unit}: ${found.level}`,
          onmouseenter: go,
          onfocus: go,
          onmouseleave: stop,
          onblur: stop,
          onclick: () => {
            chosen.pick(row.name, severity);
            chosen.element.scrollIntoView({ block: "start", behavior: Dom.still() ? "auto" : "smooth" });
          },
        },
        filmOf(films, found.film) ? player.element : el("span", { class: "level" }, found.level),
        Blocks.mark(found.verdict),
      );
      byElement.set(button, player);
      seen.observe(button);
      cells.set(`${row.name} ${severity}`, button);
      return el("td", {}, button);
    }

    const toggle = el(
      "button",
      {
        type: "button",
        class: "plain-button",
        "aria-pressed": "false",
        onclick: () => {
          everywhere = !everywhere;
          toggle.setAttribute("aria-pressed", String(everywhere));
          toggle.textContent = everywhere ? "Pause the grid" : "Play the grid";
          if (everywhere) [...visible].slice(0, AT_ONCE).forEach(play);
          else all.forEach(rest);
        },
      },
      "Play the grid",
    );
    chosen.listen((name, severity) => {
      for (const [key, button] of cells) button.classList.toggle("is-chosen", key === `${name} ${severity}`);
    });
    const bodies = families(/** @type {GridRow[]} */ (content.rows)).map(([family, rows]) =>
      el(
        "tbody",
        {},
        el("tr", { class: "family" }, el("th", { scope: "rowgroup", colspan: content.severities.length + 1 }, family)),
        ...rows.map((row) => el("tr", {}, el("th", { scope: "row" }, words(row.name)), ...content.severities.map((/** @type {number} */ severity) => cell(row, severity)))),
      ),
    );
    return el(
      "section",
      { class: "grid", "aria-label": "All perturbations" },
      el("div", { class: "head" }, el("h2", {}, `${content.rows.length} perturbations, ${content.severities.length} severities`), Object.values(films).some((film) => film.file) && toggle),
      el(
        "table",
        { class: "cells" },
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, el("span", { class: "unseen" }, "Perturbation")), ...content.severities.map((/** @type {number} */ each) => el("th", { scope: "col" }, String(each))))),
        ...bodies,
      ),
    );
  }

  /** @param {string} original @param {Change | undefined} change */
  function changed(original, change) {
    if (!change) return el("span", { class: "quiet" }, "–");
    if (change.text === null) return el("span", { class: "quiet" }, `unchanged: ${change.reason ?? "no reason is given"}`);
    return Diff.show(original, change.text);
  }

  /** @param {any} content */
  function captions(content) {
    if (!content.captions.length) return null;
    let at = 0;
    const original = el("p", { class: "original" });
    const table = el("tbody");
    const only = el("input", { type: "checkbox", onchange: () => draw() });
    const choice = el(
      "select",
      {
        "aria-label": "Caption",
        onchange: () => {
          at = Number(choice.value);
          draw();
        },
      },
      ...content.captions.map((/** @type {any} */ caption, /** @type {number} */ number) => el("option", { value: number }, `${number + 1}. ${caption.text}`)),
    );

    function draw() {
      const caption = content.captions[at];
      original.textContent = caption.text;
      Dom.fill(
        table,
        ...content.texts.flatMap((/** @type {any} */ text, /** @type {number} */ number) => {
          const change = caption.changes[number];
          if (only.checked && change.text === null) return [];
          const first = number === 0 || content.texts[number - 1].family !== text.family;
          return [
            el(
              "tr",
              { class: change.text === null ? "unchanged" : "" },
              el("td", { class: "family" }, first || only.checked ? words(text.family) : ""),
              el("th", { scope: "row", title: text.does }, words(text.name), " ", Blocks.mark(text.verdict)),
              el("td", {}, changed(caption.text, change)),
            ),
          ];
        }),
      );
    }
    draw();
    return el(
      "section",
      { class: "captions", "aria-label": "Captions" },
      el("div", { class: "head" }, el("h2", {}, content.texts.length ? `Caption under ${content.texts.length} perturbations` : "Captions"), content.texts.length > 0 && el("label", { class: "tick" }, only, "changed only")),
      content.captions.length > 1 && el("label", { class: "wide" }, el("span", {}, "Caption"), choice),
      original,
      content.texts.length > 0 &&
        el(
          "table",
          { class: "changes" },
          el("thead", { class: "unseen" }, el("tr", {}, el("th", { scope: "col" }, "Family"), el("th", { scope: "col" }, "Perturbation"), el("th", { scope: "col" }, "Caption"))),
          table,
        ),
    );
  }

  /**
   * Combinations: a matrix, and the selected one.
   * @param {any} content
   * @param {ReturnType<typeof comparison>} chosen
   */
  function pairs(content, chosen) {
    const given = content.pairs;
    if (!given) return null;
    const shown = el("div", { class: "combined", role: "status" });
    /** @type {HTMLElement[]} */
    const buttons = [];
    /** @param {string} visual @param {string} text @param {HTMLElement} button */
    function pick(visual, text, button) {
      for (const each of buttons) each.classList.toggle("is-chosen", each === button);
      const number = content.texts.findIndex((/** @type {any} */ each) => each.name === text);
      const caption = content.captions[0];
      chosen.pick(visual, given.severity);
      Dom.fill(shown, el("p", {}, el("b", {}, `${words(visual)} ${given.severity} with ${words(text)}`), ", shown above with the caption"), caption && el("p", { class: "original" }, changed(caption.text, caption.changes[number])));
    }
    const rows = given.text.map((/** @type {string} */ text) =>
      el(
        "tr",
        {},
        el("th", { scope: "row" }, words(text)),
        ...given.visual.map((/** @type {string} */ visual) => {
          const cell = given.cells.find((/** @type {any} */ each) => each.visual === visual && each.text === text);
          if (!cell) return el("td", {}, "–");
          const button = el("button", { type: "button", class: `pair ${cell.verdict}`, "aria-label": `${words(visual)} with ${words(text)}${cell.verdict ? `, the model is ${cell.verdict}` : ""}`, onclick: () => pick(visual, text, button) }, cell.verdict ? Blocks.mark(cell.verdict) : el("span", { class: "dot" }));
          buttons.push(button);
          return el("td", {}, button);
        }),
      ),
    );
    return el(
      "section",
      { class: "pairs", "aria-label": "Combinations" },
      el("h2", {}, `${given.cells.length} combinations, severity ${given.severity}`),
      el(
        "div",
        { class: "scroll", tabindex: 0, role: "group", "aria-label": "Matrix of combinations" },
        el("table", { class: "matrix" }, el("thead", {}, el("tr", {}, el("td"), ...given.visual.map((/** @type {string} */ visual) => el("th", { scope: "col" }, el("span", {}, words(visual)))))), el("tbody", {}, ...rows)),
      ),
      shown,
    );
  }

  /** @param {any} content @param {Record<string, Film>} films */
  function draw(content, films) {
    const title = el("h1", {}, content.captions.length ? content.captions[0].text : "A clip");
    if (!content.rows.length) {
      const film = filmOf(films, content.clean.film);
      return el("div", { class: "view" }, title, Blocks.single(film, "the clip"), captions(content), Dom.facts(content.facts));
    }
    const chosen = comparison(content, films);
    const cells = grid(content, films, chosen);
    chosen.show();
    return el("div", { class: "view" }, title, chosen.element, cells, captions(content), pairs(content, chosen), Dom.facts(content.facts));
  }

  return { draw };
})();

// @ts-check
"use strict";

/** One item: the video, the question, and what one can say about it. */
const ItemPage = (() => {
  const { el } = Dom;
  /** @type {[string, string, string, string][]} key, mark, label, whether a reason is asked for */
  const MARKS = [
    ["t", "cannot tell", "I can’t tell", ""],
    ["m", "several", "More than one is right", ""],
    ["w", "wrong", "Something is wrong, because …", "What is wrong?"],
  ];

  /** The seconds for which an item has been visible. */
  function clock() {
    let sum = 0;
    let since = document.hidden ? null : performance.now();
    const turn = () => {
      if (since !== null) sum += performance.now() - since;
      since = document.hidden ? null : performance.now();
    };
    document.addEventListener("visibilitychange", turn);
    return () => {
      turn();
      document.removeEventListener("visibilitychange", turn);
      return sum / 1000;
    };
  }

  /** The choices of an item: value, key, text. @param {Shown} item @returns {[string | number, string, string][]} */
  function choices(item) {
    if (!item.options.length) return [["yes", "y", "Yes"], ["no", "n", "No"]];
    return item.options.map((text, number) => [number, number < 9 ? String(number + 1) : "", text]);
  }

  /** @param {string} file */
  function player(file) {
    const fault = el("p", { class: "notice", role: "alert", hidden: true });
    const video = el("video", { src: file, controls: true, preload: "auto", playsinline: true, "aria-label": "Video" });
    video.addEventListener("error", () => {
      fault.hidden = false;
      fault.textContent = `This video cannot be played (${file}). Choose “I can’t tell”, and report it.`;
    });
    if (!Dom.still()) video.play().catch(() => undefined); // a browser may refuse: the person starts it
    return { video, nodes: [video, fault] };
  }

  /**
   * Draw an item.
   * @param {Shown} item
   * @param {Reply | undefined} said what the person said earlier
   * @param {string} title
   * @param {number} longest length of a reason, in characters
   * @param {(said: Reply) => void} done
   */
  function draw(item, said, title, longest, done) {
    const stop = clock();
    /** @type {Record<string, () => void>} */
    const acts = {};

    /** @param {string | number | null} choice @param {string} [mark] @param {string} [reason] */
    function say(choice, mark = "", reason = "") {
      const seconds = Math.round(10 * (stop() + (said?.seconds ?? 0))) / 10;
      done({ choice, mark, reason, seconds });
    }

    /** @param {string} key @param {string} text @param {boolean} pressed @param {() => void} act */
    function button(key, text, pressed, act) {
      if (key) acts[key] = act;
      const shown = key ? el("kbd", {}, key.toUpperCase()) : null;
      const named = { type: "button", class: "choice", "aria-pressed": String(pressed), "aria-keyshortcuts": key || null };
      return el("li", {}, el("button", { ...named, onclick: act }, shown, el("span", {}, text)));
    }

    const written = el("textarea", { id: "reason", rows: 3, maxlength: longest, required: true });
    const reason = el(
      "form",
      {
        class: "reason",
        hidden: true,
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          if (written.value.trim()) say(null, "wrong", [...written.value.trim()].slice(0, longest).join(""));
        },
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) reason.requestSubmit();
          if (event.key !== "Escape") return;
          reason.hidden = true;
          heading.focus();
        },
      },
      el("label", { for: "reason" }, "What is wrong?"),
      written,
      el("p", {}, el("button", { class: "plain-button" }, "Save and go on"), el("span", { class: "quiet" }, " Ctrl + Enter; Esc cancels")),
    );
    written.value = said?.reason ?? "";

    function ask() {
      reason.hidden = false;
      written.focus();
    }

    const film = item.film === null ? null : player(item.film);
    const hidden = "The question is hidden. Which answer fits the video best?";
    const heading = el("h1", { id: "question", tabindex: -1 }, item.question || hidden);
    const marks = MARKS.map(([key, mark, label, why]) =>
      button(key, label, said?.mark === mark, why ? ask : () => say(null, mark)),
    );
    if (film) {
      acts["p"] = () => void (film.video.paused ? film.video.play().catch(() => undefined) : film.video.pause());
      acts["r"] = () => {
        film.video.currentTime = 0;
        film.video.play().catch(() => undefined);
      };
    }
    const node = el(
      "article",
      { class: film ? "item beside" : "item", "aria-labelledby": "question" },
      film && el("div", { class: "film" }, ...film.nodes),
      el(
        "div",
        { class: "asked" },
        el("p", { class: "quiet" }, title),
        heading,
        el("ul", { class: "choices", "aria-label": "Answers" }, ...choices(item).map(([value, key, text]) => button(key, text, said?.choice === value, () => say(value)))),
        el("ul", { class: "choices marks", "aria-label": "Other replies" }, ...marks),
        reason,
      ),
    );
    return { node, heading, acts, close: stop };
  }

  return { draw };
})();

// @ts-check
"use strict";

/**
 * Routing by the fragment of the address: `#person=NAME` continues the session of a person, so that a reload does; and
 * without it, the page asks for the name.
 */
(() => {
  const { el, fill } = Dom;
  const pages = Session.all();
  const page = /** @type {HTMLElement} */ (document.getElementById("page"));
  const nav = /** @type {HTMLElement} */ (document.getElementById("nav"));
  /** @type {OpenSession | null} */
  let session = null;
  /** @type {Record<string, () => void>} */
  let acts = {};
  let leave = () => {};

  const TASKS = /** @type {Record<string, string>} */ ({
    "video+text": "Watch each video, and answer the question about it.",
    video: "Watch each video. The question is hidden: choose the answer that fits best.",
    text: "The videos are hidden: choose the answer that you think is right.",
  });

  /** @param {string} label @param {() => void} act @param {string} [key] */
  function button(label, act, key) {
    if (key) acts[key] = act;
    return el("button", { type: "button", class: "plain-button", onclick: act, "aria-keyshortcuts": key ?? null }, label);
  }

  /** @param {HTMLElement} heading @param {...HTMLElement} nodes */
  function show(heading, ...nodes) {
    const warning = session && !session.kept() && el("p", { class: "notice", role: "alert" }, "This browser does not keep your answers. Save the file before you close the page.");
    fill(page, warning, ...nodes);
    document.title = heading.textContent || "Questions";
    scrollTo(0, 0);
    heading.focus({ preventScroll: true });
  }

  function save() {
    if (!session) return;
    const { name, text } = session.file();
    const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    el("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  }

  function clear() {
    leave();
    leave = () => {};
    acts = {};
  }

  /** @param {number} number an item in the person's order; -1 for the end */
  function go(number) {
    if (!session) return;
    clear();
    const { order, said, say, next } = session;
    const all = order.length;
    const bar = el("progress", { max: all, value: said.size, "aria-label": "Answered" });
    fill(nav, bar, el("span", { class: "quiet" }, `${said.size} of ${all}`), button("Save", save, "s"));
    if (number < 0 || number >= all) return end();
    const item = order[number];
    const drawn = ItemPage.draw(item, said.get(item.key), `Question ${number + 1} of ${all}`, pages.longestReason, (answer) => {
      const again = said.has(item.key);
      say(item.key, answer);
      go(again ? number + 1 : next(number));
    });
    leave = () => void drawn.close();
    acts = { ...acts, ...drawn.acts };
    const steps = el("p", { class: "steps" }, button("← Previous", () => go(Math.max(0, number - 1)), "ArrowLeft"), button("Next →", () => go(number + 1), "ArrowRight"));
    show(drawn.heading, drawn.node, steps);
  }

  function end() {
    if (!session) return;
    const left = session.order.length - session.said.size;
    const first = session.next();
    const heading = el("h1", { tabindex: -1 }, left ? `${left} without an answer` : "All answered. Thank you!");
    const open = left ? [button("Go to the first of them", () => go(first), "Enter")] : [];
    const steps = [...open, button(`Save ${session.file().name}`, save, "s"), button("← Look again", () => go(session ? session.order.length - 1 : -1), "ArrowLeft")];
    show(heading, heading, el("p", {}, "Save the file, and send it to the person who gave you these pages."), el("p", { class: "steps" }, ...steps));
  }

  function start() {
    clear();
    session = null;
    fill(nav);
    const name = el("input", { id: "name", type: "text", required: true, maxlength: pages.longestName, autocomplete: "name" });
    const heading = el("h1", { tabindex: -1 }, `${pages.shown.length} questions`);
    const keys = /** @type {[string, string][]} */ ([
      ["1 – 9, or Y and N", "choose an answer"],
      ["T", "you can’t tell"],
      ["M", "more than one answer is right"],
      ["W", "something is wrong: no answer is right, or the question makes no sense"],
      ...(pages.condition === "text" ? [] : [["P, R", "play or pause the video; play it from the start"]]),
      ["← →", "previous, next question"],
      ["S", "save your answers as a file"],
    ]);
    const form = el(
      "form",
      {
        class: "start",
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          const person = Session.named(name.value);
          if (person) location.hash = `person=${encodeURIComponent(person)}`;
        },
      },
      el("label", { for: "name" }, "Your name, or any word that you will remember"),
      name,
      el("button", { class: "plain-button" }, "Start"),
    );
    show(heading, heading, el("p", {}, TASKS[pages.condition]), form, el("p", { class: "quiet" }, "Your answers stay in this browser until you save them. To continue later, open this page again and give the same name."), Dom.facts(keys));
    name.focus();
  }

  function route() {
    const person = Session.named(new URLSearchParams(location.hash.slice(1)).get("person") ?? "");
    if (!person) return start();
    session = Session.open(person);
    go(session.next());
  }

  /** @param {KeyboardEvent} event */
  function press(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || target.matches("input, textarea")) return;
    if (target.matches("video") && event.key.startsWith("Arrow")) return; // seeks
    if (event.key === "Enter" && target.matches("button, a")) return;
    const act = acts[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  document.addEventListener("keydown", press);
  window.addEventListener("hashchange", route);
  route();
})();

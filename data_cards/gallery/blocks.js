// @ts-check
"use strict";

/**
 * Components shared by several views.
 *
 * @typedef {{ said: string | null, choice: number | null, verdict: string }} Said
 * @typedef {{ text: string, kind?: string, twin?: boolean, of?: string | null, numbers?: (number | null)[] }} Option
 * @typedef {{ label: string, right: number, options: Option[], guesses?: { guesser: string, choice: number }[] } & Said} Block
 */
const Blocks = (() => {
  const { el, icon } = Dom;
  const FEW = 3; // maximum number of baselines named next to an option
  const SPEEDS = ["0.25", "0.5", "1", "2"];
  let count = 0;

  /** An id for what labels refer to. @param {string} stem */
  const fresh = (stem) => `${stem}-${++count}`;

  /**
   * The controls of a group: play, frame steps, a scrubber, speed, repeat, sound.
   * @param {Group} group
   */
  function controls(group) {
    const films = group.players().map((player) => player.film);
    if (!films.some((film) => film.file)) return el("div", { class: "controls absent" });
    const play = el("button", { class: "round play", type: "button", onclick: () => void group.toggle() });
    const scrub = el("input", {
      type: "range",
      min: 0,
      max: 0,
      value: 0,
      step: 1,
      "aria-label": "Frame",
      oninput: () => group.seek(Number(scrub.value)),
    });
    const told = el("output", { class: "time" });
    const speed = el(
      "select",
      { "aria-label": "Speed", onchange: () => group.setRate(Number(speed.value)) },
      ...SPEEDS.map((each) => el("option", { value: each, selected: each === "1" }, `${each}×`)),
    );
    const repeat = el("input", { type: "checkbox", checked: true, onchange: () => group.setLoop(repeat.checked) });
    const sound = el("input", { type: "checkbox", onchange: () => group.setSound(sound.checked) });
    group.listen((frame, playing) => {
      const film = group.players().find((player) => player.film.frames)?.film ?? films[0];
      const last = Frames.count(film) - 1;
      scrub.max = String(last);
      scrub.value = String(frame);
      const time = Frames.start(film, frame).toFixed(2);
      told.textContent = `${frame + 1} / ${last + 1} · ${time} s`;
      scrub.setAttribute("aria-valuetext", `frame ${frame + 1} of ${last + 1}, ${time} seconds`);
      if (play.dataset.playing !== String(playing)) {
        play.dataset.playing = String(playing);
        play.setAttribute("aria-label", playing ? "Pause" : "Play");
        Dom.fill(play, icon(playing ? "pause" : "play"));
      }
    });
    group.seek(0);
    /** @param {"back" | "forward"} name @param {string} label @param {number} frames */
    const stepper = (name, label, frames) =>
      el("button", { class: "round", type: "button", "aria-label": label, onclick: () => group.step(frames) }, icon(name));
    return el(
      "div",
      { class: "controls", role: "group", "aria-label": "Playback" },
      stepper("back", "One frame back", -1),
      play,
      stepper("forward", "One frame on", 1),
      scrub,
      told,
      speed,
      el("label", { class: "tick" }, repeat, "repeat"),
      films.some((film) => film.sound) && el("label", { class: "tick" }, sound, "sound"),
    );
  }

  /** One film with its controls; nothing if the gallery has none. @param {Film | undefined} film @param {string} label */
  function single(film, label) {
    if (!film) return null;
    const player = Players.make(film, label);
    const group = Sync.group([player]);
    return el("section", { class: "single", "aria-label": label }, player.element, controls(group));
  }

  /** What became of an answer. @param {string} verdict */
  function mark(verdict) {
    if (!verdict) return null;
    const signs = /** @type {Record<string, "check" | "cross" | "split">} */ ({ right: "check", wrong: "cross", contradictory: "split" });
    return el("span", { class: `mark ${verdict}` }, icon(signs[verdict] ?? "cross"), el("span", { class: "word" }, verdict));
  }

  /** @param {string} name */
  const words = (name) => name.replaceAll("_", " ");

  /** @param {string | null} text */
  const number = (text) => (text === null ? "–" : text);

  /**
   * Answer options, with the correct one, the origin of each, and the models that chose it.
   * @param {Block} block
   * @param {[string, string][]} names of the numbers of options, with what they mean
   */
  function options(block, names) {
    const title = fresh("options");
    const all = new Set((block.guesses ?? []).map((guess) => guess.guesser)).size;
    const right = block.options[block.right]?.text;
    const shown = names.filter((_, at) => block.options.some((option) => option.numbers?.[at] !== null && option.numbers?.[at] !== undefined));
    const rows = block.options.map((option, place) => {
      const isRight = place === block.right;
      const chosen = block.choice === place;
      const guessers = (block.guesses ?? []).filter((guess) => guess.choice === place).map((guess) => words(guess.guesser));
      return el(
        "li",
        { class: ["option", isRight && "is-right", chosen && "is-chosen", option.twin && "is-twin"].filter(Boolean).join(" ") },
        el("span", { class: "letter", "aria-hidden": "true" }, String.fromCharCode(65 + place)),
        el(
          "div",
          { class: "body" },
          el("p", { class: "text" }, option.twin && right !== undefined ? Diff.show(right, option.text) : option.text),
          el(
            "p",
            { class: "tags" },
            isRight && el("span", { class: "tag right" }, icon("check"), "right"),
            option.kind && option.kind !== "right" && el("span", { class: `tag kind-${option.kind}` }, option.kind),
            option.twin && el("span", { class: "tag" }, "counterpart of the correct option"),
            chosen && el("span", { class: `tag chosen ${block.verdict}` }, "chosen by the model"),
            ...(guessers.length > FEW
              ? [el("span", { class: "tag guess" }, `${guessers.length} of ${all} blind baselines`)]
              : guessers.map((name) => el("span", { class: "tag guess" }, `blind: ${name}`))),
            option.of && el("span", { class: "origin" }, `right for ${option.of}`),
          ),
        ),
        shown.length > 0 &&
          el(
            "dl",
            { class: "numbers" },
            ...shown.map(([name, meaning]) => {
              const value = option.numbers?.[names.findIndex((each) => each[0] === name)];
              return el(
                "div",
                { title: meaning },
                el("dt", {}, name.replace("_", " ")),
                el("dd", {}, number(value === null || value === undefined ? null : value.toFixed(2))),
              );
            }),
          ),
      );
    });
    const guesses = all > FEW && el(
      "details",
      { class: "more" },
      el("summary", {}, `What ${all} blind baselines choose`),
      Dom.facts(
        block.options.map((_, place) => [
          String.fromCharCode(65 + place),
          (block.guesses ?? []).filter((guess) => guess.choice === place).map((guess) => words(guess.guesser)).join(", ") || "nobody",
        ]),
      ),
    );
    const unread = block.said !== null && block.choice === null;
    return el(
      "section",
      { class: "block", "aria-labelledby": title },
      el("h2", { id: title }, block.label, " ", mark(block.verdict)),
      unread && el("p", { class: "quiet" }, `The model said “${block.said}”, which names no option.`),
      rows.length ? el("ol", { class: "options" }, ...rows) : el("p", { class: "quiet" }, "It has no options to choose from."),
      guesses,
    );
  }

  return { controls, single, mark, options, fresh };
})();

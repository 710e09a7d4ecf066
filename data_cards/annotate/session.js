// @ts-check
"use strict";

/**
 * What one person has answered, kept in the browser's storage after every answer.
 *
 * @typedef {{ key: string, film: string | null, question: string, options: string[] }} Shown
 * @typedef {{ format: string, version: number, output: string, fingerprint: string, seed: number, items: number,
 *   condition: string, longestName: number, longestReason: number, shown: Shown[] }} Pages
 * @typedef {{ choice: string | number | null, mark: string, reason: string, seconds: number }} Reply
 */
const Session = (() => {
  /** @type {Pages | null} */
  let pages = null;

  /** @param {Pages} given */
  function take(given) {
    pages = given;
  }

  /** @returns {Pages} */
  function all() {
    if (!pages) throw new Error("data/items.js was not loaded");
    return pages;
  }

  /** A name without characters that cannot be seen. @param {string} typed */
  function named(typed) {
    const name = typed.normalize("NFC").replace(/\s+/gu, " ").replace(/\p{C}/gu, "").trim();
    return [...name].slice(0, all().longestName).join("");
  }

  /** FNV-1a. @param {string} text */
  function hash(text) {
    let value = 0x811c9dc5;
    for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
    return value;
  }

  /**
   * The items in the order of a person. They are in a circle on which related items are far apart; each person starts
   * somewhere else, and every other person goes round the other way.
   * @param {string} person
   */
  function ordered(person) {
    const { seed, shown } = all();
    const drawn = hash(`${seed}/${person}`);
    const start = (drawn >>> 1) % shown.length;
    const turned = [...shown.slice(start), ...shown.slice(0, start)];
    return drawn % 2 ? turned.reverse() : turned;
  }

  /** @param {string} person */
  function open(person) {
    const { fingerprint, seed, condition, format, version, output, items } = all();
    const place = `stressreel/${[fingerprint, seed, condition, person].map(encodeURIComponent).join("/")}`;
    const order = ordered(person);
    /** @type {Map<string, Reply>} */
    const said = new Map();
    let kept = true;
    try {
      const earlier = JSON.parse(localStorage.getItem(place) ?? "{}");
      for (const { key } of order) if (Object.hasOwn(earlier, key)) said.set(key, earlier[key]);
    } catch {
      kept = false;
    }

    /** @param {string} key @param {Reply} answer */
    function say(key, answer) {
      said.set(key, answer);
      try {
        localStorage.setItem(place, JSON.stringify(Object.fromEntries(said)));
        kept = true;
      } catch {
        kept = false;
      }
    }

    /** The number of the first item without an answer from a place on, going round; -1 if there is none. */
    function next(from = 0) {
      const numbers = order.map((_, number) => (number + from) % order.length);
      return numbers.find((number) => !said.has(order[number].key)) ?? -1;
    }

    /** The file to send, and its name. */
    function file() {
      const answers = order.flatMap(({ key }) => {
        const answer = said.get(key);
        return answer ? [{ key, ...answer }] : [];
      });
      const content = { format, version, output, fingerprint, seed, items, condition, annotator: person, answers };
      const name = `answers-${person.replace(/[^\p{L}\p{N}_-]+/gu, "_")}.json`;
      return { name, text: `${JSON.stringify(content, null, 1)}\n` };
    }

    return { person, order, said, say, next, file, kept: () => kept };
  }

  return { take, all, named, open };
})();

/** @typedef {ReturnType<typeof Session.open>} OpenSession */

/** Called by `data/items.js`. @param {Pages} pages */
function annotateItems(pages) {
  Session.take(pages);
}

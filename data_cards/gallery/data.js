// @ts-check
"use strict";

/**
 * Data loading. Script tags call `galleryIndex` once, and `galleryItems` for each file of exhibits.
 *
 * @typedef {{ size?: [number, number], frames?: number, seconds?: number, rate?: [number, number], times?: number[], sound?: boolean,
 *   file: string | null, poster: string | null, fault?: string }} Film
 * @typedef {{ name: string, label: string, headings: string[], values: string[] }} Facet
 * @typedef {[string, string, string | null, number[][], number[], string]} Entry
 *   id, title, picture, values of each facet, kinds of its questions, words
 * @typedef {string | number | null | [number | null, number | null, number | null]} Cell
 * @typedef {{ name: string, headings: string[], rows: Cell[][] }} ScoreTable
 * @typedef {{ predictions: string, config: string, split: string, notes: string[], tables: ScoreTable[] }} ScorePage
 * @typedef {{ title: string, noun: string, total: number, embed: string, answered: boolean, perFile: number,
 *   facets: Facet[], askedFacets: Facet[], kinds: (number | string)[][], entries: Entry[],
 *   scores: ScorePage | null }} Index
 * @typedef {{ id: string, view: string, content: any }} Item
 * @typedef {{ part: number, items: Item[], films: Record<string, Film> }} Part
 */
const Data = (() => {
  /** @type {Index | null} */
  let index = null;
  /** @type {Map<string, number>} */
  const places = new Map();
  /** @type {Map<number, Promise<Part>>} */
  const parts = new Map();
  /** @type {Map<number, (part: Part) => void>} */
  const waiting = new Map();

  /** @param {Index} given */
  function take(given) {
    index = given;
    given.entries.forEach((entry, place) => places.set(entry[0], place));
  }

  /** @param {Part} part */
  function arrive(part) {
    waiting.get(part.part)?.(part);
    waiting.delete(part.part);
  }

  /** @returns {Index} */
  function all() {
    if (!index) throw new Error("data/index.js was not loaded");
    return index;
  }

  /** @param {number} number @returns {Promise<Part>} */
  function load(number) {
    let found = parts.get(number);
    if (!found) {
      found = new Promise((resolve, reject) => {
        waiting.set(number, resolve);
        const script = document.createElement("script");
        script.src = `data/items-${String(number).padStart(5, "0")}.js`;
        script.addEventListener("error", () => reject(new Error(`${script.getAttribute("src")} is not there`)));
        document.head.append(script);
      });
      parts.set(number, found);
      found.catch(() => parts.delete(number));
    }
    return found;
  }

  /**
   * Load one exhibit with its films.
   * @param {number} place
   * @returns {Promise<{ item: Item, films: Record<string, Film> }>}
   */
  async function item(place) {
    const size = all().perFile;
    const part = await load(Math.floor(place / size));
    return { item: part.items[place % size], films: part.films };
  }

  /** Where an exhibit is among all; undefined if there is none of that id. @param {string} id */
  const place = (id) => places.get(id);

  return { take, arrive, all, item, place };
})();

/** @param {Index} index */
function galleryIndex(index) {
  Data.take(index);
}

/** @param {Part} part */
function galleryItems(part) {
  Data.arrive(part);
}

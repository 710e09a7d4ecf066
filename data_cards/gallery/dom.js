// @ts-check
"use strict";

/**
 * DOM helpers. Text is always inserted as text, so the content of an output is never parsed as HTML.
 *
 * @typedef {Node | string | number | null | undefined | false} Child
 * @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Attributes
 */
const Dom = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const ICONS = {
    play: "M4.5 2.5v11l9-5.5z",
    pause: "M4 2.5h3v11H4zM9 2.5h3v11H9z",
    back: "M12 2.5v11L5.5 8zM3 2.5h2v11H3z",
    forward: "M4 2.5v11L10.5 8zM11 2.5h2v11h-2z",
    left: "M10 3 5 8l5 5",
    right: "M6 3l5 5-5 5",
    search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M10.4 10.4 14 14",
    check: "M3 8.5 6.5 12 13 4.5",
    cross: "M4 4l8 8M12 4l-8 8",
    split: "M8 2v12M5 5 2 8l3 3M11 5l3 3-3 3",
    theme: "M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12",
    bolt: "M9 1.5 3.5 9H8l-1 5.5L12.5 7H8z",
  };
  const FILLED = new Set(["play", "pause", "back", "forward", "bolt"]);

  /** @param {Element} element @param {Attributes} attributes */
  function set(element, attributes) {
    for (const [name, value] of Object.entries(attributes)) {
      if (typeof value === "function") element.addEventListener(name.slice(2), value);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
    }
  }

  /** @param {Element} element @param {Child[]} children */
  function add(element, children) {
    for (const child of children) {
      if (child === null || child === undefined || child === false) continue;
      element.append(child instanceof Node ? child : String(child));
    }
  }

  /**
   * Create an element.
   * @template {keyof HTMLElementTagNameMap} T
   * @param {T} tag
   * @param {Attributes} [attributes] a function under "onclick" and the like listens
   * @param {...Child} children
   * @returns {HTMLElementTagNameMap[T]}
   */
  function el(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    set(element, attributes);
    add(element, children);
    return element;
  }

  /** @param {string} tag @param {Attributes} [attributes] @param {...Child} children @returns {SVGElement} */
  function svg(tag, attributes = {}, ...children) {
    const element = document.createElementNS(SVG, tag);
    set(element, attributes);
    add(element, children);
    return element;
  }

  /** @param {keyof typeof ICONS} name */
  function icon(name) {
    const filled = FILLED.has(name);
    return svg(
      "svg",
      { class: filled ? "icon filled" : "icon", viewBox: "0 0 16 16", "aria-hidden": "true", focusable: "false" },
      svg("path", { d: ICONS[name] }),
    );
  }

  /** Put nodes in the place of what an element holds. @param {Element} element @param {...Child} children */
  function fill(element, ...children) {
    element.replaceChildren();
    add(element, children);
  }

  /** A list of names and values. @param {[string, string][]} facts */
  function facts(facts) {
    return el(
      "dl",
      { class: "facts" },
      ...facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))),
    );
  }

  /** Whether the reader wants little motion. */
  const still = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

  return { el, svg, icon, fill, facts, still };
})();

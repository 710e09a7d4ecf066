// @ts-check
"use strict";

/** Word-level differences of two texts: the longest common subsequence of their words. */
const Diff = (() => {
  /** Words, and what is between them. @param {string} text @returns {string[]} */
  const split = (text) => text.match(/\s+|[\p{L}\p{N}\p{M}'’_-]+|[^\s\p{L}\p{N}\p{M}'’_-]/gu) ?? [];

  /**
   * @param {string} before
   * @param {string} after
   * @returns {["same" | "removed" | "added", string][]}
   */
  function pieces(before, after) {
    const a = split(before);
    const b = split(after);
    const width = b.length + 1;
    const longest = new Uint16Array((a.length + 1) * width);
    for (let i = a.length - 1; i >= 0; i--)
      for (let j = b.length - 1; j >= 0; j--)
        longest[i * width + j] =
          a[i] === b[j]
            ? longest[(i + 1) * width + j + 1] + 1
            : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    /** @type {["same" | "removed" | "added", string][]} */
    const found = [];
    /** @param {"same" | "removed" | "added"} kind @param {string} text */
    const put = (kind, text) => {
      const last = found[found.length - 1];
      if (last && last[0] === kind) last[1] += text;
      else found.push([kind, text]);
    };
    let i = 0;
    let j = 0;
    while (i < a.length || j < b.length) {
      if (i < a.length && j < b.length && a[i] === b[j]) {
        put("same", a[i++]);
        j++;
      } else if (i < a.length && (j === b.length || longest[(i + 1) * width + j] >= longest[i * width + j + 1])) {
        put("removed", a[i++]);
      } else put("added", b[j++]);
    }
    return whole(found);
  }

  /**
   * Merge changes that are separated only by space, so that phrases are not split.
   * @param {["same" | "removed" | "added", string][]} found
   */
  function whole(found) {
    /** @type {["same" | "removed" | "added", string][]} */
    const merged = [];
    let removed = "";
    let added = "";
    const flush = () => {
      if (removed) merged.push(["removed", removed]);
      if (added) merged.push(["added", added]);
      removed = added = "";
    };
    found.forEach(([kind, text], at) => {
      const between = at > 0 && at < found.length - 1;
      if (kind === "removed") removed += text;
      else if (kind === "added") added += text;
      else if (between && !text.trim() && removed && added) {
        removed += text;
        added += text;
      } else {
        flush();
        merged.push(["same", text]);
      }
    });
    flush();
    return merged;
  }

  /**
   * Mark differences with <del> and <ins>, which screen readers announce.
   * @param {string} before
   * @param {string} after
   */
  function show(before, after) {
    const tags = /** @type {const} */ ({ same: "span", removed: "del", added: "ins" });
    return Dom.el("span", { class: "diff" }, ...pieces(before, after).map(([kind, text]) => Dom.el(tags[kind], {}, text)));
  }

  return { pieces, show };
})();

// @ts-check
"use strict";

/**
 * Frame times of a video. Players seek to the middle of a frame, so that exactly this frame is displayed.
 */
const Frames = (() => {
  /** @param {Film} film @param {number} frame when it starts, in seconds */
  function start(film, frame) {
    if (film.times) return frame < film.times.length ? film.times[frame] : (film.seconds ?? 0);
    const [frames, seconds] = film.rate ?? [25, 1];
    return (frame * seconds) / frames;
  }

  /** @param {Film} film */
  const count = (film) => film.frames ?? 1;

  /** @param {Film} film @param {number} frame */
  const middle = (film, frame) => (start(film, frame) + start(film, frame + 1)) / 2;

  /** The frame on show at a time. @param {Film} film @param {number} time */
  function at(film, time) {
    let low = 0;
    let high = count(film) - 1;
    while (low < high) {
      const half = (low + high + 1) >> 1;
      if (start(film, half) <= time + 1e-4) low = half;
      else high = half - 1;
    }
    return low;
  }

  return { start, count, middle, at };
})();

/**
 * Players: a picture that is replaced by a video when it becomes visible.
 *
 * @typedef {{ element: HTMLElement, film: Film, video: HTMLVideoElement | null, wake: () => HTMLVideoElement | null,
 *   onwake: ((video: HTMLVideoElement) => void) | null }} Player
 */
const Players = (() => {
  /** @type {WeakMap<Element, () => void>} */
  const seen = new WeakMap();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const entry of entries)
        if (entry.isIntersecting) {
          observer.unobserve(entry.target);
          seen.get(entry.target)?.();
        }
    },
    { rootMargin: "200px" },
  );

  /** Call a function when an element comes near the view. @param {Element} element @param {() => void} act */
  function whenSeen(element, act) {
    seen.set(element, act);
    observer.observe(element);
  }

  /** @param {Film | undefined} film @param {string} label */
  function picture(film, label) {
    if (film?.poster) return Dom.el("img", { src: film.poster, alt: label, loading: "lazy", decoding: "async" });
    const why = film?.fault ?? (film ? "no picture" : "not in this gallery");
    return Dom.el("div", { class: "nothing" }, Dom.el("span", {}, label), Dom.el("small", {}, why));
  }

  /**
   * @param {Film | undefined} film
   * @param {string} label what is shown, for those who do not see it
   * @param {{ lazy?: boolean }} [how] lazy: becomes a video only when woken
   * @returns {Player}
   */
  function make(film, label, how = {}) {
    const element = Dom.el("div", { class: "player" }, picture(film, label));
    if (film?.size) element.style.aspectRatio = `${film.size[0]} / ${film.size[1]}`; // prevents layout shifts while loading
    /** @type {Player} */
    const player = { element, film: film ?? { file: null, poster: null }, video: null, wake, onwake: null };

    function wake() {
      if (player.video || !film?.file || film.fault) return player.video;
      const video = Dom.el("video", {
        src: film.file,
        poster: film.poster,
        preload: "auto",
        playsinline: true,
        muted: true,
        "aria-label": label,
      });
      video.muted = true;
      video.disablePictureInPicture = true;
      video.addEventListener("error", () => {
        Dom.fill(element, picture({ ...film, fault: "this browser cannot play the file" }, label));
        element.classList.add("failed");
      });
      player.video = video;
      Dom.fill(element, video);
      player.onwake?.(video);
      return video;
    }

    if (!how.lazy) whenSeen(element, wake);
    return player;
  }

  return { make, picture, whenSeen };
})();

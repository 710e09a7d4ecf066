// @ts-check
"use strict";

/**
 * Synchronized players. The others follow the time of the first one by small changes of speed, and jump if they are far
 * from it. A frame step seeks to the middle of the same frame in all players.
 *
 * @typedef {{ toggle: () => Promise<void>, pause: () => void, step: (frames: number) => void,
 *   seek: (frame: number) => void, frame: () => number, playing: () => boolean, replace: (players: Player[]) => void,
 *   listen: (heard: (frame: number, playing: boolean) => void) => void, stop: () => void, players: () => Player[],
 *   setRate: (rate: number) => void, setLoop: (loop: boolean) => void, setSound: (on: boolean) => void }} Group
 */
const Sync = (() => {
  const NEAR = 0.006;
  const FAR = 0.08;
  const MOST = 0.15;
  const ENOUGH = HTMLMediaElement.HAVE_FUTURE_DATA;

  /** @type {Set<Group>} */
  const groups = new Set();

  /** @param {HTMLVideoElement} video @param {string} event */
  const once = (video, event) => new Promise((resolve) => video.addEventListener(event, resolve, { once: true }));

  /** @param {HTMLVideoElement} video */
  const ready = (video) => (video.readyState >= ENOUGH ? Promise.resolve() : once(video, "canplay"));

  /**
   * @param {Player[]} given
   * @returns {Group}
   */
  function group(given) {
    let players = given;
    let rate = 1;
    let loop = true;
    let sound = false;
    let wanted = false; // whether playback was requested
    let running = false; // whether the players have started
    let target = 0; // frame that was requested last
    let turn = 0; // number of starts, to cancel earlier ones
    /** @type {((frame: number, playing: boolean) => void)[]} */
    const listeners = [];

    const videos = () => /** @type {HTMLVideoElement[]} */ (players.map((player) => player.video).filter(Boolean));
    const leader = () => players.find((player) => player.video) ?? players[0];
    const last = () => Math.max(0, ...players.map((player) => Frames.count(player.film) - 1));

    function frame() {
      const first = leader();
      return running && first?.video ? Frames.at(first.film, first.video.currentTime) : target;
    }

    function tell() {
      const now = frame();
      for (const heard of listeners) heard(now, wanted);
    }

    /** @param {number} frame */
    function place(frame) {
      target = Math.min(Math.max(frame, 0), last());
      for (const player of players)
        if (player.video) player.video.currentTime = Frames.middle(player.film, Math.min(target, Frames.count(player.film) - 1));
    }

    function pause() {
      const at = frame();
      wanted = running = false;
      turn++;
      for (const video of videos()) video.pause();
      place(at); // the displayed frame, in all players
      tell();
    }

    async function start() {
      const mine = ++turn;
      for (const player of players) player.wake();
      if (target >= last()) target = 0;
      place(target);
      tell();
      const all = videos();
      await Promise.all(all.map((video) => (video.seeking ? once(video, "seeked") : Promise.resolve())));
      await Promise.all(all.map(ready));
      if (mine !== turn || !wanted) return;
      for (const video of all) video.playbackRate = rate;
      try {
        await Promise.all(all.map((video) => video.play()));
      } catch {
        wanted = running = false; // the browser refused to play
        return tell();
      }
      if (mine !== turn || !wanted) return;
      running = true;
      requestAnimationFrame(watch);
    }

    async function restart() {
      running = false;
      for (const video of videos()) video.pause();
      target = 0;
      await start();
    }

    function watch() {
      if (!running) return;
      const all = videos();
      const first = leader().video;
      if (!first || !first.isConnected) return pause();
      const ended = all.some((video) => video.ended);
      if (ended) {
        if (loop) return void restart();
        target = last();
        running = wanted = false;
        for (const video of all) video.pause();
        return tell();
      }
      const waits = all.some((video) => video.readyState < ENOUGH);
      for (const video of all) {
        if (waits && video.readyState >= ENOUGH && !video.paused) video.pause();
        else if (!waits && video.paused) void video.play().catch(() => undefined);
        if (video === first) continue;
        const apart = video.currentTime - first.currentTime;
        if (Math.abs(apart) > FAR && !video.seeking) video.currentTime = first.currentTime;
        const speed = Math.abs(apart) < NEAR ? 1 : 1 - Math.max(-MOST, Math.min(MOST, 3 * apart));
        if (Math.abs(video.playbackRate - rate * speed) > 0.004) video.playbackRate = rate * speed;
      }
      tell();
      requestAnimationFrame(watch);
    }

    /** @param {Player[]} next */
    function adopt(next) {
      for (const player of next)
        player.onwake = (video) => {
          video.muted = !(sound && player === next[0]);
          const now = frame();
          video.addEventListener("loadedmetadata", () => place(running ? now : target), { once: true });
          if (running) void restart();
        };
      players = next;
    }

    /** @type {Group} */
    const self = {
      async toggle() {
        if (wanted) return pause();
        for (const other of groups) if (other !== self && other.playing()) other.pause();
        wanted = true;
        await start();
      },
      pause,
      step(frames) {
        const to = frame() + frames;
        if (wanted) pause();
        for (const player of players) player.wake();
        place(to);
        tell();
      },
      seek(to) {
        const was = wanted;
        if (wanted) pause();
        place(to);
        tell();
        if (was) {
          wanted = true;
          void start();
        }
      },
      frame,
      playing: () => wanted,
      /** Show others from the same frame on, playing if these did. */
      replace(next) {
        const was = wanted;
        const at = frame();
        if (was) pause();
        target = at;
        adopt(next);
        place(at);
        tell();
        if (was) {
          wanted = true;
          void start();
        }
      },
      listen: (heard) => void listeners.push(heard),
      stop() {
        wanted = running = false;
        turn++;
        for (const video of videos()) video.pause();
        groups.delete(self);
      },
      players: () => players,
      setRate(next) {
        rate = next;
        if (running) for (const video of videos()) video.playbackRate = rate;
      },
      setLoop: (on) => void (loop = on),
      setSound(on) {
        sound = on;
        videos().forEach((video, number) => void (video.muted = !(on && number === 0)));
      },
    };
    adopt(given);
    groups.add(self);
    return self;
  }

  /** The group that a key belongs to: the one that plays, else the first on the page. */
  function current() {
    return [...groups].find((each) => each.playing()) ?? [...groups][0];
  }

  /** Stop all, when another page is shown. */
  function stopAll() {
    for (const each of [...groups]) each.stop();
  }

  return { group, current, stopAll };
})();

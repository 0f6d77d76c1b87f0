// Steps through the conquest, by hand or by itself.

const SECONDS = 8; // that a whole conquest takes when it plays

// Elements: first, step, play, place (a slider), told (text). Calls show(conquered) with the number of conquered
// samples; undefined stands for the finished forest.
export function makePlayer({ first, step, play, place, told }, show) {
  let [total, conquered, frame, isPlaying] = [0, 0, 0, false];

  const set = (count) => {
    conquered = Math.min(total, Math.max(0, count));
    place.value = conquered;
    told.textContent = conquered < total ? `${conquered} of ${total}` : `all ${total}`;
    show(conquered < total ? conquered : undefined);
  };
  const mark = (playing) => {
    isPlaying = playing;
    play.setAttribute("aria-label", playing ? "Pause" : "Play the conquest");
    play.classList.toggle("playing", playing);
    document.body.classList.toggle("is-playing", playing);
  };
  const stop = () => {
    cancelAnimationFrame(frame);
    mark(false);
  };
  const start = (onEnd = () => {}) => {
    stop();
    if (conquered >= total) set(0);
    mark(true);
    const [began, from] = [performance.now(), conquered];
    const advance = (now) => {
      const count = from + Math.floor(((now - began) / (1000 * SECONDS)) * total);
      if (count > conquered) set(count);
      if (conquered < total) return (frame = requestAnimationFrame(advance));
      mark(false);
      onEnd();
    };
    frame = requestAnimationFrame(advance);
  };

  first.addEventListener("click", () => (stop(), set(0)));
  step.addEventListener("click", () => (stop(), set(conquered >= total ? 1 : conquered + 1)));
  play.addEventListener("click", () => (isPlaying ? stop() : start()));
  place.addEventListener("input", () => (stop(), set(Number(place.value))));

  return {
    start,
    stop,
    isPlaying: () => isPlaying,
    // A new forest is shown finished.
    reset(count) {
      stop();
      total = conquered = place.max = count;
      place.value = count; // now that the slider is as long
      told.textContent = `all ${count}`;
    },
  };
}

// A short story that plays by itself, for pages that embed the playground: #embed=on

const STORY = [
  { words: "Prototypes at the border conquer the others, the cheapest path first.", change: { wrong: 0, n_conquerors: 1 }, play: true },
  { words: "Every place goes to the class whose path reaches it most cheaply.", wait: 3000 },
  { words: "Some labels are wrong, and each makes an island.", drag: ["wrong", 0, 20], wait: 3500 },
  { words: "Let many samples decide instead of one, and the islands go.", drag: ["n_conquerors", 1, 13], wait: 5000 },
];

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// `change(values)` sets fields of the state, `play()` ends with the conquest, `say(words)` writes the caption. With
// `still` nothing moves: the end of the story is shown.
export async function tell({ change, play, say, still }) {
  if (still) {
    change({ wrong: 20, n_conquerors: 13 });
    return say(STORY.at(-1).words);
  }
  for (let scene = 0; ; scene = (scene + 1) % STORY.length) {
    const { words, change: first, play: plays, drag, wait = 0 } = STORY[scene];
    say(words);
    if (first) change(first);
    if (plays) await play();
    if (drag) {
      const [name, from, to] = drag;
      for (let value = from; value <= to; value++) {
        change({ [name]: value });
        await pause(90);
      }
    }
    await pause(wait);
  }
}

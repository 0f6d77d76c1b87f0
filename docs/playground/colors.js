// Colours that colour-blind readers can tell apart (after Okabe and Ito), on light and on dark.

const LIGHT = ["#0072b2", "#e08a00", "#009e73", "#c0589b", "#d55e00", "#4aa8e0", "#7a6a20", "#6a51a3", "#5b6770", "#8c1c3a"];
const DARK = ["#4aa6ea", "#f5b43c", "#33c79c", "#ea95c6", "#ff8a4c", "#8fd0fa", "#cfc05a", "#a996e8", "#a9b4bd", "#e0708c"];
export const NAMES = ["blue", "orange", "green", "pink"];

// What canvases need of the page's style.
export function theme() {
  const root = document.documentElement, style = getComputedStyle(root);
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  // A variable is read as it is written: light-dark(one, other).
  const read = (name) => style.getPropertyValue(name).match(/#\w+/g)[Number(isDark)];
  return {
    classes: isDark ? DARK : LIGHT,
    plane: read("--plane"),
    ink: read("--ink"),
    quiet: read("--quiet"),
    line: read("--line"),
  };
}

export const colorOf = (colors, c) => colors.classes[c % colors.classes.length];

export function channels(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

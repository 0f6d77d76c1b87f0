// What the page shows, as one flat object; and the same as the part of an address behind "#".

import { SETS, SIDE, MOST_POINTS, collect } from "./sets.js";

const number = (lowest, highest, step = 1) => (text) => {
  const value = Number(text);
  if (text.trim() === "" || Number.isNaN(value)) return undefined;
  return Math.min(highest, Math.max(lowest, Number((Math.round(value / step) * step).toFixed(2))));
};
const oneOf = (...names) => (text) => (names.includes(text) ? text : undefined);

export const MODELS = ["plain", "fuzzy", "tree", "search", "clusters", "semi"];
export const COMPARISONS = ["none", "ties", "conquerors"];

// Each field with its first value and how it is read from an address; what cannot be read keeps its first value.
const FIELDS = {
  set: ["moons", oneOf(...Object.keys(SETS), "drawn")],
  n: [240, number(10, MOST_POINTS)],
  seed: [1, number(0, 999999)],
  wrong: [0, number(0, 45)],
  model: ["plain", oneOf(...MODELS)],
  sigma: [0.8, number(0.1, 1.2, 0.05)],
  k_max: [20, number(1, 50)],
  n_conquerors: [1, number(1, 30)],
  n_neighbors: [0, number(0, 50)], // 0 here and below: the estimator decides
  threshold: [0, number(0, 600, 10)],
  n_labels: [3, number(1, 20)],
  compare: ["none", oneOf(...COMPARISONS)],
  regions: ["costs", oneOf("costs", "flat", "off")],
  forest: ["on", oneOf("on", "off")],
  embed: ["off", oneOf("off", "on")],
};

export const firstState = () => Object.fromEntries(Object.entries(FIELDS).map(([name, [first]]) => [name, first]));

// Sets have a size and a seed of their own.
const firstValues = (set) => {
  const { count: n, seed } = Object.hasOwn(SETS, set) ? SETS[set] : SETS.moons;
  return { ...firstState(), n, seed };
};

// Points by hand, four letters each: x and y in ten bits, the class in four.
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

export function writePoints({ X, y }) {
  return Array.from(y, (c, i) => {
    const bits = X[2 * i] * 2 ** 14 + X[2 * i + 1] * 2 ** 4 + c;
    return [18, 12, 6, 0].map((shift) => LETTERS[Math.floor(bits / 2 ** shift) % 64]).join("");
  }).join("");
}

export function readPoints(text) {
  const points = [];
  for (let at = 0; at + 4 <= text.length && points.length < MOST_POINTS; at += 4) {
    const bits = [...text.slice(at, at + 4)].reduce((sum, letter) => sum * 64 + LETTERS.indexOf(letter), 0);
    const point = [Math.floor(bits / 2 ** 14), Math.floor(bits / 2 ** 4) % 1024, bits % 16];
    if (bits >= 0 && point[0] <= SIDE && point[1] <= SIDE && point[2] < 4) points.push(point);
  }
  return collect(points);
}

// `points` are written only if they were drawn: a named set is made again from its seed.
export function writeAddress(state, points) {
  const first = firstValues(state.set);
  const changed = Object.keys(FIELDS).filter((name) => state[name] !== first[name]);
  const parts = changed.map((name) => `${name}=${state[name]}`);
  if (state.set === "drawn") parts.push(`points=${writePoints(points)}`);
  return parts.join("&");
}

// Returns the state, and the points if the address has some.
export function readAddress(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const state = firstValues(given.get("set"));
  for (const [name, [, read]] of Object.entries(FIELDS)) {
    if (given.has(name)) state[name] = read(given.get(name)) ?? state[name];
  }
  return { state: settle(state), points: state.set === "drawn" ? readPoints(given.get("points") ?? "") : null };
}

// Choices that exclude one another: textbook ties are those of the plain forest, and clusters have no conquerors.
export function settle(state) {
  const fits = { none: true, ties: state.model === "plain", conquerors: state.model !== "clusters" };
  const compare = fits[state.compare] ? state.compare : "none";
  return {
    ...state,
    compare,
    sigma: ["tree", "search"].includes(state.model) ? Math.min(state.sigma, 1) : state.sigma,
    n_conquerors: compare === "conquerors" ? Math.max(2, state.n_conquerors) : state.n_conquerors,
  };
}

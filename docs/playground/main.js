// Joins the state, the controls and the views.

import { colorOf, theme } from "./colors.js";
import { conquestOrder } from "./conquest.js";
import { loadCore } from "./core.js";
import { prepare } from "./draw.js";
import { listen } from "./editing.js";
import { fitModel } from "./models.js";
import { makePlayer } from "./player.js";
import { asPython } from "./python.js";
import { MOST_POINTS, SETS, SIDE, collect, freshPoints, makeSet, poison } from "./sets.js";
import { chooseConquerors } from "./search.js";
import { firstState, readAddress, settle, writeAddress } from "./state.js";
import { tell } from "./story.js";
import { textbookForest } from "./textbook.js";
import { makeView } from "./view.js";
import { placeInWords, stepInWords } from "./words.js";

const $ = (id) => document.getElementById(id);
const form = $("controls");
const views = [...document.querySelectorAll("figure.view")].map(makeView);
let [core, state, points, data, found] = [null, null, null, null, null]; // found: by the search

// Which models are shown, left and right.
function shownModels() {
  if (state.compare === "ties") {
    return [
      { ...state, n_conquerors: 1, textbook: true, title: "Textbook: ties by value alone" },
      { ...state, n_conquerors: 1, title: "pathforest: one rule for ties" },
    ];
  }
  const n_conquerors = found?.best ?? state.n_conquerors;
  if (state.compare === "conquerors") {
    return [
      { ...state, n_conquerors: 1, title: "One conqueror" },
      { ...state, n_conquerors, title: found ? `The search takes ${n_conquerors}` : `${n_conquerors} conquerors` },
    ];
  }
  return [{ ...state, n_conquerors, n_neighbors: Math.min(state.n_neighbors, points.y.length - 1) }]; // of few points
}

// What prevents a model, in words.
function problem() {
  const n = points.y.length;
  if (n < 2) return "Draw two points or more.";
  if (n < 6 && state.model === "search") return "Draw six points or more for a search.";
  return null;
}

// Fits and draws everything that is shown; finer regions and scores follow when there is time.
function refit() {
  const y = state.model === "clusters" ? points.y : poison(points.y, state.wrong, state.seed);
  data = { X: points.X, y, truth: state.model === "clusters" ? null : points.y };
  found = state.model === "search" && !problem() ? chooseConquerors(core, data.X, y, state) : null;
  showScores();
  const settings = shownModels();
  views.forEach((view, i) => {
    view.figure.hidden = i >= settings.length;
    if (i < settings.length) view.fit(core, data, settings[i], problem());
    else view.forget();
    view.conquer(undefined);
  });
  player.reset(points.y.length);
  answer();
  draw();
  clearTimeout(judging);
  judging = setTimeout(judge, 120);
}

// What the search found, a row for each number of samples that decide.
function showScores() {
  $("search").hidden = !found;
  const lowest = Math.min(...(found?.scores ?? []).map(({ score }) => score));
  $("scores").replaceChildren(...(found?.scores ?? []).map(({ r, score }) => {
    const row = document.createElement("tr");
    row.className = r === found.best ? "chosen" : "";
    row.append(...[r, "", `${(100 * score).toFixed(1)} %`, r === found.best ? "taken" : ""].map((text) =>
      Object.assign(document.createElement("td"), { textContent: text })));
    const bar = document.createElement("i");
    bar.style.width = `${10 + (90 * (score - lowest)) / Math.max(1 - lowest, 0.001)}%`;
    row.children[1].append(bar);
    return row;
  }));
}

let judging = 0;
function judge() {
  const fresh = freshPoints(state.set, state.seed);
  shown().forEach((view) => view.judge(fresh));
}

const shown = () => views.filter((view) => !view.figure.hidden);
const draw = () => shown().forEach((view) => view.draw());

// Changes within one frame are computed once.
let [frame, isChanged] = [0, false];
function soon({ fits }) {
  isChanged ||= fits;
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(() => {
    if (isChanged) refit();
    else draw();
    isChanged = false;
  });
}

function change(values) {
  const isOtherSet = "set" in values || "n" in values || "seed" in values;
  state = settle({ ...state, ...values });
  if (isOtherSet && state.set in SETS) points = makeSet(state.set, state.n, state.seed);
  showControls();
  soon({ fits: true });
  clearTimeout(writing);
  writing = setTimeout(writeState, 250);
}

let writing = 0;
function writeState() {
  const hash = writeAddress(state, points);
  history.replaceState(null, "", `#${hash}`);
  if (window.parent !== window) window.parent.postMessage({ playground: { hash } }, "*");
}

// Words

const INVITATION = ["Point at a place, or tap it, to see who conquers it, along which path, and what its rival would ask."];

let said = null;
function say(sentences) {
  if (said === sentences) return; // the invitation again
  said = sentences;
  $("words").replaceChildren(...sentences.map((text) => Object.assign(document.createElement("span"), { textContent: `${text} ` })));
}

let asked = null; // the place that is explained: in which view, and whether keys chose it

function look(view, place, byKeys) {
  if (player.isPlaying()) return;
  asked = place && { view, place, byKeys };
  answer();
  soon({ fits: false });
}

function answer() {
  const view = asked && shown().includes(asked.view) ? asked.view : null;
  shown().forEach((other) => other.explain(view && asked.place, other === view && asked.byKeys));
  say(view?.explained() ? placeInWords(view.model, data.X, view.settings, view.explained()) : INVITATION);
}

// Points by hand

function editPoints(rows) {
  points = collect(rows);
  change({ set: "drawn" });
}

const rowsOfPoints = () => Array.from(points.y, (c, i) => [points.X[2 * i], points.X[2 * i + 1], c]);

function add([x, y], c) {
  if (points.y.length >= MOST_POINTS) return say([`${MOST_POINTS} points are the most here.`]);
  editPoints([...rowsOfPoints(), [x, y, c]]);
}

function erase([x, y], radius) {
  const rows = rowsOfPoints().filter(([a, b]) => Math.hypot(a - x, b - y) > radius);
  if (rows.length < points.y.length) editPoints(rows);
}

const tool = () => form.elements.tool.value;

for (const view of views) {
  listen(view.plane, {
    tool,
    add,
    erase,
    look: (place, byKeys) => look(view, place, byKeys),
    leave: () => look(view, null, false),
  });
}

// The conquest

const player = makePlayer(
  { first: $("first"), step: $("step"), play: $("play"), place: $("place"), told: $("told") },
  (conquered) => {
    shown().forEach((view) => (view.explain(null), view.conquer(conquered)));
    draw();
    const view = shown().at(-1);
    $("words").setAttribute("aria-live", player.isPlaying() ? "off" : "polite");
    if (!view.model || conquered === undefined) return say(INVITATION);
    say(conquered ? stepInWords(view.model, view.order(), conquered) : ["Nothing is conquered yet; all samples wait in the queue."]);
  }
);

// Controls

const APPLIES = {
  sigma: ["fuzzy", "tree", "search"],
  k_max: ["fuzzy", "tree", "search"],
  n_conquerors: ["plain", "fuzzy", "tree", "semi"],
  n_neighbors: ["clusters"],
  threshold: ["clusters"],
  n_labels: ["semi"],
  wrong: ["plain", "fuzzy", "tree", "search", "semi"],
};

function showControls() {
  for (const [name, value] of Object.entries(state)) {
    const control = form.elements[name];
    if (!control) continue;
    if (control.type === "checkbox") control.checked = value === "on";
    else control.value = value;
  }
  for (const [name, models] of Object.entries(APPLIES)) {
    $(`row-${name}`).hidden = !models.includes(state.model) || (name === "n_conquerors" && state.compare === "ties");
  }
  $("row-n").hidden = state.set === "drawn";
  form.elements.n.max = SETS[state.set]?.most ?? MOST_POINTS;
  form.elements.n.value = state.n;
  form.elements.sigma.max = ["tree", "search"].includes(state.model) ? 1 : 1.2;
  form.querySelector("[name=compare][value=conquerors]").disabled = state.model === "clusters";
  for (const output of form.querySelectorAll("output[for]")) {
    const input = $(output.htmlFor[0]);
    const isAuto = input.value === "0" && ["n_neighbors", "threshold"].includes(input.name);
    output.textContent = isAuto ? "auto" : Number(input.value).toLocaleString("en") + (input.name === "wrong" ? " %" : "");
  }
  document.body.classList.toggle("compares", state.compare !== "none");
  document.body.classList.toggle("draws", tool() !== "look");
}

form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", ({ target }) => {
  const { name, type } = target;
  if (name === "tool") return showControls();
  if (!name) return;
  if (type === "checkbox") return change({ [name]: target.checked ? "on" : "off" });
  if (type === "range") return change({ [name]: Number(target.value) });
  if (name === "set" && target.value in SETS) {
    const { count: n, seed } = SETS[target.value];
    return change({ set: target.value, n, seed });
  }
  if (name === "set" && tool() === "look") form.elements.tool.value = "0"; // by hand
  if (name === "compare" && target.value === "ties") return change({ compare: "ties", model: "plain" });
  if (name === "compare" && target.value === "conquerors" && state.n_conquerors === 1) {
    return change({ compare: "conquerors", n_conquerors: 13 });
  }
  change({ [name]: target.value });
});

// Of grids, one that breaks the textbook algorithm: most do not.
function nextSeed(set, seed) {
  for (let tries = 1; tries < 2000; tries++) {
    const next = (seed + tries) % 1_000_000;
    if (set !== "grid") return next;
    const { X, y } = makeSet(set, state.n, next);
    if (textbookForest(X, y).label.filter((c, i) => c !== y[i]).length > 5) return next;
  }
  return seed + 1;
}

$("again").addEventListener("click", () => {
  const set = state.set in SETS ? state.set : "moons";
  change({ set, seed: nextSeed(set, state.seed) });
});
$("clear").addEventListener("click", () => {
  if (tool() === "look") form.elements.tool.value = "0";
  editPoints([]);
});

async function copy(text, told) {
  try {
    await navigator.clipboard.writeText(text);
    $("copied").textContent = told;
  } catch {
    $("copied").textContent = "The browser does not let the page copy; the lines are selected below.";
    $("python").parentElement.open = true;
    getSelection().selectAllChildren($("python"));
  }
  setTimeout(() => ($("copied").textContent = ""), 4000);
}

const python = () => asPython(data.X, data.y, shownModels().at(-1));
$("copy-python").addEventListener("click", () => {
  $("python").textContent = python();
  copy(python(), "Python copied.");
});
$("copy-link").addEventListener("click", () => {
  writeState();
  copy(location.href, "Link copied.");
});
$("python").parentElement.addEventListener("toggle", () => ($("python").textContent = python()));

// Small pictures of the sets, on the buttons that choose them.
function drawThumbnails() {
  const colors = theme();
  for (const canvas of document.querySelectorAll(".thumbnail")) {
    const { X, y } = makeSet(canvas.dataset.set, 120, SETS[canvas.dataset.set].seed);
    const { context } = prepare(canvas);
    context.clearRect(0, 0, SIDE, SIDE);
    y.forEach((c, i) => {
      context.fillStyle = colorOf(colors, c);
      context.beginPath();
      context.arc(X[2 * i], X[2 * i + 1], 36, 0, 7);
      context.fill();
    });
  }
}

// Start

function redraw() {
  drawThumbnails();
  views.forEach((view) => view.paint());
  draw();
}

function open() {
  const read = readAddress(location.hash);
  state = read.state;
  points = read.points ?? makeSet(state.set, state.n, state.seed);
  showControls();
  refit();
}

// A page that embeds this one sends its theme and the state in its own address.
addEventListener("message", ({ data: message }) => {
  const { theme: scheme, hash } = message?.playground ?? {};
  if (scheme) document.documentElement.dataset.theme = scheme;
  if (scheme && data) redraw();
  if (hash !== undefined && hash !== location.hash.slice(1)) location.replace(`#${hash}`);
});

if (window.parent !== window) {
  document.body.classList.add("framed");
  const report = () => window.parent.postMessage({ playground: { height: document.documentElement.offsetHeight } }, "*");
  new ResizeObserver(report).observe(document.documentElement);
}

core = await loadCore();
open();
// Only now: before the first model there is nothing to draw again.
addEventListener("hashchange", open);
addEventListener("resize", () => soon({ fits: false }));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
drawThumbnails();
if (state.embed === "on") {
  document.body.classList.add("embedded");
  tell({
    change,
    say: (words) => ($("caption").textContent = words),
    play: () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => player.start(resolve)))),
    still: matchMedia("(prefers-reduced-motion: reduce)").matches,
  });
}
document.body.classList.add("ready");

// For tests and measurements: what is shown, and how long it takes to fit and draw it again.
globalThis.playground = {
  state: () => state,
  data: () => data,
  found: () => found,
  models: () => shown().map((view) => view.model),
  order: () => shown().map((view) => Array.from(view.order())),
  change,
  python,
  // A model of other points: its arrays, the order of its conquest, and what it says of places.
  fit(X, y, settings, Q) {
    const model = fitModel(core, Float64Array.from(X.flat()), Int32Array.from(y), { ...firstState(), ...settings });
    const answers = model.offers(Float64Array.from(Q.flat()));
    model.free();
    return { ...model.arrays, conquest: conquestOrder(model.arrays), answers };
  },
  measure() {
    const start = performance.now();
    refit();
    return performance.now() - start;
  },
};

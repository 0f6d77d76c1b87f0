// A fitted model as the page uses it, whichever estimator it is: arrays, colours of places, and who conquers them.

import { textbookForest, textbookPredict } from "./textbook.js";

const UNLABELLED = -1;

// The first so many samples of each class keep their label.
export function keepFewLabels(labels, perClass) {
  const seen = new Map();
  return labels.map((c) => {
    seen.set(c, (seen.get(c) ?? 0) + 1);
    return seen.get(c) <= perClass ? c : UNLABELLED;
  });
}

// Fits what the settings ask for to points X with labels y; `free` it when it is no longer needed.
//   classes     what codes stand for: the classes in use, or the numbers of the clusters
//   codes       per sample the code of the label it was given, -1 if none
//   arrays      those of the core
//   color(Q)    per place of Q the code of its class, and its cost: for clusters its density
//   offers(Q)   per place its code, and for each class its cost and its conqueror
export function fitModel(core, X, y, settings) {
  if (settings.model === "clusters") return fitClusters(core, X, settings);
  const given = settings.model === "semi" ? keepFewLabels(y, settings.n_labels) : y;
  const classes = [...new Set(given)].filter((c) => c !== UNLABELLED).sort((a, b) => a - b);
  const codes = given.map((c) => classes.indexOf(c));
  const samples = { X, y: codes, nFeatures: 2, nClasses: classes.length };
  return { kind: settings.model, classes, codes, ...fitClassifier(core, samples, settings) };
}

function fitClassifier(core, samples, { model, sigma, k_max, n_conquerors, textbook }) {
  if (textbook) {
    const arrays = textbookForest(samples.X, samples.y);
    const offers = (Q) => textbookPredict(samples.X, arrays, samples.nClasses, Q);
    return { arrays, offers, color: colorBy(offers, samples.nClasses), free() {} };
  }
  const fuzzy = model === "plain" ? {} : { kMax: k_max, sigma, alongTree: model !== "fuzzy" };
  const fitted = model === "semi" ? core.spread(samples) : core.fit({ ...samples, ...fuzzy });
  const offers = (Q) => fitted.predict(Q, { nConquerors: n_conquerors });
  return { arrays: fitted.arrays, offers, color: colorBy(offers, samples.nClasses), free: fitted.free };
}

const colorBy = (offers, nClasses) => (Q) => {
  const { classes, costs } = offers(Q);
  return { classes, costs: Float64Array.from(classes, (c, i) => costs[i * nClasses + c]) };
};

function fitClusters(core, X, { n_neighbors, threshold }) {
  const fitted = core.cluster({ X, nFeatures: 2, nNeighbors: n_neighbors, threshold });
  const { label, cluster_roots } = fitted.arrays;
  const offers = (Q) => {
    const { conquerors, values } = fitted.join(Q);
    return { classes: conquerors.map((q) => label[q]), conquerors, costs: values };
  };
  const arrays = { ...fitted.arrays, prototypes: cluster_roots };
  const classes = Array.from(cluster_roots.keys());
  return { kind: "clusters", classes, codes: null, arrays, offers, color: offers, free: fitted.free };
}

// The samples from q to the start of its path.
export function pathFrom(predecessor, q) {
  const path = [];
  for (; q >= 0; q = predecessor[q]) path.push(q);
  return path;
}

// Who conquers a place, and the rival: the cheapest class that lost, null if there is none.
export function explain(model, x, y) {
  const { classes, costs, conquerors } = model.offers(Float64Array.of(x, y));
  const side = (code, place) => ({
    code,
    cost: costs[place],
    conqueror: conquerors[place],
    path: pathFrom(model.arrays.predecessor, conquerors[place]),
  });
  if (model.kind === "clusters") return { winner: side(classes[0], 0), rival: null };
  let rival = null;
  costs.forEach((cost, c) => {
    if (c !== classes[0] && conquerors[c] >= 0 && (rival === null || cost < costs[rival])) rival = c;
  });
  return { winner: side(classes[0], classes[0]), rival: rival === null ? null : side(rival, rival) };
}

// Samples whose own label another class took.
export const lostLabels = ({ codes, arrays: { label } }) =>
  codes ? Array.from(codes.keys()).filter((i) => codes[i] >= 0 && label[i] !== codes[i]) : [];

// Share of points that get their true class.
export function accuracy(model, points) {
  const { classes } = model.color(points.X);
  return classes.filter((code, i) => model.classes[code] === points.y[i]).length / points.y.length;
}

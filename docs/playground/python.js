// The lines of Python that make the same model.

import { keepFewLabels } from "./models.js";

const WIDTH = 100;

// Items of a list, as many to a line as fit.
function rows(items) {
  const lines = [""];
  for (const item of items) {
    const last = lines.length - 1;
    if (lines[last].length + item.length + 6 > WIDTH) lines.push(`${item},`);
    else lines[last] += `${lines[last] && " "}${item},`;
  }
  return lines.map((line) => `    ${line}\n`).join("");
}

const ESTIMATORS = {
  plain: ({ n_conquerors }) => ["OPFClassifier", { n_conquerors }],
  fuzzy: ({ sigma, k_max, n_conquerors }) => ["FuzzyOPFClassifier", { sigma, k_max, n_conquerors }],
  tree: ({ sigma, k_max, n_conquerors }) => [
    "FuzzyOPFClassifier",
    { sigma, k_max, competition: '"tree"', n_conquerors },
  ],
  search: ({ sigma, k_max }) => ["FuzzyOPFClassifierCV", { sigmas: sigma, k_max, transforms: "None" }],
  clusters: ({ n_neighbors, threshold }) => ["OPFClustering", { n_neighbors, threshold }],
  semi: ({ n_conquerors }) => ["OPFSemiSupervisedClassifier", { n_conquerors }],
};

// The estimator as it is written in Python, without what are defaults.
export function estimatorCall(settings) {
  const [name, parameters] = ESTIMATORS[settings.model](settings);
  const given = Object.entries(parameters).filter(([key, value]) => value !== (key === "n_conquerors" ? 1 : 0));
  return `${name}(${given.map(([key, value]) => `${key}=${value}`).join(", ")})`;
}

export function asPython(X, y, settings) {
  const places = Array.from(y, (_, i) => `[${X[2 * i]}, ${X[2 * i + 1]}]`);
  const labels = settings.model === "semi" ? keepFewLabels(y, settings.n_labels) : y;
  const isClustering = settings.model === "clusters";
  const call = estimatorCall(settings);
  return [
    "import numpy as np\n",
    `from pathforest import ${call.slice(0, call.indexOf("("))}\n\n`,
    `X = np.array([\n${rows(places)}], dtype=float)\n`,
    isClustering ? "" : `y = np.array([${settings.model === "semi" ? "  # -1: no label" : ""}\n${rows(Array.from(labels, String))}])\n`,
    `\nmodel = ${call}\n`,
    isClustering ? "model.fit(X)\nprint(model.labels_)\n" : "model.fit(X, y)\nprint(model.predict([[500, 500]]))\n",
  ].join("");
}

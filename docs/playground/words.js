// What the page says about a place, a step and a model.

import { NAMES } from "./colors.js";
import { short } from "./scale.js";

const count = (n, thing) => `${n.toLocaleString("en")} ${thing}${n === 1 ? "" : "s"}`;
export const nameOf = (model, code) =>
  model.kind === "clusters" ? `cluster ${model.classes[code] + 1}` : NAMES[model.classes[code]];

const distance = (X, i, x, y) => Math.hypot(X[2 * i] - x, X[2 * i + 1] - y);

// A path from its start at a prototype; the middle of a long one is left out.
function pathInWords(path, start) {
  const way = path.slice().reverse();
  const shown = way.length > 6 ? [...way.slice(0, 3), "…", ...way.slice(-2)] : way;
  return `${start} ${shown.join(" → ")}`;
}

const START = { plain: "prototype", fuzzy: "prototype", tree: "prototype", search: "prototype", semi: "labelled sample", clusters: "maximum" };

// Sentences on who conquers a place; `settings` are those of the model.
export function placeInWords(model, X, settings, { x, y, winner, rival }) {
  const start = START[model.kind];
  const name = nameOf(model, winner.code);
  const path = pathInWords(winner.path, start);
  if (model.kind === "clusters") {
    const own = model.arrays.cost[winner.conqueror];
    return [
      `This place joins ${name} at density ${short(winner.cost)} of 1000.`,
      `Sample ${winner.conqueror} brings it in: its path, ${path}, stays at ${short(own)} or above.`,
    ];
  }
  const r = settings.n_conquerors;
  const sentences = [`${name[0].toUpperCase()}${name.slice(1)} wins this place at cost ${short(winner.cost)}.`];
  const own = model.arrays.cost[winner.conqueror];
  if (model.kind === "semi") {
    sentences.push(
      `Its cheapest offer comes from sample ${winner.conqueror}, ${count(winner.path.length - 1, "step")} from a label: ${path}. ` +
        `Costs are sums of squared steps; the sample's own is ${short(own)}.`
    );
  } else {
    const far = distance(X, winner.conqueror, x, y);
    const larger = own > far ? "its own cost, which is larger than the distance" : "the distance, which is larger than its own cost";
    sentences.push(
      `${r > 1 ? `That is the mean of its ${r} cheapest offers; the cheapest` : "The offer"} comes from sample ${winner.conqueror}: ` +
        `${short(Math.max(own, far))}, ${larger} (${short(Math.min(own, far))}).`,
      winner.path.length > 1 ? `Path: ${path}.` : `It is a ${start} itself.`
    );
  }
  if (rival) {
    const dearer = winner.cost > 0 ? `, ${Math.round(100 * (rival.cost / winner.cost - 1))} % more` : "";
    sentences.push(`Its rival, ${nameOf(model, rival.code)}, asks ${short(rival.cost)}${dearer}.`);
  } else if (model.classes.length > 1) {
    sentences.push("No other class makes an offer here.");
  }
  return sentences;
}

// Sentences on the sample that has just left the queue.
export function stepInWords(model, order, conquered) {
  const { predecessor, cost, label } = model.arrays;
  const sample = order[conquered - 1];
  const value = short(cost[sample]);
  const name = nameOf(model, label[sample]);
  const place = `Step ${conquered} of ${order.length}`;
  if (model.kind === "clusters") {
    return predecessor[sample] < 0
      ? [`${place}: sample ${sample}, a maximum of the density at ${value}, founds a cluster.`, `It belongs to ${name}.`]
      : [`${place}: sample ${predecessor[sample]} conquers sample ${sample} for ${name}, at density ${value}.`];
  }
  if (predecessor[sample] < 0) return [`${place}: ${START[model.kind]} ${sample} of class ${name} starts at cost 0.`];
  const sentences = [`${place}: sample ${predecessor[sample]} conquers sample ${sample} for ${name}, at cost ${value}.`];
  if (conquered > 1 && cost[sample] < cost[order[conquered - 2]]) {
    sentences.push("The queue's cost has fallen: a small membership makes this sample cheaper than the one before.");
  }
  return sentences;
}

// What stands above a plane; `lost` is the number of training labels that another class took.
export function modelInWords(model, lost) {
  const { prototypes, label, best_k } = model.arrays;
  if (model.kind === "clusters") return `${count(model.classes.length, "cluster")} · k = ${best_k[0]}`;
  if (model.kind === "semi") return `${prototypes.length} of ${count(label.length, "sample")} labelled`;
  const parts = [count(prototypes.length, "prototype"), `${lost} of ${count(label.length, "training label")} lost`];
  return (best_k ? [...parts, `k = ${best_k[0]}`] : parts).join(" · ");
}

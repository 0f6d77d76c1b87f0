// The plane coloured by who conquers it: coarse at once, fine when the page has nothing else to do.

import { channels, colorOf } from "./colors.js";
import { SIDE } from "./sets.js";

const COARSE_MS = 2; // for the first picture of a model
const SLICE_MS = 9; // for a slice of a finer one, so that the page stays responsive
const FINER = [120, 360];
const WEAKEST = 0.14;
const STRONGEST = 0.62;

let queriesPerMs = 500; // measured as we go

function centres(side, firstRow, lastRow) {
  const Q = new Float64Array(2 * side * (lastRow - firstRow));
  let at = 0;
  for (let row = firstRow; row < lastRow; row++) {
    for (let column = 0; column < side; column++) {
      Q[at++] = ((column + 0.5) * SIDE) / side;
      Q[at++] = ((row + 0.5) * SIDE) / side;
    }
  }
  return Q;
}

// One raster of classes and costs, filled row by row.
function raster(side) {
  return { side, rows: 0, classes: new Int32Array(side * side), costs: new Float64Array(side * side) };
}

function fillRows(raster, model, count) {
  const end = Math.min(raster.side, raster.rows + count);
  const { classes, costs } = model.color(centres(raster.side, raster.rows, end));
  raster.classes.set(classes, raster.rows * raster.side);
  raster.costs.set(costs, raster.rows * raster.side);
  raster.rows = end;
}

const median = (values) => Float64Array.from(values).sort()[values.length >> 1];

// How strongly a place is coloured: the cheaper the stronger; a cluster, the denser.
function strength(cost, model, typical, mode) {
  if (mode === "flat") return 0.4;
  if (model.kind === "clusters") return WEAKEST + (STRONGEST - WEAKEST) * Math.sqrt(Math.max(0, cost) / 1000);
  if (cost === Infinity) return WEAKEST;
  return WEAKEST + (STRONGEST - WEAKEST) / (1 + (cost / typical) ** 2);
}

function paint({ side, classes, costs }, model, colors, mode, typical) {
  const picture = document.createElement("canvas");
  picture.width = picture.height = side;
  const context = picture.getContext("2d");
  const image = context.createImageData(side, side);
  const palette = model.classes.map((c) => channels(colorOf(colors, c)));
  const { data } = image;
  for (let i = 0; i < classes.length; i++) {
    const color = palette[classes[i]];
    data[4 * i] = color[0];
    data[4 * i + 1] = color[1];
    data[4 * i + 2] = color[2];
    data[4 * i + 3] = 255 * strength(costs[i], model, typical, mode);
  }
  context.putImageData(image, 0, 0);
  return picture;
}

// Returns the picture of a model; calls `onFiner(picture)` as better ones are ready, until `stop()`.
export function paintRegions(model, colors, mode, onFiner) {
  if (mode === "off") return { picture: null, stop() {} };
  const side = Math.round(Math.min(80, Math.max(24, Math.sqrt(COARSE_MS * queriesPerMs))));
  const coarse = raster(side);
  const start = performance.now();
  fillRows(coarse, model, side);
  queriesPerMs = (side * side) / Math.max(0.2, performance.now() - start);
  const typical = median(coarse.costs.filter(Number.isFinite)) || 1;
  let timer = 0;
  const refine = (level, next) => {
    fillRows(next, model, Math.max(1, Math.floor((SLICE_MS * queriesPerMs) / next.side)));
    if (next.rows < next.side) return wait(level, next);
    onFiner(paint(next, model, colors, mode, typical));
    if (level + 1 < FINER.length) wait(level + 1, raster(FINER[level + 1]));
  };
  const wait = (level, next) => (timer = setTimeout(refine, level === 0 && next.rows === 0 ? 60 : 4, level, next));
  wait(0, raster(FINER[0]));
  return { picture: paint(coarse, model, colors, mode, typical), stop: () => clearTimeout(timer) };
}

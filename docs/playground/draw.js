// Draws a forest on its plane: regions below, then arcs, samples, and what is being explained.

import { colorOf } from "./colors.js";
import { lostLabels } from "./models.js";
import { SIDE } from "./sets.js";

// Fits a canvas to its place on the page; returns its context, scaled to units of the plane, and pixels per unit.
export function prepare(canvas, unitsWide = SIDE, unitsHigh = SIDE) {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  context.setTransform(width / unitsWide, 0, 0, height / unitsHigh, 0, 0);
  return { context, unit: (ratio * unitsWide) / width }; // unit: one pixel of the page, in units
}

const radiusOf = (count) => (count <= 150 ? 5.2 : count <= 400 ? 4.2 : count <= 900 ? 3.1 : 2.2);

// scene: X, model, colors, picture (of the regions), forest (whether to draw it), truth (labels before some were
// made wrong), conquered (how many samples, of `order`; all if undefined), explained, cursor
export function drawScene(canvas, scene) {
  const { X, model, colors } = scene;
  const { context, unit } = prepare(canvas);
  context.fillStyle = colors.plane;
  context.fillRect(0, 0, SIDE, SIDE);
  if (!model) return drawCursor(context, unit, scene);
  const n = X.length / 2;
  const isOver = scene.conquered === undefined || scene.conquered >= n;
  const done = isOver ? null : new Set(scene.order.slice(0, scene.conquered));
  const isConquered = (i) => isOver || done.has(i);
  if (scene.picture && isOver) context.drawImage(scene.picture, 0, 0, SIDE, SIDE);
  if (scene.forest) drawArcs(context, unit, scene, isConquered);
  drawSamples(context, unit, scene, isConquered);
  if (!isOver && scene.conquered > 0) drawNewest(context, unit, scene, scene.order[scene.conquered - 1]);
  if (scene.explained) drawExplained(context, unit, scene);
  drawCursor(context, unit, scene);
}

const classOf = ({ model }, i) => model.classes[model.arrays.label[i]];

function drawArcs(context, unit, scene, isConquered) {
  const { X, colors, model: { arrays: { predecessor } } } = scene;
  const paths = new Map();
  predecessor.forEach((q, u) => {
    if (q < 0 || !isConquered(u)) return;
    const color = colorOf(colors, classOf(scene, u));
    if (!paths.has(color)) paths.set(color, new Path2D());
    paths.get(color).moveTo(X[2 * q], X[2 * q + 1]);
    paths.get(color).lineTo(X[2 * u], X[2 * u + 1]);
  });
  context.lineWidth = 1.5 * unit;
  context.globalAlpha = 0.8;
  paths.forEach((path, color) => {
    context.strokeStyle = color;
    context.stroke(path);
  });
  context.globalAlpha = 1;
}

// A sample has the colour of the label it was given; without a label, of the class that conquered it.
function drawSamples(context, unit, scene, isConquered) {
  const { X, model, colors, truth } = scene;
  const { prototypes, predecessor } = model.arrays;
  const radius = radiusOf(X.length / 2) * unit;
  const isPrototype = new Set(prototypes);
  const isSemi = model.kind === "semi";
  const [filled, hollow, truths, rings] = [new Map(), new Map(), new Map(), new Path2D()];
  const add = (paths, key, i, size) => {
    if (!paths.has(key)) paths.set(key, new Path2D());
    paths.get(key).moveTo(X[2 * i] + size, X[2 * i + 1]);
    paths.get(key).arc(X[2 * i], X[2 * i + 1], size, 0, 7);
  };
  for (let i = 0; i < predecessor.length; i++) {
    const own = model.codes ? model.codes[i] : -1;
    const c = own >= 0 ? model.classes[own] : classOf(scene, i);
    const size = isPrototype.has(i) && isSemi ? 1.4 * radius : radius;
    const waits = !isConquered(i);
    const color = waits && own < 0 ? colors.quiet : colorOf(colors, c);
    add(waits ? hollow : filled, color, i, waits ? 0.8 * size : size);
    if (truth && own >= 0 && c !== truth[i]) add(truths, colorOf(colors, truth[i]), i, 0.5 * size);
    if (isPrototype.has(i) && (!waits || isSemi)) {
      rings.moveTo(X[2 * i] + size + unit, X[2 * i + 1]);
      rings.arc(X[2 * i], X[2 * i + 1], size + unit, 0, 7);
    }
  }
  context.lineWidth = unit;
  hollow.forEach((path, color) => {
    context.fillStyle = colors.plane;
    context.fill(path);
    context.strokeStyle = color;
    context.stroke(path);
  });
  filled.forEach((path, color) => {
    context.fillStyle = color;
    context.fill(path);
    context.strokeStyle = colors.plane;
    context.stroke(path);
  });
  truths.forEach((path, color) => {
    context.fillStyle = color;
    context.fill(path);
  });
  context.lineWidth = (prototypes.length > 30 ? 1.3 : 2) * unit;
  context.strokeStyle = colors.ink;
  context.stroke(rings);
  drawCrosses(context, unit, scene, lostLabels(model).filter(isConquered), radius);
}

function drawCrosses(context, unit, { X, colors }, samples, radius) {
  const crosses = new Path2D();
  const arm = 1.5 * radius;
  for (const i of samples) {
    for (const slope of [-1, 1]) {
      crosses.moveTo(X[2 * i] - arm, X[2 * i + 1] - slope * arm);
      crosses.lineTo(X[2 * i] + arm, X[2 * i + 1] + slope * arm);
    }
  }
  context.lineWidth = 2 * unit;
  context.strokeStyle = colors.ink;
  context.stroke(crosses);
}

function drawPath(context, unit, { X, colors }, points, color, width) {
  const line = new Path2D();
  points.forEach(([x, y]) => line.lineTo(x, y));
  context.lineCap = context.lineJoin = "round";
  context.lineWidth = (width + 3) * unit;
  context.strokeStyle = colors.plane;
  context.stroke(line);
  context.lineWidth = width * unit;
  context.strokeStyle = color;
  context.stroke(line);
}

const placeOf = (X) => (i) => [X[2 * i], X[2 * i + 1]];

function drawNewest(context, unit, scene, i) {
  const { X, colors, model: { arrays: { predecessor } } } = scene;
  const color = colorOf(colors, classOf(scene, i));
  if (predecessor[i] >= 0) drawPath(context, unit, scene, [predecessor[i], i].map(placeOf(X)), color, 4);
  context.beginPath();
  context.arc(...placeOf(X)(i), 2.2 * radiusOf(X.length / 2) * unit, 0, 7);
  context.lineWidth = 2.5 * unit;
  context.strokeStyle = color;
  context.stroke();
}

function drawExplained(context, unit, scene) {
  const { X, model, colors, explained: { x, y, winner, rival } } = scene;
  const line = ({ path }) => [[x, y], ...path.map(placeOf(X))];
  if (rival) {
    context.setLineDash([5 * unit, 6 * unit]);
    drawPath(context, unit, scene, line(rival), colorOf(colors, model.classes[rival.code]), 2);
    context.setLineDash([]);
  }
  drawPath(context, unit, scene, line(winner), colorOf(colors, model.classes[winner.code]), 4);
  for (const i of winner.path) {
    context.beginPath();
    context.arc(...placeOf(X)(i), radiusOf(X.length / 2) * unit, 0, 7);
    context.fillStyle = colorOf(colors, model.classes[winner.code]);
    context.fill();
    context.lineWidth = unit;
    context.strokeStyle = colors.plane;
    context.stroke();
  }
  context.beginPath();
  context.rect(x - 5 * unit, y - 5 * unit, 10 * unit, 10 * unit);
  context.fillStyle = colors.plane;
  context.fill();
  context.lineWidth = 2 * unit;
  context.strokeStyle = colors.ink;
  context.stroke();
}

function drawCursor(context, unit, { cursor, colors }) {
  if (!cursor) return;
  const [x, y] = cursor;
  context.beginPath();
  for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
    context.moveTo(x + 9 * dx * unit, y + 9 * dy * unit);
    context.lineTo(x + 18 * dx * unit, y + 18 * dy * unit);
  }
  context.lineWidth = 2 * unit;
  context.strokeStyle = colors.ink;
  context.stroke();
}

// Named sets of points on a plane of 1000 by 1000 units. Coordinates are integers, so that a set is the same in
// every browser, short to write down, and has ties where it should.

export const SIDE = 1000;
export const MOST_POINTS = 2000;

// Numbers in [0, 1) from a seed (mulberry32).
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

// Nearly normal with variance 1: sums of uniform numbers are the same in every browser, logarithms may not be.
const normal = (draw) => {
  let sum = -6;
  for (let i = 0; i < 12; i++) sum += draw();
  return sum;
};

const inside = (value) => Math.min(SIDE - 15, Math.max(15, Math.round(value)));
const near = (draw, x, y, spread) => [x + spread * normal(draw), y + spread * normal(draw)];

function moon(draw, c) {
  const angle = Math.PI * draw();
  const [x, y] = c === 0 ? [Math.cos(angle), Math.sin(angle)] : [1 - Math.cos(angle), 0.5 - Math.sin(angle)];
  return near(draw, 500 + 290 * (x - 0.5), 500 - 400 * (y - 0.25), 34);
}

function spiral(draw, c) {
  const along = 0.12 + 0.88 * Math.sqrt(draw());
  const angle = 2 * Math.PI * (1.25 * along + c / 2);
  return near(draw, 500 + 430 * along * Math.cos(angle), 500 + 430 * along * Math.sin(angle), 11);
}

function ring(draw, c) {
  const angle = 2 * Math.PI * draw();
  const radius = [60, 230, 410][c];
  return near(draw, 500 + radius * Math.cos(angle), 500 + radius * Math.sin(angle), c === 0 ? 35 : 24);
}

function blob(draw, c) {
  const [x, y, spread] = [[280, 300, 70], [720, 260, 80], [310, 710, 85], [730, 720, 60]][c];
  return near(draw, x, y, spread);
}

function overlap(draw, c) {
  return near(draw, c === 0 ? 400 : 600, c === 0 ? 430 : 570, 125);
}

// Cells of a 12 by 12 grid, each once; the class is the nearest of three centres, counted in steps.
function integerGrid(draw, count) {
  const cells = Array.from({ length: 144 }, (_, i) => i);
  shuffle(cells, draw);
  const centres = [0, 1, 2].map(() => [Math.floor(12 * draw()), Math.floor(12 * draw())]);
  const points = cells.slice(0, count).map((cell) => {
    const [column, row] = [Math.floor(cell / 12), cell % 12];
    const steps = centres.map(([x, y]) => Math.abs(column - x) + Math.abs(row - y));
    return [60 + 80 * column, 60 + 80 * row, steps.indexOf(Math.min(...steps))];
  });
  return collect(points);
}

function shuffle(list, draw) {
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor((i + 1) * draw());
    [list[i], list[j]] = [list[j], list[i]];
  }
}

export function collect(points) {
  return {
    X: Float64Array.from(points.flatMap(([x, y]) => [x, y])),
    y: Int32Array.from(points, (point) => point[2]),
  };
}

const drawn = (classes, place) => (draw, count) =>
  collect(Array.from({ length: count }, (_, i) => [...place(draw, i % classes).map(inside), i % classes]));

// `seed` is the first to be shown, `most` how many points there can be. The grid's was found by trial: the textbook
// algorithm loses 33 of its 60 training labels.
export const SETS = {
  moons: { name: "Moons", make: drawn(2, moon), count: 240, seed: 1 },
  spirals: { name: "Spirals", make: drawn(2, spiral), count: 300, seed: 1 },
  rings: { name: "Rings", make: drawn(3, ring), count: 300, seed: 1 },
  blobs: { name: "Blobs", make: drawn(4, blob), count: 240, seed: 1 },
  grid: { name: "Integer grid", make: integerGrid, count: 60, seed: 2120, most: 144 },
  overlap: { name: "Overlap", make: drawn(2, overlap), count: 240, seed: 1 },
};

// The points of a set: X row by row, y the true classes.
export function makeSet(name, count, seed) {
  const set = SETS[name];
  return set.make(random(seed), Math.min(count, set.most ?? MOST_POINTS));
}

// New points of the same set with their true classes, to judge a model by; null if the set has no more.
export function freshPoints(name, seed) {
  return name in SETS && !SETS[name].most ? makeSet(name, 600, seed + 7919) : null;
}

// Gives some labels another class. Larger shares flip the same points and more.
export function poison(y, percent, seed) {
  const classes = [...new Set(y)].sort((a, b) => a - b);
  if (classes.length < 2) return y.slice();
  const draw = random(seed + 104729);
  const order = Array.from(y, (_, i) => i);
  shuffle(order, draw);
  const others = order.map((i) => {
    const rest = classes.filter((c) => c !== y[i]);
    return rest[Math.floor(rest.length * draw())];
  });
  const labels = y.slice();
  const flips = Math.round((percent / 100) * y.length);
  for (let place = 0; place < flips; place++) labels[order[place]] = others[place];
  return labels;
}

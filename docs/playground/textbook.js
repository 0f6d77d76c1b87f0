// The textbook algorithm, for comparison only: it compares costs by value alone, so that of equal offers the first
// to arrive wins. Everything else on the page is computed by the package's own core.

const distance = (X, a, b) => {
  const [dx, dy] = [X[2 * a] - X[2 * b], X[2 * a + 1] - X[2 * b + 1]];
  return Math.sqrt(dx * dx + dy * dy);
};

// Prim's spanning tree; both ends of its arcs between classes.
function textbookPrototypes(X, y) {
  const n = y.length;
  const [parent, length] = [new Int32Array(n).fill(-1), new Float64Array(n).fill(Infinity)];
  const waiting = new Uint8Array(n).fill(1);
  const found = new Set();
  for (let left = n; left > 0; left--) {
    let q = -1;
    for (let u = 0; u < n; u++) if (waiting[u] && (q < 0 || length[u] < length[q])) q = u;
    waiting[q] = 0;
    if (parent[q] >= 0 && y[parent[q]] !== y[q]) found.add(q).add(parent[q]);
    for (let u = 0; u < n; u++) {
      const step = waiting[u] ? distance(X, q, u) : Infinity;
      if (step < length[u]) [parent[u], length[u]] = [q, step];
    }
  }
  return found.size ? [...found].sort((a, b) => a - b) : [0];
}

// The arrays have the names of the core's; order is the order of conquest.
export function textbookForest(X, y) {
  const n = y.length;
  const prototypes = textbookPrototypes(X, y);
  const cost = new Float64Array(n).fill(Infinity);
  const arrival = new Float64Array(n); // when the sample got its cost: of equal costs the first leaves the queue
  const [predecessor, root, label] = [new Int32Array(n).fill(-1), Int32Array.from(y.keys()), y.slice()];
  const [order, waiting] = [new Int32Array(n), new Uint8Array(n).fill(1)];
  let clock = 0;
  for (const q of prototypes) [cost[q], arrival[q]] = [0, clock++];
  for (let place = 0; place < n; place++) {
    let q = -1;
    for (let u = 0; u < n; u++) {
      if (!waiting[u]) continue;
      if (q < 0 || cost[u] < cost[q] || (cost[u] === cost[q] && arrival[u] < arrival[q])) q = u;
    }
    waiting[q] = 0;
    order[place] = q;
    for (let u = 0; u < n; u++) {
      const offer = Math.max(cost[q], distance(X, q, u));
      if (offer >= cost[u]) continue;
      [cost[u], predecessor[u], root[u], label[u], arrival[u]] = [offer, q, root[q], label[q], clock++];
    }
  }
  return { prototypes: Int32Array.from(prototypes), cost, predecessor, root, order, label };
}

// In the shape of the core's answers: per query its class; per query and class the cost and who offers it.
export function textbookPredict(X, { cost, order, label }, nClasses, queries) {
  const count = queries.length / 2;
  const classes = new Int32Array(count);
  const costs = new Float64Array(count * nClasses).fill(Infinity);
  const conquerors = new Int32Array(count * nClasses).fill(-1);
  for (let i = 0; i < count; i++) {
    let best = Infinity;
    for (const q of order) {
      const [dx, dy] = [X[2 * q] - queries[2 * i], X[2 * q + 1] - queries[2 * i + 1]];
      const offer = Math.max(cost[q], Math.sqrt(dx * dx + dy * dy));
      const place = i * nClasses + label[q];
      if (offer < costs[place]) [costs[place], conquerors[place]] = [offer, q];
      if (offer < best) [best, classes[i]] = [offer, label[q]];
    }
  }
  return { classes, costs, conquerors };
}

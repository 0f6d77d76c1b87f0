// The order in which samples leave the queue, from the forest that the competition ended with.

// A sample has its final cost once its predecessor has left the queue, and of those the first leaves next. That is
// the order of the competition: whatever else waits then costs more than it will in the end. `precedes(a, b)` says
// whether a leaves before b if both have their final cost.
function replay(predecessor, precedes) {
  const children = Array.from(predecessor, () => []);
  const heap = [];
  predecessor.forEach((q, u) => (q < 0 ? push(heap, u, precedes) : children[q].push(u)));
  const order = new Int32Array(predecessor.length);
  for (let place = 0; heap.length; place++) {
    order[place] = pop(heap, precedes);
    for (const u of children[order[place]]) push(heap, u, precedes);
  }
  return order;
}

function push(heap, u, precedes) {
  let at = heap.length;
  heap.push(u);
  while (at > 0) {
    const up = (at - 1) >> 1;
    if (!precedes(u, heap[up])) break;
    heap[at] = heap[up];
    at = up;
  }
  heap[at] = u;
}

function pop(heap, precedes) {
  const first = heap[0];
  const last = heap.pop();
  if (!heap.length) return first;
  let at = 0;
  for (;;) {
    let down = 2 * at + 1;
    if (down >= heap.length) break;
    if (down + 1 < heap.length && precedes(heap[down + 1], heap[down])) down++;
    if (!precedes(heap[down], last)) break;
    heap[at] = heap[down];
    at = down;
  }
  heap[at] = last;
  return first;
}

// Of a forest: by (cost, the arc that set it, index), which is how `order` is sorted. Of clusters: by the path's
// density, highest first, then by index; a maximum waits at 1 less than its density.
export function conquestOrder({ predecessor, order, cost }) {
  if (!order) {
    const value = cost.map((v, i) => (predecessor[i] < 0 ? v - 1 : v));
    return replay(predecessor, (a, b) => value[a] > value[b] || (value[a] === value[b] && a < b));
  }
  const rank = new Int32Array(order.length);
  order.forEach((sample, place) => (rank[sample] = place));
  return replay(predecessor, (a, b) => rank[a] < rank[b]);
}

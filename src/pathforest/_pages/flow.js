// How labels flow, in WebAssembly, and what to ask next. Nothing here knows of the page.
"use strict";
const Flow = (() => {
  const NONE = -1;

  // The order that Python gives labels: integers by value, texts by code points.
  const inOrder = (names, ofIntegers) => {
    const isInteger = (name) => /^[+-]?[0-9]{1,19}$/.test(name) && BigInt.asIntN(64, BigInt(name)) === BigInt(name);
    const points = (text) => Array.from(text, (character) => character.codePointAt(0));
    const byText = (a, b) => {
      const [p, q] = [points(a), points(b)];
      const at = p.findIndex((point, i) => point !== q[i]);
      return at < 0 ? p.length - q.length : p[at] - (q[at] ?? -1);
    };
    const byValue = (a, b) => Number(BigInt(a) - BigInt(b));
    return [...names].sort(ofIntegers && names.every(isInteger) ? byValue : byText);
  };

  // `labels` are numbers in `names`, -1 where a sample has none.
  async function open(bytes, { distances, indices, elsewhere, features }, n) {
    // Of a system the core asks for the time only, and does nothing with it.
    const nothing = new Proxy({}, { get: (_, name) => () => (name === "clock_time_get" ? 0 : 52) });
    const { instance } = await WebAssembly.instantiate(bytes, { wasi_snapshot_preview1: nothing });
    const core = instance.exports;
    core._initialize();
    const room = (size) => {
      const place = core.pf_allocate(Math.max(size, 8));
      if (place === 0) throw new Error("out of memory");
      return place;
    };
    const put = (array, place = room(array.byteLength)) => {
      new array.constructor(core.memory.buffer, place, array.length).set(array);
      return place;
    };
    const rows = [indices, elsewhere, features].map((array) => array.length / n);
    const graph = core.pf_graph(n, put(distances), put(indices), rows[0], put(elsewhere), rows[1], put(features), rows[2]);
    const codes = room(4 * n);
    const types = { label: Int32Array, from: Int32Array, cost: Float64Array, confidence: Float64Array, rival: Int32Array, checked: Int32Array };
    const places = Object.entries(types).map(([name, Type]) => [name, Type, room(n * Type.BYTES_PER_ELEMENT)]);
    let factors = room(8);
    // Numbers become others; -1 stays.
    const renumber = (array, numbers) => {
      for (let i = 0; i < array.length; i++) if (array[i] !== NONE) array[i] = numbers[array[i]];
      return array;
    };
    return (labels, names, ofIntegers) => {
      const isUsed = names.map(() => false);
      for (const number of labels) if (number !== NONE) isUsed[number] = true;
      const order = inOrder(names.filter((_, number) => isUsed[number]), ofIntegers).map((name) => names.indexOf(name));
      if (order.length === 0) return null;
      put(renumber(labels.slice(), names.map((_, number) => order.indexOf(number))), codes);
      core.pf_free(factors);
      factors = room(8 * order.length);
      core.pf_flow(graph, codes, order.length, ...places.map(([, , place]) => place), factors);
      const found = {};
      for (const [name, Type, place] of places) found[name] = new Type(core.memory.buffer, place, n).slice();
      for (const name of ["label", "rival", "checked"]) renumber(found[name], order);
      found.factors = new Float64Array(core.memory.buffer, factors, order.length).slice();
      return found;
    };
  }

  // How many samples took their label through each, itself included.
  const followers = (from) => {
    const waiting = new Int32Array(from.length), count = new Int32Array(from.length).fill(1);
    for (const sample of from) if (sample >= 0) waiting[sample]++;
    for (let first = 0; first < from.length; first++) {
      // Up from a leaf, as far as all others have come.
      for (let leaf = first; waiting[leaf] === 0; ) {
        waiting[leaf] = -1;
        const next = from[leaf];
        if (next < 0) break;
        count[next] += count[leaf];
        waiting[next]--;
        leaf = next;
      }
    }
    return count;
  };

  // Samples that would teach most, the first first, each with the reason: a sample of each cluster without a
  // label, the largest first; then samples between classes by how unsure they are and how many follow them,
  // those far from any label while there is one class. Neighbours of what is in the queue are left out.
  const ask = (found, labels, skipped, { clusters, roots, indices }, most = 60) => {
    const n = labels.length, k = indices.length / n;
    const sizes = new Int32Array(roots.length), known = new Uint8Array(roots.length);
    clusters.forEach((cluster, sample) => {
      sizes[cluster]++;
      if (labels[sample] >= 0 || skipped.has(sample)) known[cluster] = 1;
    });
    const blocked = new Uint8Array(n), queue = [];
    const add = (sample, why) => {
      if (blocked[sample] || labels[sample] >= 0 || skipped.has(sample) || queue.length === most) return;
      queue.push({ sample, why });
      for (const near of [sample, ...indices.subarray(sample * k, sample * k + k)]) blocked[near] = 1;
    };
    const open = roots.map((_, cluster) => cluster).filter((cluster) => !known[cluster]);
    open.sort((a, b) => sizes[b] - sizes[a]);
    const isLarge = (cluster) => 50 * sizes[cluster] >= n || queue.length < 2;
    for (const cluster of open) if (isLarge(cluster)) add(roots[cluster], { cluster: sizes[cluster] });
    if (found) {
      const behind = followers(found.from);
      const several = found.factors.length > 1;
      const worth = new Float64Array(n);
      for (let sample = 0; sample < n; sample++) {
        if (labels[sample] >= 0) continue;
        const doubt = several || found.label[sample] < 0 ? 1 - found.confidence[sample] : found.cost[sample];
        worth[sample] = doubt * Math.sqrt(behind[sample]);
      }
      // So many are enough: what is in the queue keeps itself and its list out.
      const least = worth.slice().sort()[Math.max(0, n - most * (k + 1) - skipped.size)];
      const order = [];
      for (let sample = 0; sample < n; sample++) if (worth[sample] > 0 && worth[sample] >= least) order.push(sample);
      order.sort((a, b) => worth[b] - worth[a] || a - b);
      for (const sample of order) add(sample, several ? { border: true } : { far: true });
    }
    for (const cluster of open) add(roots[cluster], { cluster: sizes[cluster] });
    return queue;
  };

  // A sample without a label, the same for the same number of labels: what the queue asks is harder than usual.
  const lot = (labels, skipped, number) => {
    for (let at = 1000 * number; at < 1000 * number + 1000; at++) {
      let mixed = Math.imul(at ^ (at >>> 16), 0x45d9f3b);
      mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b);
      const sample = (mixed ^ (mixed >>> 16)) >>> 0;
      if (labels[sample % labels.length] < 0 && !skipped.has(sample % labels.length)) return sample % labels.length;
    }
    return NONE;
  };

  // Share of the labels that count which the others confirm, and where it lies with 95 % confidence (Wilson).
  const accuracy = ({ checked }, labels, counts) => {
    let count = 0, right = 0;
    checked.forEach((label, sample) => {
      if (label < 0 || !counts(sample)) return;
      count++;
      right += label === labels[sample];
    });
    if (count === 0) return null;
    const z = 1.959964, share = right / count;
    const middle = (share + (z * z) / (2 * count)) / (1 + (z * z) / count);
    const half = (z / (1 + (z * z) / count)) * Math.sqrt((share * (1 - share)) / count + (z * z) / (4 * count * count));
    return { count, right, share, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
  };

  return { open, inOrder, ask, lot, accuracy };
})();

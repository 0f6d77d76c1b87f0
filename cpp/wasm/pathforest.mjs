// Forests in a browser or Node: arrays in, arrays out. `bytes` are those of pathforest.wasm.
//
//     const pathforest = await load(bytes);
//     const model = pathforest.fit({ X, y, nFeatures: 2, kMax: 20, sigma: 0.8 });
//     model.arrays.cost;  model.predict(grid);  model.free();

import { system } from "./system.mjs";

const DOUBLES = ["weight", "density", "cuts", "membership", "cost", "class_factors"];
const INTEGERS = ["source", "target", "prototypes", "predecessor", "root", "order", "label", "best_k", "cluster_roots"];

export async function load(bytes) {
  let message = ""; // what the core writes before it gives up
  const imports = system(() => instance.exports.memory, (text) => (message += text));
  const { instance } = await WebAssembly.instantiate(bytes, imports);
  const core = instance.exports;
  core._initialize();

  // Calls work(put, room): put copies an array or a text into memory for the time of the call, room makes room
  // for a result.
  function withMemory(work) {
    const held = [];
    const room = (size) => {
      const at = core.pf_allocate(Math.max(size, 1));
      if (at === 0) throw new Error("out of memory");
      held.push(at);
      return at;
    };
    const put = (data) => {
      const source = typeof data === "string" ? new TextEncoder().encode(data + "\0") : data;
      const at = room(source.byteLength);
      new source.constructor(core.memory.buffer, at, source.length).set(source);
      return at;
    };
    try {
      return work(put, room);
    } catch (failure) {
      throw failure instanceof WebAssembly.RuntimeError && message ? new Error(message.trim()) : failure;
    } finally {
      held.forEach((at) => core.pf_free(at));
    }
  }

  const copy = (Type, at, length) => new Type(core.memory.buffer, at, length).slice();
  const text = (at) => {
    const bytes = new Uint8Array(core.memory.buffer, at);
    return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
  };
  const orFail = (result) => {
    if (!result) throw new Error(text(core.pf_error()));
    return result;
  };

  function read(model) {
    const arrays = {};
    for (const [Type, names] of [[Float64Array, DOUBLES], [Int32Array, INTEGERS]]) {
      for (const name of names) {
        withMemory((put, room) => {
          const length = room(4);
          const at = core.pf_array(model, put(name), length);
          if (at) arrays[name] = copy(Type, at, new DataView(core.memory.buffer).getInt32(length, true));
        });
      }
    }
    return arrays;
  }

  function check(X, y, nFeatures) {
    if (X.length !== y.length * nFeatures) {
      throw new Error(`X has ${X.length} values, not ${nFeatures} for each of ${y.length} samples`);
    }
  }

  function classifier(model, nFeatures, nClasses) {
    return {
      arrays: read(model),
      // Per query its class; and per query and class the cost and who makes the cheapest offer, -1 for nobody.
      predict(queries, { nConquerors = 1 } = {}) {
        const count = Math.floor(queries.length / nFeatures);
        const size = count * nClasses;
        return withMemory((put, room) => {
          const [classes, costs, conquerors] = [room(4 * count), room(8 * size), room(4 * size)];
          orFail(core.pf_predict(model, put(queries), count, nConquerors, classes, costs, conquerors));
          return {
            classes: copy(Int32Array, classes, count),
            costs: copy(Float64Array, costs, size),
            conquerors: copy(Int32Array, conquerors, size),
          };
        });
      },
      free: () => core.pf_delete(model),
    };
  }

  return {
    // X: Float64Array, row by row; y: Int32Array of classes from 0. kMax 0 is the plain forest.
    fit({ X, y, nFeatures, nClasses = Math.max(...y) + 1, metric = "euclidean", p = 2, kMax = 0, sigma = 1, alongTree = false }) {
      check(X, y, nFeatures);
      const model = withMemory((put) =>
        orFail(core.pf_fit(put(X), put(y), y.length, nFeatures, nClasses, put(metric), p, kMax, sigma, alongTree)));
      return classifier(model, nFeatures, nClasses);
    },

    // The same, where y is -1 for samples without a label.
    spread({ X, y, nFeatures, nClasses = Math.max(...y) + 1, metric = "euclidean", p = 2, nNeighbors = 10 }) {
      check(X, y, nFeatures);
      const model = withMemory((put) =>
        orFail(core.pf_spread(put(X), put(y), y.length, nFeatures, nClasses, put(metric), p, nNeighbors)));
      return classifier(model, nFeatures, nClasses);
    },

    // nNeighbors 0: as many as suit the number of samples; threshold 0: clusters that are clear of chance.
    cluster({ X, nFeatures, metric = "euclidean", p = 2, nNeighbors = 0, threshold = 0 }) {
      const model = withMemory((put) =>
        orFail(core.pf_cluster(put(X), X.length / nFeatures, nFeatures, put(metric), p, nNeighbors, threshold)));
      return {
        arrays: read(model),
        // Per query who conquers it, and the lowest density on the way there.
        join(queries) {
          const count = Math.floor(queries.length / nFeatures);
          return withMemory((put, room) => {
            const [conquerors, values] = [room(4 * count), room(8 * count)];
            orFail(core.pf_join(model, put(queries), count, conquerors, values));
            return { conquerors: copy(Int32Array, conquerors, count), values: copy(Float64Array, values, count) };
          });
        },
        free: () => core.pf_delete(model),
      };
    },

    // Probabilities from costs, row by row.
    probabilities(costs, nClasses, { beta = 8 } = {}) {
      return withMemory((put) => {
        const at = put(costs);
        orFail(core.pf_probabilities(at, costs.length / nClasses, nClasses, beta));
        return copy(Float64Array, at, costs.length);
      });
    },
  };
}

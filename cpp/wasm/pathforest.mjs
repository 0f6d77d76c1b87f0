// Forests in a browser or Node: arrays in, arrays out. `bytes` are those of pathforest.wasm.
//
//     const pathforest = await load(bytes);
//     const model = pathforest.fit({ X, y, nFeatures: 2, kMax: 20, sigma: 0.8 });
//     model.arrays.cost;  model.predict(grid);  model.free();

import { system } from "./system.mjs";

const DOUBLES = ["weight", "density", "cuts", "membership", "cost"];
const INTEGERS = ["source", "target", "prototypes", "predecessor", "root", "order", "label", "best_k"];

export async function load(bytes) {
  let message = ""; // what the core writes before it gives up
  const imports = system(() => instance.exports.memory, (text) => (message += text));
  const { instance } = await WebAssembly.instantiate(bytes, imports);
  const core = instance.exports;
  core._initialize();

  // Calls work(put, take): put copies an array or a text into memory for the time of the call, take makes room
  // for a result and reads it afterwards.
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

  return {
    // X: Float64Array, row by row; y: Int32Array of classes from 0. kMax 0 is the plain forest.
    fit({ X, y, nFeatures, nClasses = Math.max(...y) + 1, metric = "euclidean", p = 2, kMax = 0, sigma = 1, alongTree = false }) {
      if (X.length !== y.length * nFeatures) throw new Error(`X has ${X.length} values, not ${nFeatures} for each of ${y.length} samples`);
      const model = withMemory((put) =>
        orFail(core.pf_fit(put(X), put(y), y.length, nFeatures, nClasses, put(metric), p, kMax, sigma, alongTree)));
      return {
        arrays: read(model),
        predict(queries, { nConquerors = 1, beta = 8 } = {}) {
          const count = Math.floor(queries.length / nFeatures);
          return withMemory((put, room) => {
            const [classes, conquerors] = [room(4 * count), room(4 * count)];
            const [costs, probabilities] = [room(8 * count * nClasses), room(8 * count * nClasses)];
            orFail(core.pf_predict(model, put(queries), count, nConquerors, beta, classes, conquerors, costs, probabilities));
            return {
              classes: copy(Int32Array, classes, count),
              conquerors: copy(Int32Array, conquerors, count),
              costs: copy(Float64Array, costs, count * nClasses),
              probabilities: copy(Float64Array, probabilities, count * nClasses),
            };
          });
        },
        free: () => core.pf_delete(model),
      };
    },
    cluster({ X, nFeatures, metric = "euclidean", p = 2, kMax = 20 }) {
      const model = withMemory((put) =>
        orFail(core.pf_cluster(put(X), X.length / nFeatures, nFeatures, put(metric), p, kMax)));
      return { arrays: read(model), free: () => core.pf_delete(model) };
    },
  };
}

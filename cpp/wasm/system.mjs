// The little that the core asks of a system: to write text, to tell the time, to end. It needs no package, and
// works in browsers and in Node.

// `write` gets the text of both outputs, `memory` returns that of the instance.
export function system(memory, write) {
  const view = () => new DataView(memory().buffer);
  const offered = {
    fd_write(_file, vectors, count, written) {
      let total = 0;
      for (let i = 0; i < count; i++) {
        const start = view().getUint32(vectors + 8 * i, true);
        const length = view().getUint32(vectors + 8 * i + 4, true);
        write(new TextDecoder().decode(new Uint8Array(memory().buffer, start, length)));
        total += length;
      }
      view().setUint32(written, total, true);
      return 0;
    },
    clock_time_get(_clock, _precision, time) {
      view().setBigUint64(time, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    },
    proc_exit(status) {
      throw new Exit(status);
    },
  };
  for (const sizes of ["args_sizes_get", "environ_sizes_get"]) {
    offered[sizes] = (count, size) => {
      view().setUint32(count, 0, true);
      view().setUint32(size, 0, true);
      return 0;
    };
  }
  for (const lists of ["args_get", "environ_get"]) offered[lists] = () => 0;
  const notSupported = () => 52;
  return { wasi_snapshot_preview1: new Proxy(offered, { get: (all, name) => all[name] ?? notSupported }) };
}

export class Exit extends Error {
  constructor(status) {
    super(`the program ended with status ${status}`);
    this.status = status;
  }
}

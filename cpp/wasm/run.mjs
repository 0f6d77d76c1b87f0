// Runs a WebAssembly program: node run.mjs program.wasm
import { readFileSync } from "node:fs";
import { Exit, system } from "./system.mjs";

const output = [];
const imports = system(() => instance.exports.memory, (text) => output.push(text));
const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), imports);
try {
  instance.exports._start();
} catch (error) {
  process.exitCode = error instanceof Exit ? error.status : 1;
  if (!(error instanceof Exit)) output.push(`${error}\n`);
}
process.stdout.write(output.join(""));

// The package's core, unpacked from the page itself.

import { load } from "../../cpp/wasm/pathforest.mjs";

export async function loadCore() {
  const packed = document.getElementById("core").textContent;
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return load(await new Response(stream).arrayBuffer());
}

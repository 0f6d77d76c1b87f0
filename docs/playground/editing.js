// Drawing, erasing and looking on a plane, by mouse, finger and keys.

import { SIDE } from "./sets.js";

const SPACING = 22; // of points drawn in one stroke
const ERASER = 28;
const KEY_STEP = 20;
const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const clamp = (value) => Math.min(SIDE, Math.max(0, Math.round(value)));

// `tool()` is "look", "erase" or the number of a class. Calls look(place, byKeys), add(place, class), erase(place,
// radius) and leave(); a place is [x, y].
export function listen(canvas, { tool, look, add, erase, leave }) {
  let last = null; // where the stroke drew its last point, null between strokes
  let cursor = [SIDE / 2, SIDE / 2];

  const placeOf = (event) => {
    const box = canvas.getBoundingClientRect();
    return [
      clamp(((event.clientX - box.left) / box.width) * SIDE),
      clamp(((event.clientY - box.top) / box.height) * SIDE),
    ];
  };
  const apply = (place) => {
    if (tool() === "erase") erase(place, ERASER);
    else if (tool() !== "look") add(place, Number(tool()));
    last = place;
  };
  const far = ([x, y]) => Math.hypot(x - last[0], y - last[1]) >= SPACING;

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    cursor = placeOf(event);
    if (tool() !== "look") {
      canvas.setPointerCapture(event.pointerId);
      apply(cursor);
    }
    look(cursor, false);
  });
  canvas.addEventListener("pointermove", (event) => {
    cursor = placeOf(event);
    if (last && (tool() === "erase" || far(cursor))) apply(cursor);
    look(cursor, false);
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (last = null));
  canvas.addEventListener("pointerleave", (event) => {
    if (event.pointerType === "mouse") leave();
  });
  canvas.addEventListener("blur", leave);
  canvas.addEventListener("keydown", (event) => {
    if (event.key in DIRECTIONS) {
      const step = event.shiftKey ? KEY_STEP / 5 : KEY_STEP;
      cursor = cursor.map((v, axis) => clamp(v + step * DIRECTIONS[event.key][axis]));
    } else if (event.key === "Enter" || event.key === " ") {
      apply(cursor);
      last = null;
    } else if (event.key === "Delete" || event.key === "Backspace") {
      erase(cursor, ERASER);
    } else return;
    event.preventDefault();
    look(cursor, true);
  });
}

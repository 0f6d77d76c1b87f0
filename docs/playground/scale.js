// The scale beside the plane: what each sample costs, and what the queue asks for now.

import { colorOf } from "./colors.js";
import { prepare } from "./draw.js";

const MARGIN = 14;

// A round step that divides a range into about five.
function roundStep(range) {
  const power = 10 ** Math.floor(Math.log10(range / 5));
  return [1, 2, 5, 10].map((m) => m * power).find((step) => range / step <= 6);
}

export const short = (value) =>
  value >= 10_000 ? `${Number((value / 1000).toFixed(1))}k` : String(Number(value.toFixed(value >= 100 ? 0 : 1)));

export function drawScale(canvas, { model, order, conquered, colors }) {
  const { context } = prepare(canvas, canvas.clientWidth, canvas.clientHeight);
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  context.clearRect(0, 0, width, height);
  if (!model) return;
  const { cost, label } = model.arrays;
  const highest = cost.reduce((a, b) => Math.max(a, b), 0) || 1;
  const at = (value) => height - MARGIN - (value / highest) * (height - 2 * MARGIN);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "right";
  context.fillStyle = colors.quiet;
  for (let tick = 0; tick <= highest; tick += roundStep(highest)) context.fillText(short(tick), width - 19, at(tick));
  const count = conquered ?? cost.length;
  context.globalAlpha = 0.75;
  for (let place = 0; place < cost.length; place++) {
    const sample = order ? order[place] : place; // without an order everything is conquered
    context.fillStyle = place < count ? colorOf(colors, model.classes[label[sample]]) : colors.line;
    context.fillRect(width - 14, at(cost[sample]) - 0.75, 14, 1.5);
  }
  context.globalAlpha = 1;
  if (count > 0 && count < cost.length) drawQueue(context, at(cost[order[count - 1]]), width, short(cost[order[count - 1]]), colors);
}

function drawQueue(context, y, width, text, colors) {
  context.fillStyle = colors.ink;
  context.beginPath();
  context.moveTo(width - 15, y);
  context.lineTo(width - 22, y - 5);
  context.lineTo(width - 22, y + 5);
  context.fill();
  context.fillRect(width - 15, y - 1, 15, 2);
  const room = context.measureText(text).width + 8;
  context.fillRect(width - 22 - room, y - 8, room, 16);
  context.fillStyle = colors.plane;
  context.fillText(text, width - 26, y + 0.5);
}

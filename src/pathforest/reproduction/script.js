// Draws every figure, in the colours of the style sheet; again when those change, or the width does.
"use strict";
(() => {
  const plots = Array.from(document.querySelectorAll(".plot"), (place) => ({
    place,
    spec: JSON.parse(place.nextElementSibling.textContent),
  }));
  const touch = matchMedia("(pointer: coarse)");

  // Strings such as "var(--ink)" become the values that the variables have now.
  const resolved = (value, style) => {
    if (typeof value === "string") {
      const variable = /^var\((--[\w-]+)\)$/.exec(value);
      return variable ? style.getPropertyValue(variable[1]).trim() : value;
    }
    if (Array.isArray(value)) return value.map((item) => resolved(item, style));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolved(item, style)]));
  };

  const draw = () => {
    const style = getComputedStyle(document.documentElement);
    for (const { place, spec } of plots) {
      const { data, layout } = resolved(spec, style);
      layout.width = place.clientWidth;
      // A finger that drags wants to scroll.
      layout.dragmode = touch.matches ? false : "zoom";
      Plotly.react(place, data, layout, { displayModeBar: false });
    }
  };

  let width = 0;
  let waiting = 0;
  const resize = () => {
    if (document.documentElement.clientWidth === width) return;
    width = document.documentElement.clientWidth;
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(draw);
  };

  // Paper is white and has a width of its own; the class gives the page both before it is laid out for print.
  const print = (on) => () => {
    document.documentElement.classList.toggle("printing", on);
    draw();
  };

  draw();
  width = document.documentElement.clientWidth;
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  addEventListener("resize", resize);
  addEventListener("beforeprint", print(true));
  addEventListener("afterprint", print(false));
})();

// The page on which labels are given: what it asks, the map, keys, and what is kept and exported.
"use strict";
(async () => {
  const { element, stored, save } = Common;
  const of = (id) => document.getElementById(id);
  const { table, label: column, columns, classes: known, ofIntegers, roots, colours } = JSON.parse(of("data").textContent);
  const NONE = -1, KEY = `pathforest label ${table} ${column}`;
  const KEYS = [..."123456789abcdefghijklmopqtvwyz"]; // without n, r, s, u, x

  const blob = async (name, Type) => {
    const packed = Uint8Array.from(atob(of(`blob-${name}`).textContent), (character) => character.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Type(await new Response(stream).arrayBuffer());
  };
  const fail = (error) => {
    of("failure").textContent = `This page needs a browser that runs WebAssembly: ${error.message}`;
    of("failure").hidden = false;
  };

  let lists, xy, given, cells, run;
  try {
    lists = { distances: await blob("distances", Float64Array), features: await blob("features", Float64Array), roots };
    for (const name of ["indices", "elsewhere", "clusters"]) lists[name] = await blob(name, Int32Array);
    [xy, given] = [await blob("xy", Float32Array), await blob("given", Int32Array)];
    cells = JSON.parse(new TextDecoder().decode(await blob("cells", Uint8Array)));
    run = await Flow.open(await blob("core", Uint8Array), lists, given.length);
  } catch (error) {
    fail(error);
    return;
  }
  const n = given.length;

  // What is decided: the label of a sample is a number in `classes`.
  const classes = [...known];
  const decided = new Map(), skipped = new Set();
  const LOT = 5, drawn = new Set(); // every so many are drawn by lot, to estimate the accuracy
  const undone = [], done = []; // changes, each a list of [sample, before, after]
  let labels = given.slice(), found = null, queue = [], current = 0, selected = [];

  const number = (name) => {
    const at = classes.indexOf(name);
    return at >= 0 ? at : classes.push(name) - 1;
  };
  const keep = () => stored((storage) => storage.setItem(KEY, JSON.stringify({
    classes: classes.slice(known.length), skipped: [...skipped], drawn: [...drawn],
    decided: [...decided].map(([sample, code]) => [sample, classes[code]]),
  })));
  const restore = () => {
    const old = stored((storage) => JSON.parse(storage.getItem(KEY))) ?? {};
    for (const name of old.classes ?? []) number(String(name));
    for (const [sample, name] of old.decided ?? []) if (given[sample] === NONE) decided.set(sample, number(String(name)));
    for (const sample of old.drawn ?? []) drawn.add(sample);
    for (const sample of old.skipped ?? []) if (given[sample] === NONE) skipped.add(sample);
  };

  const flow = () => {
    labels = given.slice();
    for (const [sample, code] of decided) labels[sample] = code;
    found = run(labels, classes, ofIntegers);
    choose();
  };
  const choose = () => {
    queue = Flow.ask(found, labels, skipped, lists);
    const sample = decided.size % LOT === LOT - 1 ? Flow.lot(labels, skipped, decided.size) : NONE;
    if (sample !== NONE) queue = [{ sample, why: { lot: true } }, ...queue.filter((asked) => asked.sample !== sample)];
  };
  const set = (sample, code) => {
    if (code === NONE) decided.delete(sample);
    else decided.set(sample, code);
  };
  const change = (steps) => {
    const real = steps.filter(([, before, after]) => before !== after);
    if (real.length === 0) return false;
    for (const [sample, , after] of real) set(sample, after);
    done.push(real);
    undone.length = 0;
    return true;
  };
  const advance = (sample = queue[0]?.sample) => {
    current = sample ?? current;
    show();
  };
  const decide = (code) => {
    const samples = selected.length ? selected : [current].filter((sample) => given[sample] === NONE);
    const changed = change(samples.map((sample) => [sample, decided.get(sample) ?? NONE, code]));
    if (!selected.length && queue[0]?.why.lot && queue[0].sample === current) drawn.add(current);
    selected = [];
    if (changed) {
      flow();
      keep();
    }
    if (code === NONE) show();
    else advance();
  };
  const move = (from, to, at) => {
    const steps = from.pop();
    if (!steps) return;
    for (const step of steps) set(step[0], step[at]);
    to.push(steps);
    flow();
    keep();
    advance(steps[0][0]);
  };
  const undo = () => move(done, undone, 1);
  const redo = () => move(undone, done, 2);
  const skip = () => {
    if (labels[current] !== NONE) return go(1);
    skipped.add(current);
    choose();
    keep();
    advance();
  };
  // Those that were labelled, in the order in which they were, and then the queue.
  const go = (by) => {
    const sequence = [...decided.keys(), ...queue.map(({ sample }) => sample)];
    const at = sequence.indexOf(current);
    advance(at < 0 ? queue[0]?.sample : sequence[Math.min(Math.max(at + by, 0), sequence.length - 1)]);
  };
  const addClass = (text) => {
    const name = text.trim();
    if (!name) return;
    decide(number(ofIntegers && /^[+-]?[0-9]{1,18}$/.test(name) ? String(BigInt(name)) : name));
  };

  // Words

  const kind = (code) => `c${code % colours}${Math.floor(code / colours) % 2 ? " square" : ""}`;
  const chip = (code) => element("span", { className: "chip" }, element("i", { className: kind(code) }), element("b", {}, classes[code]));
  const percent = (share) => `${(100 * share).toFixed(0)} %`;
  const path = (sample) => {
    const way = [sample];
    while (found && found.from[way.at(-1)] >= 0 && way.length <= n) way.push(found.from[way.at(-1)]);
    return way;
  };
  const told = (sample) => {
    const place = cells.places[sample];
    if (given[sample] !== NONE) return `${place}: ${classes[given[sample]]}, as in the table`;
    if (decided.has(sample)) return `${place}: ${classes[decided.get(sample)]}, given here`;
    const code = found?.label[sample] ?? NONE;
    if (code === NONE) return `${place}: no label yet`;
    const way = path(sample), from = `from ${cells.places[way.at(-1)]} in ${way.length - 1} step${way.length > 2 ? "s" : ""}`;
    if (found.cost[sample] === Infinity) return `${place}: ${classes[code]}, without a path, from the nearest that has a label`;
    return `${place}: ${classes[code]}, ${percent(found.confidence[sample])} sure, ${from}`;
  };
  const reason = () => {
    if (selected.length) return `${selected.length} samples are selected; a class labels all of them`;
    const { why } = queue.find(({ sample }) => sample === current) ?? {};
    if (!why) return labels[current] !== NONE ? "labelled" : "";
    if (why.lot) return "drawn by lot, to estimate the accuracy";
    if (why.cluster) return `stands for a cluster of ${why.cluster.toLocaleString("en")} samples`;
    if (why.far) return "far from the labels so far";
    const rival = found.rival[current];
    return rival === NONE ? "unsure" : `between ${classes[found.label[current]]} and ${classes[rival]}`;
  };

  // What is asked

  const status = element("p", { role: "status" });
  const button = (text, onclick, more) => element("button", { type: "button", onclick, ...more }, text);
  const bar = {
    undo: button("Undo", undo), redo: button("Redo", redo),
    exported: button("Export labels", () => save(columns, [...decided].map(([row, code]) => ({ row, label: classes[code], table }))), { className: "export" }),
  };
  document.body.append(element("div", { className: "bar" }, element("div", {}, status, bar.undo, bar.redo, bar.exported)));

  const showSample = () => {
    of("where").textContent = selected.length ? "Selection" : cells.places[current];
    of("why").textContent = reason();
    of("now").textContent = selected.length ? "" : told(current);
    of("about").replaceChildren(...(selected.length ? [] : cells.columns.map((name, j) =>
      element("div", {}, element("dt", {}, name), element("dd", {}, cells.cells[j][current])))));
    const image = selected.length ? null : cells.images[current];
    of("picture").hidden = !image;
    of("picture").replaceChildren(...(image ? [element("img", { src: image, alt: cells.places[current] })] : []));
    const own = selected.length ? NONE : labels[current];
    const locked = !selected.length && given[current] !== NONE;
    of("choices").replaceChildren(...classes.map((name, code) => button("", () => decide(code), {
      ariaPressed: String(code === own), disabled: locked,
    })));
    Array.from(of("choices").children).forEach((made, code) => {
      if (KEYS[code]) made.append(element("kbd", {}, KEYS[code].toUpperCase()));
      made.append(element("i", { className: kind(code) }), element("span", {}, classes[code]));
    });
    of("remove").disabled = selected.length > 0 || !decided.has(current);
    of("previous").disabled = decided.size === 0;
  };
  const showAll = () => {
    const rows = classes.map((name, code) => ({ code, given: 0, flowed: 0, sure: 0 }));
    let waiting = n;
    for (let sample = 0; sample < n; sample++) {
      const code = labels[sample] !== NONE ? labels[sample] : found?.label[sample] ?? NONE;
      if (code === NONE) continue;
      waiting--;
      rows[code][labels[sample] !== NONE ? "given" : "flowed"]++;
      rows[code].sure += found.confidence[sample];
    }
    of("all").querySelector("tbody").replaceChildren(...rows.map(({ code, given, flowed, sure }) => element("tr", {},
      element("th", { scope: "row" }, chip(code)), ...[given, flowed, given + flowed].map((count) => element("td", {}, count.toLocaleString("en"))),
      element("td", {}, given + flowed ? percent(sure / (given + flowed)) : "–"))));
    of("legend").replaceChildren(...rows.map(({ code, given, flowed }) =>
      element("li", {}, chip(code), ` ${(given + flowed).toLocaleString("en")}`)));
    const estimate = found && Flow.accuracy(found, labels, (sample) => drawn.has(sample) || given[sample] !== NONE);
    const range = estimate && `${percent(estimate.share)}, with 95 % confidence from ${percent(estimate.low)} to ${percent(estimate.high)}`;
    of("estimate").textContent = estimate
      ? `Estimated accuracy: ${range}. Of ${estimate.count} labels that the table had or that were drawn by lot, each left out once, the others give ${estimate.right}.`
      : "Every fifth sample is drawn by lot, to estimate the accuracy; the others are too hard for that.";
    const count = (many, what) => `${many.toLocaleString("en")} ${what}`;
    const total = rows.reduce((sum, { given }) => sum + given, 0);
    status.textContent = [count(total, "given"), count(n - waiting - total, "flowed"), count(waiting, "without a label"),
      estimate ? `accuracy about ${percent(estimate.share)} (${percent(estimate.low)} to ${percent(estimate.high)})` : ""].filter(Boolean).join(", ");
    bar.undo.disabled = done.length === 0;
    bar.redo.disabled = undone.length === 0;
    bar.exported.disabled = decided.size === 0;
  };
  const show = () => {
    showSample();
    showAll();
    plan.draw();
  };

  // The map: `view` is what share of the plane is seen, from its lower left corner.
  const plan = (() => {
    const canvas = of("map"), over = of("over"), tip = of("tip");
    const view = { x: -0.03, y: -0.03, size: 1.06 };
    let drawing = null, hovered = NONE, pressed = null;
    const extent = { width: 1, height: 1 }; // of the map, which takes long to ask for
    const at = (sample) => [
      ((xy[2 * sample] - view.x) / view.size) * extent.width,
      (1 - (xy[2 * sample + 1] - view.y) / view.size) * extent.height,
    ];
    const place = ({ offsetX, offsetY }) => [offsetX, offsetY];
    const colour = (() => {
      let read = null;
      const refresh = () => {
        const style = getComputedStyle(document.documentElement);
        const value = (name) => style.getPropertyValue(`--${name}`).trim();
        read = { classes: Array.from({ length: colours }, (_, i) => value(`c${i}`)), none: value("muted"), ink: value("ink"), paper: value("panel") };
      };
      refresh();
      return { refresh, get: () => read };
    })();
    const prepare = (on) => {
      const ratio = devicePixelRatio || 1;
      const [width, height] = [Math.round(extent.width * ratio), Math.round(extent.height * ratio)];
      if (on.width !== width || on.height !== height) [on.width, on.height] = [width, height];
      const context = on.getContext("2d");
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, extent.width, extent.height);
      return context;
    };
    const dot = (context, code, [x, y], size) => {
      context.beginPath();
      if (Math.floor(code / colours) % 2) context.rect(x - size, y - size, 2 * size, 2 * size);
      else context.arc(x, y, size, 0, 7);
      context.fill();
    };
    const opacity = (code, sample) => (code === NONE ? 0.35 : 0.25 + 0.19 * Math.floor(3.99 * found.confidence[sample]));
    let image = null;
    // Many samples are squares of pixels, mixed here: a canvas takes long for each.
    const drawMany = (context, small) => {
      const { classes: shades, none, paper } = colour.get(), { width, height } = context.canvas;
      const channels = (shade) => {
        context.fillStyle = shade;
        return [1, 3, 5].map((place) => parseInt(context.fillStyle.slice(place, place + 2), 16));
      };
      const palette = [...shades, none].map(channels);
      if (image?.width !== width || image.height !== height) image = context.createImageData(width, height);
      const { data } = image;
      data.set([...channels(paper), 255]);
      new Uint32Array(data.buffer).fill(new Uint32Array(data.buffer, 0, 1)[0]);
      const side = Math.round((2 * small * width) / extent.width);
      for (let sample = 0; sample < n; sample++) {
        if (labels[sample] !== NONE) continue;
        const left = Math.round(((xy[2 * sample] - view.x) / view.size) * width - side / 2);
        const top = Math.round((1 - (xy[2 * sample + 1] - view.y) / view.size) * height - side / 2);
        if (left < 0 || top < 0 || left + side > width || top + side > height) continue;
        const code = found ? found.label[sample] : NONE, share = opacity(code, sample);
        const shade = palette[code === NONE ? colours : code % colours];
        for (let row = top; row < top + side; row++) {
          for (let p = 4 * (row * width + left), end = p + 4 * side; p < end; p += 4) {
            data[p] += (shade[0] - data[p]) * share;
            data[p + 1] += (shade[1] - data[p + 1]) * share;
            data[p + 2] += (shade[2] - data[p + 2]) * share;
          }
        }
      }
      context.putImageData(image, 0, 0);
    };
    const draw = () => {
      const context = prepare(canvas), { classes: shades, none } = colour.get();
      const small = n > 5000 ? 1.4 : n > 800 ? 2.6 : 4;
      if (n > 5000 && extent.width > 1) drawMany(context, small);
      for (let sample = 0; sample < n && n <= 5000; sample++) {
        if (labels[sample] !== NONE) continue;
        const code = found?.label[sample] ?? NONE;
        context.fillStyle = code === NONE ? none : shades[code % colours];
        context.globalAlpha = opacity(code, sample);
        dot(context, code, at(sample), small);
      }
      context.globalAlpha = 1;
      for (let sample = 0; sample < n; sample++) {
        if (labels[sample] === NONE) continue;
        context.fillStyle = colour.get().paper;
        dot(context, labels[sample], at(sample), small + 3.5);
        context.fillStyle = shades[labels[sample] % colours];
        dot(context, labels[sample], at(sample), small + 2);
      }
      drawOver();
    };
    const drawOver = () => {
      const context = prepare(over), { ink } = colour.get();
      [context.strokeStyle, context.lineWidth] = [ink, 1.5];
      const line = (points) => {
        context.beginPath();
        points.forEach(([x, y]) => context.lineTo(x, y));
        context.stroke();
      };
      if (drawing) line(drawing);
      const ring = (sample, size) => {
        context.beginPath();
        context.arc(...at(sample), size, 0, 7);
        context.stroke();
      };
      selected.forEach((sample) => ring(sample, 5));
      const shown = hovered === NONE ? current : hovered;
      line(path(shown).map(at));
      context.lineWidth = 2.5;
      ring(current, 9);
    };
    const nearest = ([x, y], reach) => {
      let best = NONE, least = reach * reach;
      for (let sample = 0; sample < n; sample++) {
        const [a, b] = at(sample), far = (a - x) ** 2 + (b - y) ** 2;
        if (far < least) [best, least] = [sample, far];
      }
      return best;
    };
    const hover = (event) => {
      hovered = nearest(place(event), 12);
      tip.hidden = hovered === NONE;
      if (hovered !== NONE) {
        tip.textContent = told(hovered);
        const [x, y] = at(hovered);
        tip.style.left = `${Math.min(Math.max(x - 40, 4), Math.max(4, extent.width - tip.offsetWidth - 4))}px`;
        tip.style.top = `${y > extent.height / 2 ? y - tip.offsetHeight - 14 : y + 14}px`;
      }
      drawOver();
    };
    const zoom = (factor, [x, y] = [extent.width / 2, extent.height / 2]) => {
      const [a, b] = [x / extent.width, 1 - y / extent.height];
      const size = Math.min(Math.max(view.size * factor, 1e-4), 20);
      view.x += a * (view.size - size);
      view.y += b * (view.size - size);
      view.size = size;
      draw();
    };
    const whole = () => {
      Object.assign(view, { x: -0.03, y: -0.03, size: 1.06 });
      draw();
    };
    const shift = (x, y) => {
      view.x -= (x / extent.width) * view.size;
      view.y += (y / extent.height) * view.size;
      draw();
    };
    const isInside = ([x, y], ring) => ring.reduce((inside, [a, b], i) => {
      const [c, d] = ring[(i + 1) % ring.length];
      return (b > y) !== (d > y) && x < ((c - a) * (y - b)) / (d - b) + a ? !inside : inside;
    }, false);
    const lasso = (on) => {
      of("lasso").ariaPressed = String(on);
      canvas.classList.toggle("drawing", on);
    };
    const fingers = new Map(); // where they are; two of them zoom, and move what lies between them
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, place(event));
      pressed = { last: place(event), moved: fingers.size > 1 ? Infinity : 0 };
      drawing = canvas.classList.contains("drawing") && fingers.size === 1 ? [place(event)] : null;
    });
    const pinch = (event) => {
      const [other] = [...fingers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      const [before, now] = [fingers.get(event.pointerId), place(event)];
      const far = ([x, y]) => Math.max(1, Math.hypot(x - other[0], y - other[1]));
      zoom(far(before) / far(now), other);
      fingers.set(event.pointerId, now);
    };
    canvas.addEventListener("pointermove", (event) => {
      if (!pressed) return hover(event);
      if (fingers.size === 2) return pinch(event);
      const here = place(event), [x, y] = [here[0] - pressed.last[0], here[1] - pressed.last[1]];
      pressed.moved += Math.abs(x) + Math.abs(y);
      pressed.last = here;
      fingers.set(event.pointerId, here);
      if (!drawing) return pressed.moved > 4 && shift(x, y);
      drawing.push(here);
      drawOver();
    });
    const lift = (event) => {
      fingers.delete(event.pointerId);
      if (fingers.size) {
        [pressed.last] = fingers.values();
        return;
      }
      const [ring, moved] = [drawing, event.type === "pointerup" ? pressed?.moved ?? 0 : Infinity];
      pressed = drawing = null;
      if (ring && moved > 8 && moved < Infinity) {
        selected = Array.from(given.keys()).filter((sample) => given[sample] === NONE && isInside(at(sample), ring));
        lasso(false);
        show();
      } else if (moved <= 4) {
        const sample = nearest(place(event), 14);
        selected = [];
        if (sample !== NONE) advance(sample);
      }
    };
    canvas.addEventListener("pointerup", lift);
    canvas.addEventListener("pointercancel", lift);
    canvas.addEventListener("pointerleave", () => {
      hovered = NONE;
      tip.hidden = true;
      drawOver();
    });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, place(event));
    }, { passive: false });
    const step = 40, moves = {
      "+": () => zoom(1 / 1.4), "=": () => zoom(1 / 1.4), "-": () => zoom(1.4), 0: whole,
      ArrowLeft: () => shift(step, 0), ArrowRight: () => shift(-step, 0), ArrowUp: () => shift(0, step), ArrowDown: () => shift(0, -step),
    };
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !moves[event.key]) return;
      event.preventDefault();
      event.stopPropagation();
      moves[event.key]();
    });
    of("lasso").onclick = () => lasso(of("lasso").ariaPressed !== "true");
    of("closer").onclick = () => zoom(1 / 1.4);
    of("farther").onclick = () => zoom(1.4);
    of("whole").onclick = whole;
    new ResizeObserver(() => {
      [extent.width, extent.height] = [canvas.clientWidth, canvas.clientHeight];
      draw();
    }).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { colour.refresh(); draw(); });
    return { draw };
  })();

  // Keys

  const actions = {
    arrowleft: () => go(-1), arrowright: () => go(1), s: skip, x: () => decided.has(current) && decide(NONE), u: undo, r: redo,
    n: () => of("name").focus(), escape: () => { selected = []; show(); },
  };
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("input, select, textarea")) {
      if (event.key === "Escape") of("ask").focus();
      return;
    }
    const key = event.key.toLowerCase();
    const command = event.ctrlKey || event.metaKey;
    if (event.altKey || (command && !["z", "y"].includes(key))) return;
    let action = actions[key];
    if (command) action = key === "y" || event.shiftKey ? redo : undo;
    const code = command ? -1 : KEYS.indexOf(key);
    if (code >= 0 && code < classes.length) action = () => decide(code);
    if (!action) return;
    event.preventDefault();
    action();
    if (action !== actions.n && document.activeElement !== of("map")) of("ask").focus({ preventScroll: true });
  });
  of("add").addEventListener("submit", (event) => {
    event.preventDefault();
    addClass(of("name").value);
    of("name").value = "";
    of("ask").focus({ preventScroll: true });
  });
  [of("previous").onclick, of("next").onclick, of("skip").onclick, of("remove").onclick] = [() => go(-1), () => go(1), skip, () => decide(NONE)];

  restore();
  of("bench").hidden = false;
  flow();
  advance();
})();

// One model on the page: its heading, its plane and the scale beside it.

import { theme } from "./colors.js";
import { conquestOrder } from "./conquest.js";
import { drawScene } from "./draw.js";
import { accuracy, explain, fitModel, lostLabels } from "./models.js";
import { estimatorCall } from "./python.js";
import { paintRegions } from "./regions.js";
import { drawScale } from "./scale.js";
import { modelInWords } from "./words.js";

export function makeView(figure) {
  const part = (name) => figure.querySelector(name);
  // What stays the same is not written: the page would be laid out again.
  const write = (name, text) => part(name).textContent === text || (part(name).textContent = text);
  const view = { figure, plane: part(".plane"), model: null, settings: null, regions: { picture: null, stop() {} } };
  const scene = {};

  view.forget = () => {
    view.regions.stop();
    view.model?.free();
    view.model = scene.model = null;
  };

  // `problem` says why there is no model.
  view.fit = (core, data, settings, problem) => {
    view.forget();
    view.settings = settings;
    Object.assign(scene, { X: data.X, truth: data.truth, colors: theme(), forest: settings.forest === "on" });
    scene.explained = scene.picture = null;
    write(".title", settings.title ?? estimatorCall(settings));
    if (problem) return write(".facts", problem), write(".score", "");
    view.model = scene.model = fitModel(core, data.X, data.y, settings);
    scene.order = undefined;
    view.lost = lostLabels(view.model).length;
    view.paint();
    write(".facts", modelInWords(view.model, view.lost));
    figure.classList.toggle("broken", view.lost > 0 && Boolean(settings.textbook));
  };

  view.paint = () => {
    scene.colors = theme();
    view.regions.stop();
    if (!view.model) return;
    view.regions = paintRegions(view.model, scene.colors, view.settings.regions, (picture) => {
      scene.picture = picture;
      view.draw();
    });
    scene.picture = view.regions.picture;
  };

  // Says how many fresh points the model gets right.
  view.judge = (points) => {
    const right = points && view.model && view.model.kind !== "clusters" ? accuracy(view.model, points) : null;
    write(".score", right === null ? "" : `${(100 * right).toFixed(1)} % of fresh points right`);
  };

  view.order = () => (scene.order ??= view.settings.textbook ? view.model.arrays.order : conquestOrder(view.model.arrays));

  // How many samples are conquered; undefined is the finished forest.
  view.conquer = (count) => {
    scene.conquered = count;
    if (view.model && count !== undefined) view.order();
  };

  view.explain = (place, byKeys) => {
    scene.cursor = place && byKeys ? place : null;
    scene.explained = place && view.model ? { x: place[0], y: place[1], ...explain(view.model, ...place) } : null;
  };
  view.explained = () => scene.explained;

  view.draw = () => {
    drawScene(view.plane, scene);
    drawScale(part(".scale"), scene);
  };
  return view;
}

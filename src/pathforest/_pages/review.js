// Buttons for decisions, kept in the browser's storage, and their export as a CSV file.
"use strict";
(() => {
  const { element, stored, save } = Common;
  const place = document.getElementById("data");
  if (!place) return; // no suspects
  const { table, label, columns, classes, suspects, rows: places } = JSON.parse(place.textContent);
  const KEEP = "keep", CHANGE = "change", DROP = "drop";
  const KEY = `pathforest review ${table} ${label}`;
  const cards = suspects.map(([row]) => document.getElementById(`row-${row}`));
  const decisions = new Map(); // row -> [decision, class]
  const updates = [];

  const past = []; // decisions before each step

  const remember = (changed) => {
    past.push([...decisions]);
    changed();
    keep();
  };

  const keep = () => {
    stored((storage) => storage.setItem(KEY, JSON.stringify([...decisions])));
    show();
  };

  const undo = () => {
    if (!past.length) return;
    const before = past.pop();
    decisions.clear();
    before.forEach(([row, decided]) => decisions.set(row, decided));
    keep();
  };

  // The same decision again takes it back; another one leads on to the next suspect.
  const decide = (row, decision, code, leads = true) => {
    const [known, target] = decisions.get(row) ?? [];
    const again = known === decision && target === code;
    remember(() => again ? decisions.delete(row) : decisions.set(row, [decision, code]));
    if (leads && !again) toNext();
  };

  // All suspects on the page, not yet decided, whose score is at most this one.
  const below = (limit) => suspects.filter(([row, , , score, fits], number) =>
    fits && score <= limit && !decisions.has(row) && !cards[number].hidden);

  const accept = (limit) => {
    remember(() => below(limit).forEach(([row, , better]) => decisions.set(row, [CHANGE, better])));
    toNext();
  };

  suspects.forEach(([row, given, better, score, fits], number) => {
    const card = cards[number];
    const choice = element("select", { ariaLabel: "New label" });
    const first = better === given ? classes.findIndex((_, code) => code !== given) : better;
    classes.forEach((name, code) => {
      if (code !== given) choice.add(new Option(name, code, code === first, code === first));
    });
    const target = () => Number(choice.value);
    const all = element("button", { type: "button", className: "all", onclick: () => accept(score) }, "");
    const actions = {
      [KEEP]: () => decide(row, KEEP, null),
      [CHANGE]: () => decide(row, CHANGE, target()),
      [DROP]: () => decide(row, DROP, null),
    };
    const buttons = {
      [KEEP]: element("button", { type: "button", onclick: actions[KEEP] }, "Keep"),
      [CHANGE]: element("button", { type: "button", onclick: actions[CHANGE] }, "Change to"),
      [DROP]: element("button", { type: "button", onclick: actions[DROP] }, "Drop"),
    };
    choice.onchange = () => {
      if (decisions.get(row)?.[0] !== CHANGE || decisions.get(row)[1] !== target()) decide(row, CHANGE, target(), false);
    };
    const change = element("span", { className: "change" }, buttons[CHANGE], choice);
    const parts = classes.length > 1 ? [buttons[KEEP], change, buttons[DROP], all] : [buttons[KEEP], buttons[DROP]];
    const group = card.querySelector(".decide");
    group.append(...parts);
    group.hidden = false;
    updates.push(() => {
      const [decision, code] = decisions.get(row) ?? [];
      for (const [name, button] of Object.entries(buttons)) button.ariaPressed = String(name === decision);
      if (decision === CHANGE) choice.value = code;
      card.classList.toggle("decided", decision !== undefined);
      const left = below(score).length;
      all.hidden = !fits || !left;
      all.textContent = `Accept ${left} up to score ${score.toFixed(3)}`;
    });
    const step = (by) => {
      let other = number + by;
      while (cards[other]?.hidden) other += by;
      go(other);
    };
    const shortcuts = {
      k: actions[KEEP], c: actions[CHANGE], d: actions[DROP], u: undo, n: () => step(1), p: () => step(-1),
    };
    card.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target === choice) return;
      const action = shortcuts[event.key.toLowerCase()];
      if (!action || (event.key.toLowerCase() === "c" && classes.length < 2)) return;
      event.preventDefault();
      action();
    });
  });

  const go = (number) => {
    const card = cards[number];
    if (!card) return;
    card.focus({ preventScroll: true });
    card.scrollIntoView({ block: "start" });
  };

  const toNext = () => {
    const now = cards.findIndex((card) => card.contains(document.activeElement));
    const order = suspects.map((_, number) => (number + now + 1) % suspects.length);
    go(order.find((number) => !decisions.has(suspects[number][0]) && !cards[number].hidden) ?? -1);
  };

  const download = () => save(columns, suspects.flatMap(([row, given], number) => {
    const [decision, code] = decisions.get(row) ?? [];
    if (!decision) return [];
    const [place, cells] = places[number];
    const change_to = decision === CHANGE ? classes[code] : "";
    return [{ row: place, given: classes[given], decision, change_to, table, cells }];
  }));

  const count = element("p", { role: "status" });
  const next = element("button", { type: "button", onclick: toNext }, "Next undecided");
  const back = element("button", { type: "button", onclick: undo }, "Undo");
  const filter = element("select", { ariaLabel: "Classes to show" }, new Option("All classes", -1));
  classes.forEach((name, code) => {
    const n = suspects.filter(([, given, better]) => code === given || code === better).length;
    if (n) filter.add(new Option(`${name} (${n})`, code));
  });
  filter.onchange = () => {
    const code = Number(filter.value);
    suspects.forEach(([, given, better], number) => {
      cards[number].hidden = code >= 0 && code !== given && code !== better;
    });
    show();
  };
  const exported = element("button", { type: "button", className: "export", onclick: download }, "Export decisions");
  const choices = classes.length > 2 ? [filter] : [];
  document.body.append(element("div", { className: "bar" }, element("div", {}, count, ...choices, back, next, exported)));

  const show = () => {
    updates.forEach((update) => update());
    const of = (wanted) => [...decisions.values()].filter(([decision]) => decision === wanted).length;
    count.textContent = `${decisions.size} of ${suspects.length} decided: ${of(KEEP)} keep, ${of(CHANGE)} change, ${of(DROP)} drop`;
    exported.disabled = decisions.size === 0;
    next.disabled = !suspects.some(([row], number) => !decisions.has(row) && !cards[number].hidden);
    back.disabled = past.length === 0;
  };

  const rows = new Set(suspects.map(([row]) => row));
  for (const [row, [decision, code]] of stored((storage) => JSON.parse(storage.getItem(KEY))) ?? []) {
    if (rows.has(row) && [KEEP, CHANGE, DROP].includes(decision)) decisions.set(row, [decision, code]);
  }
  show();
})();

// What pages with decisions have in common: elements, storage, and the export as a CSV file.
"use strict";
const Common = (() => {
  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

  // Storage is missing in some browsers when a page comes from disk; decisions then last until it is closed.
  const stored = (use) => {
    try { return use(localStorage); } catch { return null; }
  };

  const cell = (value) => {
    const text = String(value ?? "");
    return /[",\r\n]/.test(text) || text.trim() !== text ? `"${text.replaceAll('"', '""')}"` : text;
  };

  // `lines` have their values by the names of the columns.
  const save = (columns, lines) => {
    const cells = [columns, ...lines.map((line) => columns.map((name) => line[name]))];
    const text = cells.map((line) => `${line.map(cell).join(",")}\n`).join("");
    const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: "decisions.csv" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  };

  return { element, stored, save };
})();

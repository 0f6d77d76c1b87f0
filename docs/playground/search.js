// The search of FuzzyOPFClassifierCV for how many samples decide, with its defaults: three stratified folds, the
// best accuracy, on ties the smallest log loss, then the fewest.

const CONQUERORS = [1, 2, 3, 5, 8, 13, 21, 34, 55, 89];
const N_BETAS = 7; // 0.5, 1, 2, ... 32: each power is the square of the one before
const FOLDS = 3;
const SMALLEST = 2 ** -52; // a probability of 0 would cost infinity

// Samples sorted by class are dealt out in turn, classes in the order in which they appear; within a class the first
// fold gets the first samples.
function foldsOf(y) {
  const counts = new Map();
  for (const c of y) counts.set(c, (counts.get(c) ?? 0) + 1);
  const nFolds = Math.min(FOLDS, Math.max(...counts.values()));
  const fold = new Int32Array(y.length);
  let start = 0;
  for (const [c, count] of counts) {
    const own = Int32Array.from({ length: count }, (_, i) => (start + i) % nFolds).sort().values();
    y.forEach((other, i) => other === c && (fold[i] = own.next().value));
    start += count;
  }
  return { fold, nFolds };
}

// Adds to the log loss of each beta what costs give the labels, times `share`.
function addLosses(losses, costs, codes, nClasses, share) {
  const weights = new Float64Array(nClasses);
  for (let i = 0; i < codes.length; i++) {
    const first = i * nClasses;
    let lowest = Infinity;
    for (let c = 0; c < nClasses; c++) lowest = Math.min(lowest, costs[first + c]);
    for (let c = 0; c < nClasses; c++) weights[c] = costs[first + c] === lowest ? 1 : Math.sqrt(lowest / costs[first + c]);
    for (let b = 0; b < N_BETAS; b++) {
      let total = 0;
      for (let c = 0; c < nClasses; c++) total += weights[c];
      losses[b] -= share * Math.log(Math.max(weights[codes[i]] / total, SMALLEST));
      for (let c = 0; c < nClasses; c++) weights[c] *= weights[c];
    }
  }
}

const rounded = (value) => Number(value.toFixed(12));

// Returns the number that is best, and of each number that is tried the mean score.
export function chooseConquerors(core, X, y, { k_max, sigma }) {
  const { fold, nFolds } = foldsOf(y);
  const classes = [...new Set(y)].sort((a, b) => a - b);
  const tried = CONQUERORS.map((r) => ({ r, score: 0, losses: new Float64Array(N_BETAS) }));
  for (let f = 0; f < nFolds; f++) {
    const [train, test] = [false, true].map((isTest) => {
      const rows = [...fold.keys()].filter((i) => (fold[i] === f) === isTest);
      return { X: Float64Array.from(rows.flatMap((i) => [X[2 * i], X[2 * i + 1]])), y: Int32Array.from(rows, (i) => classes.indexOf(y[i])) };
    });
    const model = core.fit({ ...train, nFeatures: 2, nClasses: classes.length, kMax: k_max, sigma, alongTree: true });
    for (const one of tried) {
      const { classes: won, costs } = model.predict(test.X, { nConquerors: one.r });
      one.score += won.filter((c, i) => c === test.y[i]).length / won.length / nFolds;
      addLosses(one.losses, costs, test.y, classes.length, 1 / (won.length * nFolds));
    }
    model.free();
  }
  const scores = tried.map(({ r, score, losses }) => ({ r, score: rounded(score), loss: Math.min(...losses.map(rounded)) }));
  const [best] = [...scores].sort((a, b) => b.score - a.score || a.loss - b.loss || a.r - b.r);
  return { best: best.r, scores };
}

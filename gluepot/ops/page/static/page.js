// What a server cannot draw: charts.
"use strict";

(() => {
  const byId = (id) => document.getElementById(id);
  const probe = document.body.appendChild(document.createElement("span"));
  probe.hidden = true;
  const colour = (name, alpha = 1) => {
    probe.style.color = `var(--${name})`;
    const [red, green, blue] = getComputedStyle(probe).color.match(/[\d.]+/g);
    return `rgba(${red}, ${green}, ${blue}, ${alpha})`;
  };

  // Numbers, as figures.py writes them.
  const SPACE = "\u202f";
  const digits = (number) => number.toFixed(Math.abs(number) < 9.995 ? 2 : Math.abs(number) < 99.95 ? 1 : 0);
  const scaled = (number, units) => {
    let left = number;
    for (const unit of units) {
      left /= 1000;
      if (Math.abs(left) < 999.5 || unit === units.at(-1)) return `${digits(left)}${SPACE}${unit}`;
    }
  };
  const count = (number) =>
    Math.abs(number) < 9999.5 ? Math.round(number).toLocaleString("en-US") : scaled(number, ["k", "M", "G", "T"]);
  const rate = (number) => `${count(number)}${SPACE}/s`;
  const span = (secs) => {
    if (secs < 0.9995) return `${Math.round(secs * 1000)}${SPACE}ms`;
    if (secs < 9.95) return `${secs.toFixed(1).replace(/\.0$/, "")}${SPACE}s`;
    const whole = Math.round(secs);
    if (whole < 60) return `${whole}${SPACE}s`;
    return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}${SPACE}min`;
  };
  const ofAxis = (number) => (number >= 1000 ? `${+(number / 1000).toPrecision(3)}k`.replace(/000k$/, "M") : `${number}`);

  // Charts.
  const HEIGHT = 190;
  const lines = {
    "plot-rates": { keys: ["input", "process"], text: rate },
    "plot-time": { keys: ["took", "window"], text: span },
    "plot-lag": { keys: ["lag"], text: (records) => `${count(records)}${SPACE}records` },
  };
  const plots = new Map();

  // Where a job works a hundred times as fast as records come in, the slow line would lie on the ground. The axis then
  // grows by factors; it still begins at 0.
  const FAR_APART = 20;
  const isFarApart = (columns) => {
    const largest = columns.map((column) => Math.max(0, ...column));
    return Math.max(...largest) > FAR_APART * Math.min(...largest.filter((number) => number > 0));
  };

  const points = () => JSON.parse(byId("series").dataset.points);

  const overWindow = (plot) => {
    const [, took, window] = plot.data;
    return took.map((secs, n) => (window[n] !== null && secs > window[n] ? colour("bad") : colour("took")));
  };

  const line = (key) => {
    const base = { label: key, stroke: colour(key), width: 2, points: { show: false } };
    if (key === "took") {
      const disp = { fill: { unit: 3, values: overWindow } };
      return { ...base, width: 0, fill: colour("took"), paths: uPlot.paths.bars({ size: [0.64, 22], radius: 0.2, disp }) };
    }
    if (key === "window") return { ...base, width: 1.5, dash: [5, 4], paths: uPlot.paths.stepped({ align: 1 }) };
    return { ...base, fill: colour(key, 0.12), spanGaps: true };
  };

  const axis = () => ({
    stroke: colour("muted"),
    font: "11px system-ui, sans-serif",
    grid: { stroke: colour("line"), width: 1 },
    ticks: { show: false },
  });

  // Times of day, UTC; with seconds where ticks are closer than a minute.
  const times = (_, ticks) => {
    const until = ticks.length > 1 && ticks[1] - ticks[0] < 60 ? 19 : 16;
    return ticks.map((secs) => new Date(secs * 1000).toISOString().slice(11, until));
  };

  const say = (id, plot) => {
    const { keys, text } = lines[id];
    const n = plot.cursor.idx ?? plot.data[0].length - 1;
    const said = keys.map((key, column) => {
      const number = plot.data[column + 1][n];
      const shown = number === null || number === undefined ? "–" : text(number);
      document.querySelector(`[data-key="${key}"]`).textContent = shown;
      return `${key} ${shown}`;
    });
    if (plot.cursor.idx === null || plot.cursor.idx === undefined) {
      byId(id).setAttribute("aria-label", `Newest of ${plot.data[0].length} batches: ${said.join(", ")}`);
    }
  };

  const powersOfTen = (_, __, ___, most) => {
    const powers = [0];
    for (let power = 10; power <= most; power *= 10) powers.push(power);
    return powers;
  };
  const factors = { splits: powersOfTen, filter: (_, powers) => powers };

  const draw = () => {
    const series = points();
    byId("charts").hidden = series.t.length === 0;
    if (series.t.length === 0) return;
    for (const [id, { keys }] of Object.entries(lines)) {
      const columns = keys.map((key) => series[key]);
      const data = [series.t, ...columns];
      const byFactors = id === "plot-rates" && isFarApart(columns);
      const place = byId(id);
      const known = plots.get(id);
      if (known && place.dataset.scale === (byFactors ? "factors" : "even")) {
        known.setData(data);
        continue;
      }
      known?.destroy();
      place.dataset.scale = byFactors ? "factors" : "even";
      const plot = new uPlot(
        {
          width: place.clientWidth,
          height: HEIGHT,
          legend: { show: false },
          padding: [10, 8, 0, 0],
          tzDate: (secs) => uPlot.tzDate(new Date(secs * 1000), "Etc/UTC"),
          cursor: { sync: { key: "batches" }, y: false, drag: { x: false, y: false }, points: { size: 7 } },
          scales: { y: { distr: byFactors ? 4 : 1, range: (_, __, most) => [0, most > 0 ? most * 1.15 : 1] } },
          axes: [
            { ...axis(), size: 28, space: 64, incrs: [5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600], values: times },
            { ...axis(), size: 46, values: (_, numbers) => numbers.map(ofAxis), ...(byFactors && factors) },
          ],
          series: [{}, ...keys.map(line)],
          hooks: { setCursor: [(one) => say(id, one)], setData: [(one) => say(id, one)] },
        },
        data,
        place,
      );
      plots.set(id, plot);
      say(id, plot);
    }
  };

  const redraw = () => {
    for (const plot of plots.values()) plot.destroy();
    plots.clear();
    draw();
  };

  new ResizeObserver(() => {
    for (const [id, plot] of plots) plot.setSize({ width: byId(id).clientWidth, height: HEIGHT });
  }).observe(byId("charts"));

  document.addEventListener("gluepot:theme", redraw);

  // News.
  const newText = () => {
    const now = byId("now");
    document.title = document.title.replace(/^[^·]*/, `${now.dataset.word} `);
    if (byId("announce").dataset.word !== now.dataset.word) {
      byId("announce").dataset.word = now.dataset.word;
      byId("announce").textContent = `${now.dataset.word}. ${now.querySelector(".why").textContent}`;
    }
  };
  document.body.addEventListener("htmx:afterOnLoad", () => {
    newText();
    draw();
  });

  byId("announce").dataset.word = byId("now").dataset.word;
})();

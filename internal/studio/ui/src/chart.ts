import uPlot from "uplot";
import { figure, make } from "./dom";
import type { Curve, Point, Said } from "./stream";

const tableRows = 60;

// smooth is the exponential mean of a line, corrected at its beginning.
export function smooth(points: Point[], weight: number): Point[] {
  let mean = 0;
  return points.map(([x, y], i) => {
    mean = weight * mean + (1 - weight) * y;
    return [x, mean / (1 - weight ** (i + 1))];
  });
}

// extend adds a point. Where a training went back to a checkpoint, it replaces those from there on.
export function extend(points: Point[], point: Point): void {
  while (points.length > 0 && (points[points.length - 1] as Point)[0] >= point[0]) {
    points.pop();
  }
  points.push(point);
}

interface Look {
  colour: string;
  width: number;
  dash?: number[];
}

// lookOf is how a line is drawn. Lines of the validation rows are dashed, so that colour alone tells nothing.
function lookOf(name: string, place: number, fine: boolean): Look {
  if (/(^|[/_.-])(val|valid|validation|eval|test)/.test(name)) {
    return { colour: "--valid", width: 2.2, dash: [7, 4] };
  }
  if (fine) {
    return { colour: "--steps", width: 1.2 };
  }
  return place === 0 || name.startsWith("train") || name === "loss" ? { colour: "--train", width: 2.2 } : { colour: "--best", width: 2, dash: [2, 3] };
}

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

interface Drawn {
  label: string;
  points: Point[];
  look: Look;
}

// Level is a value that lines are measured against.
export interface Level {
  label: string;
  value: number;
}

// Chart draws lines of one kind, with the same facts as a sentence and as a table.
export class Chart {
  readonly element = make("figure", { class: "live-chart" });
  private readonly better = make("small");
  private readonly picture = make("div", {
    class: "live-picture",
    role: "img",
    tabindex: "0",
    title: "Drag over the picture to zoom, or press + and \u2212; arrow keys move, 0 shows all",
  });
  private readonly whole = make("button", { type: "button", hidden: "" }, "Show all");
  private readonly legend = make("p", { class: "live-legend" });
  private readonly table = make("table", { class: "numbers" });
  private readonly details = make("details", {}, make("summary", {}, "Table"), make("div", { class: "scroll", tabindex: "0" }, this.table));
  private readonly curves: Curve[] = [];
  private plot: uPlot | undefined;
  private shape = "";
  private log = false;
  private smooth = false;
  private newest = false;
  private zoom: Point | undefined;
  private level: Level | undefined;
  private said: Said = { fraction: 0 };

  constructor(
    readonly title: string,
    private readonly sync: uPlot.SyncPubSub,
  ) {
    const tools = make("p", { class: "live-tools" });
    const toggle = (label: string, hint: string, set: (on: boolean) => void): void => {
      const button = make("button", { type: "button", "aria-pressed": "false", title: hint }, label);
      button.addEventListener("click", () => {
        const on = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(on));
        set(on);
        this.redraw();
      });
      tools.append(button);
    };
    toggle("Log", "Logarithmic axis", (on) => (this.log = on));
    toggle("Smooth", "Show the mean of neighbours", (on) => (this.smooth = on));
    toggle("Newest", "Show the newest quarter only", (on) => {
      this.newest = on;
      this.show(undefined);
    });
    this.whole.addEventListener("click", () => {
      this.picture.focus();
      this.show(undefined);
    });
    tools.append(this.whole);
    this.picture.addEventListener("keydown", (e) => this.press(e));
    const heading = make("figcaption", {}, make("h2", {}, title, " ", this.better), tools);
    this.element.append(heading, this.picture, this.legend, this.details);
    this.details.addEventListener("toggle", () => this.fillTable());
  }

  // add begins a line.
  add(curve: Curve): void {
    this.curves.push(curve);
    this.better.textContent = curve.better === undefined ? "" : `${curve.better} is better`;
  }

  // place says where the best model and the restarts were, and what the lines are measured against.
  place(said: Said, level?: Level): void {
    this.said = said;
    this.level = level;
  }

  private redraw(): void {
    this.shape = "";
    this.draw();
  }

  // end is where the longest line ends.
  private end(): number {
    return Math.max(...this.curves.map((c) => c.points?.at(-1)?.[0] ?? 0));
  }

  // show shows a part of the lines, or all.
  private show(zoom: Point | undefined): void {
    this.zoom = zoom;
    this.whole.hidden = zoom === undefined;
    this.redraw();
  }

  // press zooms and moves for those who drag nothing.
  private press(e: KeyboardEvent): void {
    const { min, max } = this.plot?.scales["x"] ?? {};
    if (min === undefined || max === undefined || e.ctrlKey || e.metaKey || e.altKey) {
      return;
    }
    const quarter = (max - min) / 4;
    const to: Record<string, Point | undefined> = {
      "+": [min + quarter, max - quarter],
      "-": [min - 2 * quarter, max + 2 * quarter],
      ArrowLeft: [min - quarter, max - quarter],
      ArrowRight: [min + quarter, max + quarter],
      "0": undefined,
    };
    if (e.key in to) {
      e.preventDefault();
      const zoom = to[e.key];
      this.show(zoom === undefined || (zoom[0] <= 0 && zoom[1] >= this.end()) ? undefined : zoom);
    }
  }

  // draw shows what the lines hold now.
  draw(): void {
    const lines = this.lines();
    if (lines.length === 0 || !this.element.isConnected) {
      return;
    }
    const data = uPlot.join(lines.map((l) => [l.points.map((p) => p[0]), l.points.map((p) => (this.log && p[1] <= 0 ? null : p[1]))]) as uPlot.AlignedData[]);
    const shape = JSON.stringify([lines.map((l) => [l.label, l.look]), this.log, colour("--text"), this.picture.clientWidth, colour("--ground")]);
    if (this.plot === undefined || shape !== this.shape) {
      this.shape = shape;
      this.plot?.destroy();
      this.plot = new uPlot(this.options(lines), data, this.picture);
      this.drawLegend(lines);
    } else {
      this.plot.setData(data);
    }
    this.tell(this.plot, lines);
    this.picture.setAttribute("aria-label", this.sentence());
    this.element.dataset["points"] = String(this.curves.reduce((n, c) => n + (c.points?.length ?? 0), 0));
    this.fillTable();
  }

  private lines(): Drawn[] {
    const out: Drawn[] = [];
    const means = this.curves.some((c) => c.name === "train/loss" && (c.points ?? []).length > 1);
    this.curves.forEach((curve, i) => {
      const all = curve.points ?? [];
      const points = this.newest ? all.filter((p) => p[0] >= 0.75 * this.end()) : all;
      if (points.length === 0) {
        return;
      }
      const fine = curve.name === "loss" && means;
      if (this.smooth && points.length > 4) {
        out.push({ label: "", points, look: { colour: "--steps", width: 1.2 } });
        out.push({ label: `${curve.label}, smoothed`, points: smooth(points, 0.9), look: lookOf(curve.name, i, false) });
      } else {
        out.push({ label: fine ? "each step" : curve.label, points, look: lookOf(curve.name, i, fine) });
      }
    });
    if (this.level !== undefined && out.length > 0) {
      const { label, value } = this.level;
      const ends = out.flatMap((l) => [l.points[0], l.points.at(-1)] as Point[]).map((p) => p[0]);
      out.push({ label, points: [[Math.min(...ends), value], [Math.max(...ends), value]], look: { colour: "--muted", width: 1.5, dash: [2, 4] } });
    }
    return out;
  }

  private options(lines: Drawn[]): uPlot.Options {
    const muted = colour("--muted");
    const axis = { stroke: muted, grid: { stroke: colour("--soft"), width: 1 }, ticks: { stroke: colour("--soft"), width: 1 }, font: "12px system-ui, sans-serif" };
    return {
      width: Math.max(this.picture.clientWidth, 200),
      height: window.innerWidth <= 640 ? 180 : 230,
      legend: { show: false },
      cursor: { sync: { key: this.sync.key, setSeries: false }, drag: { x: true, y: false, setScale: false }, points: { size: 7 } },
      scales: { x: { time: false, range: (_u, min, max) => this.zoom ?? [this.newest || !this.inEpochs() ? min : 0, max > min ? max : min + 1] }, y: this.log ? { distr: 3 } : { range: (_u, min, max) => uPlot.rangeNum(min, max, 0.1, true) } },
      axes: [
        { ...axis, size: 30, label: this.inEpochs() ? "epoch" : "step", labelSize: 16, labelFont: axis.font },
        { ...axis, size: 58, values: (_u, ticks) => ticks.map((v) => (v === null ? "" : figure(v))) },
      ],
      series: [
        {},
        ...lines.map((l) => ({
          label: l.label,
          stroke: colour(l.look.colour),
          width: l.look.width,
          ...(l.look.dash === undefined ? {} : { dash: l.look.dash }),
          spanGaps: true,
          points: { show: l.points.length <= 40, size: 5 },
        })),
      ],
      hooks: { draw: [(u) => this.mark(u)], setCursor: [(u) => this.tell(u, lines)], setSelect: [(u) => this.select(u)] },
    };
  }

  // select shows what the pointer was dragged over.
  private select(u: uPlot): void {
    const { left, width } = u.select;
    if (width > 4) {
      this.show([u.posToVal(left, "x"), u.posToVal(left + width, "x")]);
    }
  }

  private inEpochs(): boolean {
    return (this.said.epochs ?? 0) > 0;
  }

  // mark draws where the best model and the restarts were.
  private mark(u: uPlot): void {
    const marks: [number, string, string][] = (this.said.resumes ?? []).map((x) => [x, "resumed", "--resume"]);
    if (this.said.best_epoch !== undefined && this.inEpochs()) {
      marks.push([this.said.best_epoch, "best", "--best"]);
    }
    const { ctx, bbox } = u;
    ctx.save();
    ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
    for (const [at, label, name] of marks) {
      const x = u.valToPos(at, "x", true);
      if (x < bbox.left || x > bbox.left + bbox.width) {
        continue;
      }
      ctx.strokeStyle = ctx.fillStyle = colour(name);
      ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      const right = x + ctx.measureText(label).width + 8 * devicePixelRatio < bbox.left + bbox.width;
      ctx.textAlign = right ? "left" : "right";
      ctx.fillText(label, x + (right ? 4 : -4) * devicePixelRatio, bbox.top + 12 * devicePixelRatio);
    }
    ctx.restore();
  }

  private drawLegend(lines: Drawn[]): void {
    this.legend.replaceChildren(
      ...lines
        .filter((l) => l.label !== "")
        .map((l) => {
          const swatch = make("i", { "aria-hidden": "true" });
          swatch.style.borderTop = `${l.look.width}px ${l.look.dash === undefined ? "solid" : "dashed"} ${colour(l.look.colour)}`;
          return make("span", {}, swatch, make("span", {}, l.label), make("b", {}));
        }),
    );
  }

  // tell writes the values under the pointer, or the newest ones, into the legend.
  private tell(u: uPlot, lines: Drawn[]): void {
    const at = u.cursor.idx;
    const places = this.legend.querySelectorAll("b");
    let n = 0;
    lines.forEach((l, i) => {
      if (l.label === "") {
        return;
      }
      const values = u.data[i + 1] ?? [];
      let j = at ?? values.length - 1;
      while (j > 0 && (values[j] === null || values[j] === undefined)) {
        j--;
      }
      const place = places[n++];
      const value = values[j];
      if (place !== undefined) {
        place.textContent = value === null || value === undefined ? "" : figure(value);
      }
    });
  }

  // sentence says in words what the picture shows.
  private sentence(): string {
    const parts = this.curves.flatMap((c) => {
      const first = c.points?.[0];
      const last = c.points?.at(-1);
      return first === undefined || last === undefined ? [] : [`${c.label} from ${figure(first[1])} to ${figure(last[1])}`];
    });
    return `${this.title}: ${parts.join("; ")}.`;
  }

  // fillTable writes the newest points of the lines, while somebody looks at the table.
  private fillTable(): void {
    if (!this.details.open) {
      return;
    }
    const fewest = this.curves.reduce((a, b) => ((b.points?.length ?? 0) > 0 && (b.points?.length ?? 0) < (a.points?.length ?? Infinity) ? b : a));
    const rows = (fewest.points ?? []).slice(-tableRows);
    const valueAt = (c: Curve, x: number): string => {
      const before = (c.points ?? []).filter((p) => p[0] <= x).at(-1);
      return before === undefined ? "" : figure(before[1]);
    };
    const head = make("tr", {}, make("th", { scope: "col" }, this.inEpochs() ? "Epoch" : "Step"), ...this.curves.map((c) => make("th", { scope: "col" }, c.label)));
    const body = rows.map((p) => make("tr", {}, make("td", {}, figure(p[0])), ...this.curves.map((c) => make("td", {}, valueAt(c, p[0])))));
    this.table.replaceChildren(make("caption", {}, this.title), make("thead", {}, head), make("tbody", {}, ...body));
  }
}

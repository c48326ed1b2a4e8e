import "./live.css";
import uPlot from "uplot";
import { Chart, extend, type Level } from "./chart";
import { make } from "./dom";
import { islands, setting } from "./island";
import { Log } from "./log";
import { follow, type Curve, type JobState, type Point, type Said } from "./stream";

const shownCharts = 2;
// The page is loaded again when much changed, at most so often.
const refreshMillis = 10_000;

// Run keeps the page of a run as the run is now. The server draws the page; the charts, the log and the progress are kept here.
class Run {
  private readonly api: string;
  private readonly sync = uPlot.sync("run");
  private readonly spoken = make("p", { class: "hidden", "aria-live": "polite" });
  private readonly lost = make("p", { class: "live-lost", role: "status", hidden: "" });
  private readonly log: Log;
  private readonly curves = new Map<string, Curve>();
  private readonly charts = new Map<string, Chart>();
  private said: Said = { fraction: 0 };
  private spokenTenth = -1;
  private drawing = false;
  private refreshed = 0;
  private refreshing = 0;

  constructor(private root: HTMLElement) {
    this.api = setting(root, "api");
    this.log = new Log(this.part("log") ?? make("div"));
    root.before(this.spoken);
    this.setUp();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.part("charts") ?? root);
    follow(this.api, {
      snapshot: (m) => {
        this.curves.clear();
        this.charts.clear();
        m.lines.forEach((line) => this.begin({ ...line, points: line.points ?? [] }));
        if (m.log !== undefined) {
          this.log.show(m.log);
        }
        this.say(m.said);
        this.changed(m.state);
        this.draw();
      },
      event: (news) => {
        news.lines?.forEach((line) => this.begin({ ...line, points: [] }));
        news.points?.forEach(([name, point]) => extend(this.curves.get(name)?.points ?? [], point as Point));
        if (news.points !== undefined) {
          this.draw();
        }
        if (["phase", "warning", "eval", "error"].includes(news.event.kind)) {
          this.refreshSoon(refreshMillis);
        }
      },
      state: (s) => this.changed(s),
      said: (s) => this.say(s),
      log: (l) => this.log.show(l),
      connected: () => (this.lost.hidden = true),
      lost: (seconds) => {
        this.lost.hidden = false;
        this.lost.textContent = `Not live: trying again in ${seconds} s.`;
      },
      end: (text) => {
        this.lost.hidden = text === "";
        this.lost.textContent = text;
        if (text === "" && root.dataset["over"] !== "true") {
          this.speak("The run has ended.");
        }
      },
    });
  }

  private part(name: string): HTMLElement | null {
    return this.root.querySelector<HTMLElement>(`[data-live="${name}"]`);
  }

  private setUp(): void {
    (this.part("sentence") ?? this.root.firstElementChild)?.after(this.lost);
  }

  // begin takes a new line into its chart.
  private begin(curve: Curve): void {
    this.curves.set(curve.name, curve);
    let chart = this.charts.get(curve.chart);
    if (chart === undefined) {
      chart = new Chart(curve.chart, this.sync);
      this.charts.set(curve.chart, chart);
    }
    chart.add(curve);
  }

  // draw shows the charts at the next picture: the loss and the metric that matters first, the others behind a summary.
  private draw(): void {
    if (this.drawing) {
      return;
    }
    this.drawing = true;
    requestAnimationFrame(() => {
      this.drawing = false;
      const host = this.part("charts");
      if (host === null || this.charts.size === 0) {
        return;
      }
      const first = this.curves.get(`validation/${this.said.metric ?? ""}`)?.chart;
      const rank = (c: Chart): number => (/loss/i.test(c.title) ? 0 : c.title === first ? 1 : 2);
      const all = [...this.charts.values()].sort((a, b) => rank(a) - rank(b));
      const shown = all.slice(0, shownCharts);
      const more = all.slice(shownCharts);
      const wanted: Node[] = shown.map((c) => c.element);
      if (more.length > 0) {
        wanted.push(this.more(host, more));
      }
      if (wanted.length !== host.childNodes.length || wanted.some((node, i) => node !== host.childNodes[i])) {
        host.replaceChildren(...wanted);
      }
      all.forEach((c) => c.place(this.said, this.levelOf(c)));
      shown.forEach((c) => c.draw());
      if (host.querySelector<HTMLDetailsElement>(".live-more")?.open === true) {
        more.forEach((c) => c.draw());
      }
    });
  }

  // levelOf is the champion's value, for the chart of its metric.
  private levelOf(chart: Chart): Level | undefined {
    const { champion, championValue, championChart } = this.root.dataset;
    return championChart === chart.title ? { label: `champion ${champion}`, value: Number(championValue) } : undefined;
  }

  private more(host: HTMLElement, charts: Chart[]): HTMLElement {
    const known = host.querySelector<HTMLDetailsElement>(".live-more");
    const details = known ?? make("details", { class: "live-more" }, make("summary", {}, "More curves"), make("div"));
    if (known === null) {
      details.addEventListener("toggle", () => this.draw());
    }
    const inside = details.lastElementChild as HTMLElement;
    if (charts.some((c, i) => c.element !== inside.children[i])) {
      inside.replaceChildren(...charts.map((c) => c.element));
    }
    return details;
  }

  // say shows how far the run is, and speaks at each tenth.
  private say(said: Said): void {
    const phaseIsNew = said.phase !== undefined && said.phase !== this.said.phase && this.said.phase !== undefined;
    this.said = said;
    const sentence = this.part("sentence");
    if (sentence !== null && said.sentence !== undefined && this.root.dataset["over"] !== "true") {
      sentence.textContent = said.sentence;
    }
    const bar = this.part("bar")?.querySelector("progress");
    if (bar !== null && bar !== undefined) {
      bar.value = Math.round(100 * said.fraction);
      bar.textContent = `${bar.value} %`;
    } else if (said.fraction > 0 && this.root.dataset["over"] !== "true") {
      this.refreshSoon(refreshMillis);
    }
    const tenth = Math.floor(10 * said.fraction);
    if (phaseIsNew || (this.spokenTenth >= 0 && tenth > this.spokenTenth)) {
      this.speak(said.sentence ?? "");
    }
    this.spokenTenth = tenth;
  }

  private speak(text: string): void {
    this.spoken.textContent = text;
  }

  // changed loads the page again if it shows an older standing of the run.
  private changed(state: JobState): void {
    if (state.standing !== this.root.dataset["standing"]) {
      this.refreshSoon(0);
    }
  }

  private refreshSoon(after: number): void {
    const wait = Math.max(0, this.refreshed + after - Date.now());
    if (after === 0) {
      window.clearTimeout(this.refreshing);
      this.refreshing = 0;
    }
    if (this.refreshing === 0) {
      this.refreshing = window.setTimeout(() => this.refresh(), wait);
    }
  }

  // refresh takes the page of the server, and keeps the charts, the log, and what the reader has opened.
  private refresh(): void {
    this.refreshing = 0;
    this.refreshed = Date.now();
    const request = new XMLHttpRequest(); // it makes a document of the answer without markup passing through this script
    request.open("GET", location.href);
    request.responseType = "document";
    request.addEventListener("error", () => this.refreshSoon(refreshMillis));
    request.addEventListener("load", () => {
      if (request.status >= 429) {
        this.refreshSoon(refreshMillis);
        return;
      }
      const fresh = request.responseXML?.querySelector<HTMLElement>('[data-island="live"]');
      if (request.status !== 200 || fresh === null || fresh === undefined) {
        return;
      }
      const active = document.activeElement;
      const kept = active !== null && active.closest('[data-live="charts"], [data-live="log"]') !== null;
      if ((this.root.contains(active) && !kept) || this.root.querySelector(":popover-open") !== null) {
        this.refreshSoon(refreshMillis); // somebody is using a part that would be replaced
        return;
      }
      this.replace(fresh);
      if (kept) {
        (active as HTMLElement).focus({ preventScroll: true });
      }
    });
    request.send();
  }

  private replace(fresh: HTMLElement): void {
    const opened = [...this.root.querySelectorAll<HTMLDetailsElement>("details[open] > summary")].map((s) => s.textContent);
    const scrolled = this.part("log")?.querySelector("pre")?.scrollTop ?? 0;
    for (const name of ["charts", "log"]) {
      const kept = this.part(name);
      const place = fresh.querySelector(`[data-live="${name}"]`);
      if (kept !== null && place !== null && (name === "log" || this.charts.size > 0)) {
        place.replaceWith(kept);
      }
    }
    fresh.querySelectorAll<HTMLElement>("details > summary").forEach((summary) => {
      if (opened.includes(summary.textContent)) {
        (summary.parentElement as HTMLDetailsElement).open = true;
      }
    });
    this.root.replaceWith(fresh);
    this.root = fresh;
    const pre = this.part("log")?.querySelector("pre");
    if (pre !== null && pre !== undefined) {
      pre.scrollTop = scrolled;
    }
    this.setUp();
    this.draw();
  }
}

islands("live", (root) => new Run(root));

// The form that asks a model, without a new page: it shows the answer beside the form, and takes images that are dropped or pasted.
import { islands, setting } from "./island";
import { reasons, type Reasons } from "./why";

interface Likely {
  label: string;
  probability: number;
}

interface Row {
  label?: string;
  value?: number;
  within?: string;
  unsure?: boolean;
  values?: { name: string; text: string }[];
  labels?: Likely[];
  parts?: Part[];
  why?: Reasons;
  pictures?: Drawn[];
  legend?: Colour[];
}

interface Scale {
  low: number;
  high: number;
  colours: string[];
}

interface Drawn {
  name: string;
  shown?: boolean;
  width: number;
  height: number;
  png: string;
  says?: string;
  scale?: Scale;
}

interface Colour {
  label: string;
  colour?: string;
  share: number;
  within?: string;
}

interface Part {
  text: string;
  entity?: string;
  probability?: number;
}

interface Answer {
  model: string;
  took: string;
  rows: Row[];
}

interface Problem {
  title?: string;
  detail?: string;
  do?: string;
}

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

const MOST_BYTES = 10 * 1024 * 1024;
const MOST_LABELS = 10;
const MOST_COLOURS = 12;
const SVG = "http://www.w3.org/2000/svg";
const WAKES_AFTER = 400; // milliseconds without an answer

islands("try", (element) => {
  const form = element.querySelector("form");
  const answer = element.querySelector<HTMLElement>(".answer");
  const button = form?.querySelector("button");
  if (!form || !answer || !button) {
    return; // this version answers no rows, and says why
  }
  const address = setting(element, "api");
  const percent = new Intl.NumberFormat(undefined, { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1 });
  const number = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 6 });
  let asked = 0; // answers to earlier questions are not shown
  const image = form.querySelector<HTMLInputElement>("input[type=file]");
  if (image) {
    takeImages(form, image, (text) => show(line("failed", text)));
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void ask();
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form.requestSubmit();
    }
  });

  if (chosenExample(form) && answer.querySelector(".label, .value, .values, .drawn, .failed") === null) {
    form.requestSubmit();
  }
  for (const link of form.querySelectorAll<HTMLAnchorElement>("[data-example]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      fill(form, JSON.parse(link.dataset["example"] ?? "{}") as Record<string, string>);
      form.requestSubmit();
    });
  }

  async function ask(why = false): Promise<void> {
    const mine = ++asked;
    button!.disabled = true;
    const waking = setTimeout(() => mine === asked && show(line("muted", "Waking the model, a second or two.")), WAKES_AFTER);
    try {
      const row = await rowOf(form!);
      const reply = await fetch(address, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ rows: [row], ...(why ? { why } : {}) }),
      });
      const content: unknown = await reply.json();
      if (mine === asked) {
        show(...(reply.ok ? answered(content as Answer) : refused(content as Problem)));
      }
    } catch {
      if (mine === asked) {
        show(line("failed", "The studio does not answer. Your input is still here: try again."));
      }
    } finally {
      clearTimeout(waking);
      if (mine === asked) {
        button!.disabled = false;
      }
    }
  }

  function show(...parts: HTMLElement[]): void {
    answer!.replaceChildren(...parts);
  }

  function answered(content: Answer): HTMLElement[] {
    const row = content.rows[0] ?? {};
    const parts: HTMLElement[] = [];
    if (row.parts) {
      parts.push(entities(row.parts));
    } else if (row.pictures) {
      parts.push(...pictures(row, row.pictures));
    } else if (row.value !== undefined) {
      parts.push(line("value", number.format(row.value)), ...within(row));
    } else if (row.values) {
      parts.push(valuesOf(row.values));
    } else {
      const label = make("p", "label");
      if (row.unsure) {
        label.append(make("span", "waiting", "Unsure:"), " ");
      }
      label.append(make("strong", "", row.label ?? ""));
      parts.push(label, ...within(row), likely(row.labels ?? []));
    }
    const source = line("muted", "");
    source.append(make("small", "", `${content.model} in ${content.took}`));
    if (row.why) {
      const preview = form!.querySelector<HTMLImageElement>(".preview:not([hidden])");
      return [...parts, source, reasons(row.why, preview?.src ?? "", row.value === undefined, number)];
    }
    if (element.hasAttribute("data-unexplained") || row.pictures || (row.value === undefined && !row.labels)) {
      return [...parts, source]; // it says nothing of its parts
    }
    const more = make("button", "quiet", "Why this answer?") as HTMLButtonElement;
    more.type = "button";
    more.addEventListener("click", () => void ask(true));
    return [...parts, source, more];
  }

  function valuesOf(values: { name: string; text: string }[]): HTMLElement {
    const list = make("dl", "values");
    list.append(...values.flatMap(({ name, text }) => [make("dt", "", name), make("dd", "", text)]));
    return list;
  }

  // pictures shows the drawn ones with what their colours stand for, and leads to the others.
  function pictures(row: Row, all: Drawn[]): HTMLElement[] {
    const parts: HTMLElement[] = [];
    parts.push(...all.filter((p) => p.shown && !p.says).flatMap(drawing));
    if (row.legend) {
      parts.push(...legend(row.legend));
    }
    if (row.values) {
      parts.push(valuesOf(row.values));
    }
    parts.push(...all.filter((p) => p.shown && p.says).flatMap(drawing));
    const files = line("downloads", "");
    for (const file of all.filter((p) => !p.shown)) {
      const link = document.createElement("a");
      link.href = `data:image/png;base64,${file.png}`;
      link.download = link.textContent = `${file.name}.png`;
      files.append(link, " ", make("small", "muted", `${file.width} × ${file.height} pixels`), " ");
    }
    return [...parts, files];
  }

  // drawing shows a picture with the sentence about it and its scale.
  function drawing(drawn: Drawn): HTMLElement[] {
    const figure = make("figure", "drawn");
    const image = document.createElement("img");
    image.alt = `The answer, drawn: ${drawn.name}`;
    image.width = drawn.width;
    image.height = drawn.height;
    image.src = `data:image/png;base64,${drawn.png}`;
    figure.append(image);
    if (drawn.says) {
      figure.append(make("figcaption", "muted", drawn.says));
    }
    return drawn.scale ? [figure, scale(drawn.scale, `scale-${drawn.name}`)] : [figure];
  }

  function legend(colours: Colour[]): HTMLElement[] {
    const named = colours.slice(0, MOST_COLOURS);
    const table = make("table", "legend");
    table.append(make("caption", "hidden", "What the colours stand for, and the share of the pixels"));
    const body = table.appendChild(document.createElement("tbody"));
    for (const { label, colour, share, within } of named) {
      const swatch = svg("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" });
      swatch.append(svg("rect", { x: "1", y: "1", width: "14", height: "14", rx: "3", ...(colour ? { fill: colour } : { class: "none" }) }));
      const cell = document.createElement("td");
      cell.append(swatch);
      const name = make("th", "", label);
      name.setAttribute("scope", "row");
      if (!colour) {
        name.append(" ", make("small", "muted", "as in the picture"));
      }
      const row = document.createElement("tr");
      const figure = make("td", "figure", percent.format(share));
      if (within) {
        figure.append(" ", make("small", "muted", within));
      }
      row.append(cell, name, figure);
      body.append(row);
    }
    const more = colours.length - named.length;
    const repeats = new Set(named.map((c) => c.colour)).size < named.length;
    return [
      table,
      ...(more > 0 ? [line("muted", `${more} more with smaller shares`)] : []),
      ...(repeats ? [line("muted", "Colours are used again after eight classes: the mask tells all apart.")] : []),
    ];
  }

  function scale({ low, high, colours }: Scale, id: string): HTMLElement {
    const drawn = svg("svg", {
      viewBox: "0 0 100 6",
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": "Colours from the smallest number to the largest",
    });
    const gradient = svg("linearGradient", { id });
    colours.forEach((colour, i) => gradient.append(svg("stop", { offset: `${(100 * i) / (colours.length - 1)}%`, "stop-color": colour })));
    const defined = svg("defs", {});
    defined.append(gradient);
    drawn.append(defined, svg("rect", { width: "100", height: "6", fill: `url(#${id})` }));
    const line = make("div", "scale");
    line.append(make("span", "", `≤ ${number.format(low)}`), drawn, make("span", "", `≥ ${number.format(high)}`));
    return line;
  }

  function within(row: Row): HTMLElement[] {
    return row.within ? [line("muted", row.within)] : [];
  }

  function entities(found: Part[]): HTMLElement {
    const text = make("p", "entities");
    for (const part of found) {
      if (!part.entity) {
        text.append(part.text);
        continue;
      }
      const mark = make("mark", "", `${part.text} `);
      mark.title = percent.format(part.probability ?? 0);
      mark.append(make("small", "", part.entity));
      text.append(mark);
    }
    return text;
  }

  function likely(labels: Likely[]): HTMLElement {
    const table = make("table", "likely");
    table.append(make("caption", "hidden", "How likely each answer is"));
    const body = table.appendChild(document.createElement("tbody"));
    for (const { label, probability } of labels.slice(0, MOST_LABELS)) {
      const name = make("th", "", label);
      name.setAttribute("scope", "row");
      const bar = document.createElement("progress");
      bar.max = 1;
      bar.value = probability;
      bar.setAttribute("aria-label", label);
      const cell = document.createElement("td");
      cell.append(bar);
      const row = document.createElement("tr");
      row.append(name, cell, make("td", "figure", percent.format(probability)));
      body.append(row);
    }
    return table;
  }

  function refused(problem: Problem): HTMLElement[] {
    const said = line("failed", "");
    said.append(make("strong", "", `${problem.title ?? "The model did not answer"}.`), ` ${problem.detail ?? ""} ${problem.do ?? ""}`);
    return [said];
  }
});

// rowOf reads the fields by their columns. An empty field of a table is left out.
async function rowOf(form: HTMLFormElement): Promise<Record<string, string>> {
  const row: Record<string, string> = {};
  for (const field of form.querySelectorAll<Field>("[data-column]")) {
    const column = field.dataset["column"] ?? "";
    if (field instanceof HTMLInputElement && field.type === "file") {
      const file = field.files?.[0];
      if (file) {
        row[column] = await base64(file);
      } else if (chosenExample(form)) {
        row[column] = (form.querySelector<HTMLImageElement>(".preview")?.src ?? "").replace(/^[^,]*,/, "");
      }
    } else if (field instanceof HTMLTextAreaElement || field.value.trim() !== "") {
      row[column] = field.value;
    }
  }
  return row;
}

// chosenExample is the field with the number of the example whose image the page shows, until another image is chosen.
function chosenExample(form: HTMLFormElement): HTMLInputElement | null {
  return form.querySelector<HTMLInputElement>("input[name=example]");
}

// fill writes a row into the fields. A field that the row does not name becomes empty.
function fill(form: HTMLFormElement, row: Record<string, string>): void {
  for (const field of form.querySelectorAll<Field>("[data-column]")) {
    if (field.type !== "file") {
      field.value = row[field.dataset["column"] ?? ""] ?? "";
    }
  }
}

function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

// takeImages shows the chosen image, and takes one that is dropped on the form or pasted into the page.
function takeImages(form: HTMLFormElement, input: HTMLInputElement, complain: (text: string) => void): void {
  const area = form.querySelector<HTMLElement>(".drop");
  const preview = form.querySelector<HTMLImageElement>(".preview");
  const hint = form.querySelector<HTMLElement>(".scripted");
  if (!area || !preview || !hint) {
    return;
  }
  hint.hidden = false;
  let shown = "";
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    const example = chosenExample(form);
    if (example) {
      example.remove();
      input.required = true;
    }
    URL.revokeObjectURL(shown);
    preview.hidden = !file;
    if (!file) {
      return;
    }
    if (file.size > MOST_BYTES) {
      input.value = "";
      preview.hidden = true;
      complain("The image has more than 10 MB. Use a smaller one.");
      return;
    }
    shown = URL.createObjectURL(file);
    preview.src = shown;
  });
  const take = (files: FileList | undefined | null): boolean => {
    const file = [...(files ?? [])].find((f) => f.type.startsWith("image/"));
    if (!file) {
      return false;
    }
    const one = new DataTransfer();
    one.items.add(file);
    input.files = one.files;
    input.dispatchEvent(new Event("change"));
    form.requestSubmit();
    return true;
  };
  for (const kind of ["dragenter", "dragover"]) {
    area.addEventListener(kind, (event) => {
      event.preventDefault();
      area.classList.add("over");
    });
  }
  area.addEventListener("dragleave", () => area.classList.remove("over"));
  area.addEventListener("drop", (event) => {
    event.preventDefault();
    area.classList.remove("over");
    if (!take(event.dataTransfer?.files)) {
      complain("This is no image. Drop a PNG or JPEG.");
    }
  });
  document.addEventListener("paste", (event) => {
    if (take(event.clipboardData?.files)) {
      event.preventDefault();
    }
  });
}

function make(tag: string, kind: string, text = ""): HTMLElement {
  const element = document.createElement(tag);
  if (kind) {
    element.className = kind;
  }
  element.textContent = text;
  return element;
}

function line(kind: string, text: string): HTMLElement {
  return make("p", kind, text);
}

function svg(tag: string, attributes: Record<string, string>): SVGElement {
  const element = document.createElementNS(SVG, tag) as SVGElement;
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, value);
  }
  return element;
}

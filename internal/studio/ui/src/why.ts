// Why a model answers as it does: the parts of a row that raise the answer and those that lower it, as a table or over the picture.

export interface Reasons {
  answer: string;
  parts: { name: string; raised: number; box?: [number, number, number, number] }[];
}

const SHOWN = 12;
const SVG = "http://www.w3.org/2000/svg";
const LEAST = 1e-9;

// reasons shows found. picture is the address of the picture that was asked about, empty for none. isClass says that the answer is a class.
export function reasons(found: Reasons, picture: string, isClass: boolean, format: Intl.NumberFormat): HTMLElement {
  const all = document.createElement("section");
  all.className = "why";
  const title = document.createElement("h3");
  title.textContent = `What raises and lowers ${found.answer}`;
  const boxed = picture !== "" && found.parts.every((p) => p.box);
  all.append(title, boxed ? overlaid(found, picture) : table(found, format), note(boxed, isClass));
  return all;
}

function table(found: Reasons, format: Intl.NumberFormat): HTMLElement {
  const shown = document.createElement("table");
  shown.className = "likely";
  const body = shown.appendChild(document.createElement("tbody"));
  for (const { name, raised } of found.parts.slice(0, SHOWN)) {
    const row = body.insertRow();
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = name;
    row.append(head);
    const figure = row.insertCell();
    figure.className = "figure";
    figure.textContent = `${raised < 0 ? "−" : "+"}${format.format(Math.abs(raised))}`;
  }
  return shown;
}

// overlaid marks the squares over the picture: those that raise the answer in blue, those that lower it in orange, as dark as they matter.
function overlaid(found: Reasons, picture: string): HTMLElement {
  const figure = document.createElement("figure");
  figure.className = "drawn";
  const image = new Image();
  image.addEventListener("load", () => {
    const drawn = element("svg", {
      viewBox: `0 0 ${image.naturalWidth} ${image.naturalHeight}`,
      width: "280",
      role: "img",
      "aria-label": `The squares of the picture that raise ${found.answer}, and those that lower it`,
    });
    drawn.append(element("image", { href: picture, width: `${image.naturalWidth}`, height: `${image.naturalHeight}` }));
    const most = Math.max(LEAST, ...found.parts.map((p) => Math.abs(p.raised)));
    for (const { raised, box } of found.parts) {
      const [left, top, width, height] = box ?? [0, 0, 0, 0];
      drawn.append(
        element("rect", {
          x: `${left * image.naturalWidth}`,
          y: `${top * image.naturalHeight}`,
          width: `${width * image.naturalWidth}`,
          height: `${height * image.naturalHeight}`,
          fill: raised < 0 ? "#d95f02" : "#1f78b4",
          "fill-opacity": `${(0.75 * Math.abs(raised)) / most}`,
        }),
      );
    }
    figure.append(drawn);
  });
  image.src = picture;
  return figure;
}

function note(boxed: boolean, isClass: boolean): HTMLElement {
  const said = document.createElement("p");
  said.className = "muted";
  const how = boxed ? "Blue squares raise the answer, orange ones lower it. " : "";
  const unit = isClass ? ", in the logarithm of its odds" : "";
  said.textContent = `${how}It is the difference to the answer without each part${unit}.`;
  return said;
}

function element(tag: string, attributes: Record<string, string>): SVGElement {
  const made = document.createElementNS(SVG, tag) as SVGElement;
  for (const [name, value] of Object.entries(attributes)) {
    made.setAttribute(name, value);
  }
  return made;
}

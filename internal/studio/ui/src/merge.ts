import { diff3MergeRegions } from "node-diff3";

// Spot is a place that both sides changed, in the merged text: mine stands there.
export interface Spot {
  from: number;
  to: number;
  line: number;
  mine: string;
  theirs: string;
}

export interface Merged {
  text: string;
  spots: Spot[];
}

// merge merges two texts that both came from base, line by line. Where both changed the same lines, mine stands in the text.
export function merge(base: string, mine: string, theirs: string): Merged {
  const spots: Spot[] = [];
  let text = "";
  for (const region of diff3MergeRegions(lines(mine), lines(base), lines(theirs))) {
    if (region.stable) {
      text += region.bufferContent.join("");
      continue;
    }
    const [ours, other] = [region.aContent.join(""), region.bContent.join("")];
    if (ours !== other) {
      spots.push({ from: text.length, to: text.length + ours.length, line: text.split("\n").length, mine: ours, theirs: other });
    }
    text += ours;
  }
  return { text, spots };
}

// lines splits a text into lines with their ends.
function lines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";

// Option is an option of a training, as /api/v1/options lists it.
export interface Option {
  name: string;
  group: string;
  type: "string" | "boolean" | "integer" | "number";
  default: string | number | boolean;
  enum?: string[];
  minimum?: number;
  maximum?: number;
  description: string;
}

// completeOptions offers the options of a settings file in YAML: names at the begin of a line, in the group that the line belongs to, and
// values after a name.
export function completeOptions(options: () => Option[]): (context: CompletionContext) => CompletionResult | null {
  return (context) => {
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, context.pos - line.from);
    const name = /^(\s*)([\w-]*)$/.exec(before);
    if (name !== null) {
      const [, indent = "", word = ""] = name;
      if (word === "" && !context.explicit) {
        return null;
      }
      const group = indent === "" ? "" : groupAbove(context, line.number, indent.length);
      return { from: context.pos - word.length, options: names(options(), group, indent === ""), validFor: /^[\w-]*$/ };
    }
    const value = /^\s*([\w-]+):\s+([\w.-]*)$/.exec(before);
    const known = value === null ? undefined : options().find((option) => option.name === value[1]);
    if (value === null || known === undefined) {
      return null;
    }
    const choices = known.enum ?? (known.type === "boolean" ? ["true", "false"] : []);
    return choices.length === 0
      ? null
      : { from: context.pos - (value[2] ?? "").length, options: choices.map((label) => ({ label, type: "enum" })), validFor: /^[\w.-]*$/ };
  };
}

// groupAbove returns the name of the group that an indented line belongs to.
function groupAbove(context: CompletionContext, from: number, indent: number): string {
  for (let number = from - 1; number > 0; number -= 1) {
    const found = /^(\s*)([\w-]+):/.exec(context.state.doc.line(number).text);
    if (found !== null && (found[1] ?? "").length < indent) {
      return found[2] ?? "";
    }
  }
  return "";
}

function names(options: Option[], group: string, top: boolean): Completion[] {
  const inside = options
    .filter((option) => option.group === group)
    .map((option) => ({ label: option.name, apply: `${option.name}: `, type: "property", detail: limits(option), info: option.description }));
  if (!top) {
    return inside;
  }
  const groups = [...new Set(options.map((option) => option.group))].filter((name) => name !== "");
  return [...inside, ...groups.map((label) => ({ label, apply: `${label}:\n  `, type: "namespace", detail: "group" }))];
}

function limits(option: Option): string {
  const standard = option.default === "" ? "" : `${option.default}`;
  const range = option.minimum === undefined ? "" : `, ${option.minimum} to ${option.maximum ?? ""}`;
  return standard + range;
}

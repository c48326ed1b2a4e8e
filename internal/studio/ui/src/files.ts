// The API of files; see internal/studio/edit/api.go.

export interface Saved {
  number: number;
  tag: string;
  by: string;
  at: string;
}

export interface Newest extends Saved {
  text: string;
  text_known: boolean;
}

export interface Outcome extends Saved {
  unchanged?: boolean;
  collision?: Newest;
}

export interface Finding {
  line: number;
  column: number;
  end_column: number;
  severity: "error" | "warning";
  message: string;
  instead?: string;
}

export interface Report {
  findings: Finding[];
  skipped?: string;
}

// Refused is an answer of the API that says why not.
export class Refused extends Error {
  readonly status: number;
  readonly newest: Newest | undefined;

  constructor(status: number, message: string, newest: Newest | undefined) {
    super(message);
    this.status = status;
    this.newest = newest;
  }
}

// Files calls the API for one file.
export class Files {
  readonly #dataset: string;
  readonly #file: string;

  constructor(dataset: string, file: string) {
    this.#dataset = dataset;
    this.#file = `${dataset}/files/${encodeURIComponent(file)}`;
  }

  save(text: string, tag: string): Promise<Outcome> {
    return call<Outcome>("PUT", this.#file, { text }, { "If-Match": `"${tag}"` });
  }

  async version(number: number): Promise<string> {
    return (await call<{ text: string }>("GET", `${this.#file}?version=${number}`)).text;
  }

  // check checks a text by its name, or as the settings of a training.
  check(name: string, text: string, settings = false): Promise<Report> {
    return call<Report>("POST", `${this.#dataset}/check`, { name, text, settings });
  }
}

export async function call<T>(method: string, address: string, body?: unknown, headers: Record<string, string> = {}): Promise<T> {
  let answer: Response;
  try {
    const sent: RequestInit = { method, headers: { ...headers, Accept: "application/json" }, credentials: "same-origin" };
    if (body !== undefined) {
      sent.headers = { ...headers, Accept: "application/json", "Content-Type": "application/json" };
      sent.body = JSON.stringify(body);
    }
    answer = await fetch(address, sent);
  } catch {
    throw new Refused(0, "The studio does not answer. Your text is kept in this browser; try again.", undefined);
  }
  const found: unknown = await answer.json().catch(() => undefined);
  if (answer.ok && found !== undefined) {
    return found as T;
  }
  const problem = (found ?? {}) as { title?: string; detail?: string; do?: string; newest?: Newest };
  const said = [problem.detail, problem.do].filter((part) => part !== undefined && part !== "").join(" ");
  throw new Refused(answer.status, said === "" ? (problem.title ?? `The studio answered ${answer.status}.`) : said, problem.newest);
}

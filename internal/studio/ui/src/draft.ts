// Draft is a text that was not saved, in the storage of this browser.
export interface Draft {
  text: string;
  tag: string;
  at: number;
}

// Drafts keeps the unsaved text of one visitor and one file. Without storage it keeps none.
export class Drafts {
  readonly #key: string;

  constructor(visitor: string, file: string) {
    this.#key = `draft ${visitor} ${file}`;
  }

  read(): Draft | undefined {
    try {
      const found: unknown = JSON.parse(localStorage.getItem(this.#key) ?? "null");
      if (typeof found === "object" && found !== null && "text" in found && "tag" in found && "at" in found) {
        return { text: String(found.text), tag: String(found.tag), at: Number(found.at) };
      }
    } catch {
      // what cannot be read is no draft
    }
    return undefined;
  }

  keep(text: string, tag: string): boolean {
    try {
      localStorage.setItem(this.#key, JSON.stringify({ text, tag, at: Date.now() } satisfies Draft));
      return true;
    } catch {
      return false; // the storage is full or switched off
    }
  }

  drop(): void {
    try {
      localStorage.removeItem(this.#key);
    } catch {
      // then there is none
    }
  }
}

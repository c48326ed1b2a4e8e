import type { Saved } from "./files";

// Person has the file open.
export interface Person {
  name: string;
  email: string;
  since: string;
  you?: boolean;
}

export interface Watcher {
  people(people: Person[]): void;
  saved(version: Saved): void;
  end(reason: string): void;
}

// watch follows who else has a file open and who saves it, while the page can be seen.
export function watch(address: string, watcher: Watcher): void {
  let source: EventSource | undefined;
  let ended = false;
  const close = (): void => {
    source?.close();
    source = undefined;
  };
  const open = (): void => {
    close();
    source = new EventSource(address);
    const on = <T>(kind: string, take: (value: T) => void): void =>
      source?.addEventListener(kind, (message) => take(JSON.parse((message as MessageEvent<string>).data) as T));
    on<{ people: Person[] }>("people", ({ people }) => watcher.people(people));
    on<Saved>("saved", (version) => watcher.saved(version));
    on<{ reason: string }>("end", ({ reason }) => {
      ended = true;
      close();
      watcher.end(reason);
    });
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      close();
    } else if (!ended) {
      open();
    }
  });
  open();
}

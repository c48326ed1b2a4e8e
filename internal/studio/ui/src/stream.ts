// The stream of a run: server-sent events that begin with a snapshot. See internal/studio/live/message.go.

export type Point = [number, number];

export interface Curve {
  name: string;
  chart: string;
  label: string;
  better?: "higher" | "lower";
  points?: Point[];
}

export interface JobState {
  // standing is another text whenever the page of the run is another one.
  standing: string;
  over: boolean;
}

export interface Said {
  sentence?: string;
  phase?: string;
  fraction: number;
  epochs?: number;
  metric?: string;
  best?: number;
  best_epoch?: number;
  resumes?: number[];
}

export interface Printed {
  text: string;
  from?: boolean;
}

export interface Moment {
  after: number;
  state: JobState;
  said: Said;
  lines: Curve[];
  log?: Printed;
}

export interface News {
  event: { kind: string };
  lines?: Curve[];
  points?: [string, Point][];
}

export interface Listener {
  snapshot(moment: Moment): void;
  event(news: News): void;
  state(state: JobState): void;
  said(said: Said): void;
  log(printed: Printed): void;
  // end is called once, when nothing follows; text says why, where it is not the end of the run.
  end(text: string): void;
  // connected tells that the stream runs; lost that it does not, and in how many seconds it is tried again.
  connected(): void;
  lost(seconds: number): void;
}

const triesUntilPolling = 3;
const pollSeconds = 5;

// follow opens the stream below the address of a run in the API, and keeps it open while the page can be seen. Where streams do not come
// through, it asks for the whole again every few seconds.
export function follow(api: string, listener: Listener): void {
  let source: EventSource | undefined;
  let last = -1;
  let failures = 0;
  let ended = false;
  let timer = 0;

  const end = (text: string): void => {
    ended = true;
    close();
    listener.end(text);
  };
  const close = (): void => {
    window.clearTimeout(timer);
    source?.close();
    source = undefined;
  };
  const open = (): void => {
    close();
    source = new EventSource(last < 0 ? `${api}/events` : `${api}/events?after=${last}`);
    const on = <T>(kind: string, take: (value: T) => void): void => {
      source?.addEventListener(kind, (message) => {
        const { data, lastEventId } = message as MessageEvent<string>;
        failures = 0;
        if (lastEventId !== "") {
          last = Number(lastEventId);
        }
        take(JSON.parse(data) as T);
      });
    };
    source.addEventListener("open", () => listener.connected());
    source.addEventListener("error", failed);
    on<Moment>("snapshot", (m) => listener.snapshot(m));
    on<News>("event", (n) => listener.event(n));
    on<JobState>("state", (s) => listener.state(s));
    on<Said>("said", (s) => listener.said(s));
    on<Printed>("log", (l) => listener.log(l));
    on<{ text: string }>("end", (e) => end(e.text));
  };
  const failed = (): void => {
    close();
    failures++;
    const seconds = Math.min(2 ** failures, pollSeconds);
    listener.lost(seconds);
    timer = window.setTimeout(failures < triesUntilPolling ? open : poll, 1000 * seconds);
  };
  const poll = async (): Promise<void> => {
    try {
      const answer = await fetch(`${api}/series`, { headers: { Accept: "application/json" } });
      if (answer.status === 401 || answer.status === 403 || answer.status === 404) {
        end(answer.status === 401 ? "Your login has ended: load the page again." : "You may no longer see this dataset.");
        return;
      }
      if (answer.ok) {
        const moment = (await answer.json()) as Moment;
        last = moment.after;
        listener.snapshot(moment);
        if (moment.state.over) {
          end("");
          return;
        }
        failures = 0; // the service is there: try the stream again
      }
    } catch {
      // the network is away: try again
    }
    if (!ended && document.visibilityState === "visible") {
      timer = window.setTimeout(failures === 0 ? open : poll, 1000 * pollSeconds);
    }
  };

  document.addEventListener("visibilitychange", () => {
    if (ended) {
      return;
    }
    if (document.visibilityState === "visible") {
      failures = 0;
      open();
    } else {
      close(); // a browser opens few connections to one host
    }
  });
  if (document.visibilityState === "visible") {
    open();
  }
}

import "./editor.css";
import { autocompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { python } from "@codemirror/lang-python";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, defineLanguageFacet, foldGutter, foldKeymap, indentOnInput, indentUnit, Language, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, linter, setDiagnostics } from "@codemirror/lint";
import { unifiedMergeView } from "@codemirror/merge";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension, StateEffect, StateField, type Text } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { parser } from "@lezer/markdown";
import { Drafts } from "./draft";
import { make } from "./dom";
import { call, Files, type Finding, type Newest, type Outcome, Refused, type Report, type Saved } from "./files";
import { islands, setting } from "./island";
import { merge, type Spot } from "./merge";
import { completeOptions, type Option } from "./options";
import { type Person, watch } from "./presence";

// The places of a conflict that wait for a choice, as they move with the text.
const setSpots = StateEffect.define<{ id: number; from: number; to: number }[]>();
const endSpot = StateEffect.define<number>();
const spotField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, change) {
    let now = marks.map(change.changes);
    for (const effect of change.effects) {
      if (effect.is(setSpots)) {
        now = Decoration.set(effect.value.map(({ id, from, to }) => spotMark(id).range(from, Math.max(to, from))).filter(({ from, to }) => to > from));
      } else if (effect.is(endSpot)) {
        now = now.update({ filter: (_from, _to, mark) => mark.spec["id"] !== effect.value });
      }
    }
    return now;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function spotMark(id: number): Decoration {
  return Decoration.mark({ class: "cm-spot", id, inclusive: true });
}

const wait = 700; // milliseconds after the last key, before a text is checked or kept

class Editor {
  readonly #form: HTMLFormElement;
  readonly #field: HTMLTextAreaElement;
  readonly #files: Files;
  readonly #drafts: Drafts;
  readonly #view: EditorView;
  readonly #difference = new Compartment();
  readonly #name: string;
  readonly #visitor: string;
  readonly #readOnly: boolean;
  readonly #ends: string;
  #tag: string;
  #number: number;
  #saved: Text; // the text of the version with that tag
  #options: Option[] = [];
  #timer = 0;
  #busy = false;
  #open = new Map<number, Spot>();

  constructor(form: HTMLFormElement, field: HTMLTextAreaElement) {
    this.#form = form;
    this.#field = field;
    this.#name = setting(form, "name");
    this.#visitor = setting(form, "visitor");
    this.#tag = setting(form, "tag");
    this.#number = Number.parseInt(this.#tag, 10);
    this.#readOnly = setting(form, "readonly") !== "";
    this.#ends = setting(form, "windows") === "" ? "\n" : "\r\n";
    this.#files = new Files(setting(form, "api"), setting(form, "file"));
    this.#drafts = new Drafts(this.#visitor, setting(form, "file"));
    this.#view = this.#make();
    this.#saved = this.#view.state.doc;
    form.addEventListener("submit", (event) => this.#submit(event));
    window.addEventListener("beforeunload", (event) => {
      if (this.#dirty()) {
        this.#keep();
        event.preventDefault();
      }
    });
    for (const time of document.querySelectorAll("time")) {
      time.textContent = clock(time.dateTime);
    }
    this.#offerDraft();
    watch(setting(form, "events"), {
      people: (people) => this.#people(people),
      saved: (version) => this.#savedElsewhere(version),
      end: (reason) => this.#notice("failed", reason),
    });
    if (isSettings(this.#name)) {
      call<Option[]>("GET", setting(form, "options")).then(
        (options) => (this.#options = options),
        () => undefined, // then nothing is completed
      );
    }
  }

  #make(): EditorView {
    const label = this.#form.querySelector<HTMLLabelElement>("label[for=text]")?.textContent ?? this.#name;
    const view = new EditorView({
      state: EditorState.create({ doc: this.#field.value, extensions: this.#extensions(label) }),
    });
    const keys = make("p", { class: "keys" }, "Tab indents; press Esc, then Tab to leave the editor. Ctrl+F finds, Ctrl+S saves, Ctrl+Space completes.");
    this.#field.hidden = true;
    this.#field.before(view.dom, keys);
    view.scrollDOM.tabIndex = this.#readOnly ? 0 : -1;
    return view;
  }

  #extensions(label: string): Extension[] {
    const nonce = document.querySelector<HTMLMetaElement>("meta[name=csp-nonce]")?.content ?? "";
    const save = (): boolean => {
      this.#form.querySelector<HTMLButtonElement>("button[value=save]")?.click();
      return true;
    };
    const extensions: Extension[] = [
      EditorView.cspNonce.of(nonce),
      EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", autocapitalize: "off" }),
      lineNumbers(),
      foldGutter(),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      drawSelection(),
      history(),
      bracketMatching(),
      indentOnInput(),
      indentUnit.of(this.#name.endsWith(".py") ? "    " : "  "),
      search({ top: true }),
      highlightSelectionMatches(),
      syntaxHighlighting(classHighlighter),
      language(this.#name),
      spotField,
      this.#difference.of([]),
      autocompletion(isSettings(this.#name) && !this.#name.endsWith(".json") ? { override: [completeOptions(() => this.#options)] } : {}),
      keymap.of([{ key: "Mod-s", run: save }, ...completionKeymap, ...lintKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...defaultKeymap, indentWithTab]),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) {
          this.#later();
        }
      }),
    ];
    if (/\.(ya?ml|json|toml|py)$/i.test(this.#name)) {
      extensions.push(lintGutter(), linter((view) => this.#lint(view), { delay: wait }));
    }
    if (this.#readOnly) {
      extensions.push(EditorState.readOnly.of(true));
    }
    return extensions;
  }

  #text(): string {
    return this.#view.state.doc.toString();
  }

  // #whole is the text with the line ends of the file.
  #whole(): string {
    return this.#text().replaceAll("\n", this.#ends);
  }

  #dirty(): boolean {
    return !this.#readOnly && !this.#view.state.doc.eq(this.#saved);
  }

  #later(): void {
    window.clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.#keep(), wait);
  }

  #keep(): void {
    if (this.#dirty()) {
      this.#drafts.keep(this.#text(), this.#tag);
    } else {
      this.#drafts.drop();
    }
  }

  // ---- checks

  async #lint(view: EditorView): Promise<Diagnostic[]> {
    const text = view.state.doc;
    try {
      const report = await this.#files.check(this.#name, text.toString());
      if (view.state.doc.eq(text)) {
        this.#report(report);
      }
      return report.findings.map((finding) => diagnostic(text, finding));
    } catch {
      return []; // the next change asks again
    }
  }

  // #check is the button. It asks also where the text has not changed since a check that failed, which the linter would not.
  async #check(): Promise<void> {
    const text = this.#view.state.doc;
    try {
      this.#show(await this.#files.check(this.#name, text.toString()), text);
    } catch (error) {
      this.#notice("failed", error instanceof Error ? error.message : "The text was not checked.");
    }
  }

  // #show shows a report and marks its places, unless the text has changed since.
  #show(report: Report, text: Text): void {
    if (this.#view.state.doc.eq(text)) {
      this.#report(report);
      this.#view.dispatch(setDiagnostics(this.#view.state, report.findings.map((finding) => diagnostic(text, finding))));
    }
  }

  #report(report: Report): void {
    const into = this.#form.querySelector<HTMLElement>("[data-part=findings]");
    if (into === null) {
      return;
    }
    if (report.skipped !== undefined) {
      into.replaceChildren(make("p", {}, report.skipped));
      return;
    }
    if (report.findings.length === 0) {
      into.replaceChildren(make("p", { class: "done" }, "✓ No problem found."));
      return;
    }
    const list = make("ul");
    for (const finding of report.findings) {
      const bad = finding.severity === "error";
      const go = make("button", { type: "button", class: "quiet" }, `${bad ? "✕ Error" : "● Warning"}, line ${finding.line}, column ${finding.column}`);
      go.addEventListener("click", () => this.#goTo(finding));
      list.append(make("li", { class: bad ? "failed" : "waiting" }, go, ` ${finding.message}`));
    }
    into.replaceChildren(list);
  }

  #goTo(finding: Finding): void {
    const { from, to } = diagnostic(this.#view.state.doc, finding);
    this.#view.dispatch({ selection: { anchor: from, head: to }, scrollIntoView: true });
    this.#view.focus();
  }

  // ---- saving

  #submit(event: SubmitEvent): void {
    const act = (event.submitter as HTMLButtonElement | null)?.value ?? "save";
    this.#field.value = this.#text();
    switch (act) {
      case "check":
        event.preventDefault();
        void this.#check();
        return;
      case "save":
      case "train":
        event.preventDefault();
        if (!this.#busy) {
          void this.#save(act === "train");
        }
        return;
      default:
        this.#saved = this.#view.state.doc; // the form posts the text; leaving the page loses nothing
    }
  }

  async #save(train: boolean): Promise<void> {
    if (this.#open.size > 0) {
      this.#notice("failed", `Choose a side for ${[...this.#open.values()].map((spot) => `line ${spot.line}`).join(", ")} first.`);
      return;
    }
    this.#busy = true;
    const sent = this.#view.state.doc;
    const base = this.#tag;
    try {
      const outcome = await this.#files.save(this.#whole(), base);
      const before = this.#saved;
      this.#becomes(outcome, sent);
      if (outcome.collision !== undefined) {
        await this.#collide(outcome, outcome.collision, before);
      } else if (train) {
        await this.#train(outcome);
      } else {
        this.#notice("done", outcome.unchanged === true ? `Nothing to save: this is the text of version ${outcome.number}.` : `Saved as version ${outcome.number}.`);
      }
    } catch (error) {
      this.#keep();
      if (error instanceof Refused && error.newest !== undefined) {
        await this.#conflict(error.newest);
      } else if (error instanceof Refused && error.status === 401) {
        this.#notice("failed", "Your login has ended. Your text is kept in this browser.", { word: "Log in and come back", link: location.href });
      } else {
        this.#notice("failed", error instanceof Error ? error.message : "The text was not saved.");
      }
    } finally {
      this.#busy = false;
    }
  }

  // #becomes takes a version as the one that the next save comes from.
  #becomes(version: Saved, text: Text): void {
    this.#tag = version.tag;
    this.#number = version.number;
    this.#saved = text;
    for (const name of ["base", "mine_base"]) {
      const hidden = this.#form.querySelector<HTMLInputElement>(`input[name=${name}]`);
      if (hidden !== null) {
        hidden.value = version.tag;
      }
    }
    part("number")?.replaceChildren(String(version.number));
    document.querySelector(".file-list [aria-current] + span")?.replaceChildren(`v${version.number}`);
    part("by")?.replaceChildren(version.by);
    part("at")?.replaceChildren(make("time", { datetime: version.at }, clock(version.at)));
    this.#view.dispatch({ effects: this.#difference.reconfigure([]) });
    this.#keep();
  }

  // #train posts the form, unless the training would refuse the settings. Its text is that of the newest version, so that only the training
  // begins. Without an answer to the check it posts too: the server checks again.
  async #train(saved: Outcome): Promise<void> {
    const text = this.#view.state.doc;
    const report = await this.#files.check(this.#name, text.toString(), true).catch(() => undefined);
    const first = report?.findings.find((finding) => finding.severity === "error");
    if (report !== undefined && first !== undefined) {
      const begin = saved.unchanged === true ? "" : `Saved as version ${saved.number}. `;
      this.#notice("failed", `${begin}No training was started: line ${first.line} has an error. Correct it, then press Save and train again.`);
      this.#show(report, text);
      this.#goTo(first);
      return;
    }
    const act = make("input", { type: "hidden", name: "do", value: "train" });
    this.#form.append(act);
    this.#field.value = this.#text();
    this.#saved = this.#view.state.doc;
    this.#form.submit();
  }

  // ---- conflicts

  async #conflict(newest: Newest): Promise<void> {
    const begin = `${newest.by} saved version ${newest.number} while you were writing. `;
    const theirs = newest.text.replaceAll("\r\n", "\n");
    const base = await this.#files.version(this.#number).catch(() => "");
    this.#mergeWith(base.replaceAll("\r\n", "\n"), theirs, newest, begin);
    this.#becomes(newest, this.#view.state.toText(theirs));
    this.#showDifference(theirs);
  }

  // #collide merges what somebody saved in Clowder in the same instant. Our text is the newest version.
  async #collide(outcome: Outcome, other: Newest, base: Text): Promise<void> {
    const begin = `Saved as version ${outcome.number}. ${other.by} saved version ${other.number} in Clowder in the same instant. `;
    if (!other.text_known) {
      this.#notice("waiting", `${begin}Clowder no longer returns that text: ask its author.`);
      return;
    }
    this.#mergeWith(base.toString(), other.text.replaceAll("\r\n", "\n"), other, begin);
    this.#showDifference(other.text);
  }

  #mergeWith(base: string, theirs: string, newest: Newest, begin: string): void {
    const { text, spots } = merge(base, this.#text(), theirs);
    this.#open = new Map(spots.map((spot, id) => [id, spot]));
    this.#view.dispatch({
      changes: { from: 0, to: this.#view.state.doc.length, insert: text },
      effects: setSpots.of(spots.map(({ from, to }, id) => ({ id, from, to }))),
    });
    if (spots.length === 0) {
      this.#notice("waiting", `${begin}That change and yours are in different lines and are merged below: read it, then save.`);
      return;
    }
    this.#notice("waiting", `${begin}Both changed ${spots.map((spot) => `line ${spot.line}`).join(", ")}: choose, then save.`);
    const box = make("div", { class: "conflicts" });
    spots.forEach((spot, id) => box.append(this.#choice(spot, id, newest.by)));
    part("choices")?.replaceChildren(box);
    box.querySelector("button")?.focus();
  }

  #choice(spot: Spot, id: number, by: string): HTMLElement {
    const section = make("section", {}, make("h2", {}, `Both changed line ${spot.line}`));
    const side = (who: string, text: string): HTMLElement => make("figure", {}, make("figcaption", {}, who), make("pre", { tabindex: "0" }, text === "" ? "(removed)" : text));
    const take = make("button", { type: "button" }, `Take the lines of ${by}`);
    const keep = make("button", { type: "button" }, "Keep mine");
    const end = (): void => {
      this.#open.delete(id);
      this.#view.dispatch({ effects: endSpot.of(id) });
      section.remove();
      if (this.#open.size === 0) {
        part("choices")?.replaceChildren();
        this.#view.focus();
      }
    };
    take.addEventListener("click", () => {
      const { from, to } = this.#placeOf(id, spot);
      this.#view.dispatch({ changes: { from, to, insert: spot.theirs } });
      end();
    });
    keep.addEventListener("click", end);
    section.append(make("div", { class: "sides" }, side(by, spot.theirs), side("You", spot.mine)), make("p", { class: "actions" }, take, " ", keep));
    return section;
  }

  // #placeOf returns where the lines of a conflict stand now.
  #placeOf(id: number, spot: Spot): { from: number; to: number } {
    for (const cursor = this.#view.state.field(spotField).iter(); cursor.value !== null; cursor.next()) {
      if (cursor.value.spec["id"] === id) {
        return { from: cursor.from, to: cursor.to };
      }
    }
    const at = Math.min(spot.from, this.#view.state.doc.length); // my side has no lines there
    return { from: at, to: at };
  }

  // #showDifference marks in the editor what differs from another text, until the next save.
  #showDifference(theirs: string): void {
    this.#view.dispatch({ effects: this.#difference.reconfigure(unifiedMergeView({ original: theirs, mergeControls: false, highlightChanges: true })) });
  }

  // ---- drafts

  #offerDraft(): void {
    const draft = this.#drafts.read();
    if (this.#readOnly || draft === undefined || draft.text === this.#text()) {
      return;
    }
    const restore = make("button", { type: "button" }, "Restore");
    const drop = make("button", { type: "button" }, "Drop");
    const notice = this.#notice("waiting", `You have unsaved text from ${clock(new Date(draft.at).toISOString())} on version ${Number.parseInt(draft.tag, 10)}. `);
    notice?.append(restore, " ", drop);
    restore.addEventListener("click", () => {
      this.#view.dispatch({ changes: { from: 0, to: this.#view.state.doc.length, insert: draft.text } });
      this.#tag = draft.tag; // a save compares with the version that the draft came from
      this.#number = Number.parseInt(draft.tag, 10);
      notice?.remove();
      this.#view.focus();
    });
    drop.addEventListener("click", () => {
      this.#drafts.drop();
      notice?.remove();
    });
  }

  // ---- other people

  #people(people: Person[]): void {
    const said = people.map((person) => `${person.you === true ? "You have" : `${person.name} has`} this file open${person.you === true ? " in another window" : ""} (since ${clock(person.since)})`);
    part("presence")?.replaceChildren(said.join(". "));
  }

  #savedElsewhere(version: Saved): void {
    if (version.tag === this.#tag || version.number < this.#number || this.#busy) {
      return;
    }
    this.#notice("waiting", `${version.by} saved version ${version.number} just now. Your text is not touched; a save merges both.`, {
      word: "See what changed",
      link: `${location.pathname}/versions`,
    });
  }

  // #notice replaces the notice above the editor.
  #notice(kind: "done" | "waiting" | "failed", text: string, to?: { word: string; link: string }): HTMLElement | undefined {
    const sign = { done: "✓", waiting: "●", failed: "✕" }[kind];
    const notice = make("p", { class: `flash ${kind}` }, make("span", { "aria-hidden": "true" }, `${sign} `), text);
    if (to !== undefined) {
      notice.append(" ", make("a", { href: to.link }, to.word));
    }
    const into = part("notices");
    into?.replaceChildren(notice);
    for (const older of document.querySelectorAll("[data-part=first-notice]")) {
      older.remove();
    }
    return into === null ? undefined : notice;
  }
}

function part(name: string): HTMLElement | null {
  return document.querySelector<HTMLElement>(`[data-part=${name}]`);
}

function isSettings(name: string): boolean {
  return /^finetune\.(ya?ml|json)$/i.test(name);
}

function language(name: string): Extension {
  if (/\.ya?ml$/i.test(name)) {
    return yaml();
  }
  if (/\.json$/i.test(name)) {
    return json();
  }
  if (/\.py$/i.test(name)) {
    return python();
  }
  // The package of CodeMirror for Markdown brings HTML, CSS and JavaScript; headings and emphasis are enough here.
  return /\.md$/i.test(name) ? new Language(defineLanguageFacet(), parser, [], "markdown").extension : [];
}

// diagnostic places a finding in the text: its columns count characters, those of the editor units of UTF-16.
function diagnostic(text: Text, finding: Finding): Diagnostic {
  const line = text.line(Math.min(Math.max(finding.line, 1), text.lines));
  const characters = [...line.text];
  const at = (column: number): number => line.from + characters.slice(0, Math.max(column - 1, 0)).join("").length;
  const from = Math.min(at(finding.column), line.to);
  const to = Math.max(from, Math.min(at(finding.end_column), line.to));
  const found: Diagnostic = { from, to, severity: finding.severity, message: finding.message };
  const { instead } = finding;
  if (instead !== undefined && instead !== "") {
    found.actions = [{ name: `Use ${instead}`, apply: (view, start, end) => view.dispatch({ changes: { from: start, to: end, insert: instead } }) }];
  }
  return found;
}

const times = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const days = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

function clock(at: string): string {
  const when = new Date(at);
  return when.toDateString() === new Date().toDateString() ? times.format(when) : days.format(when);
}

// The last statement, since it uses all of the above.
islands("editor", (element) => {
  const form = element as HTMLFormElement;
  const field = form.querySelector<HTMLTextAreaElement>("textarea[name=text]");
  if (field !== null) {
    new Editor(form, field);
  }
});

import { make } from "./dom";
import type { Printed } from "./stream";

const maxCharacters = 200_000;

// Log shows what a run prints, and follows it while the reader is at its end.
export class Log {
  private readonly text = make("pre", { tabindex: "0", role: "region", "aria-label": "Log" });
  private readonly toEnd = make("button", { type: "button", class: "quiet", hidden: "" }, "Newer lines below: go to the end");

  constructor(host: HTMLElement) {
    this.toEnd.addEventListener("click", () => {
      this.text.scrollTop = this.text.scrollHeight;
      this.text.focus();
    });
    this.text.addEventListener("scroll", () => {
      this.toEnd.hidden = this.atEnd();
    });
    host.replaceChildren(this.text, this.toEnd);
    host.hidden = true;
  }

  show(printed: Printed): void {
    const follows = this.atEnd();
    let all = (printed.from === true ? "" : (this.text.textContent ?? "")) + printed.text;
    if (all.length > maxCharacters) {
      all = all.slice(all.indexOf("\n", all.length - maxCharacters) + 1);
    }
    const top = this.text.scrollTop;
    this.text.textContent = all;
    const host = this.text.parentElement;
    if (host !== null) {
      host.hidden = all === "";
    }
    this.text.scrollTop = follows ? this.text.scrollHeight : top;
    this.toEnd.hidden = follows;
  }

  private atEnd(): boolean {
    return this.text.scrollTop + this.text.clientHeight >= this.text.scrollHeight - 8;
  }
}

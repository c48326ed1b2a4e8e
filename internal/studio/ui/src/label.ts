// The page that labels files: each key of data-press presses its button, ticks its box or follows its link. The page works without it.
import { islands } from "./island";

islands("label", (element) => {
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || target.closest("input:not([type=checkbox]), textarea, select") !== null) {
      return;
    }
    const pressed = element.querySelector<HTMLElement>(`[data-press="${CSS.escape(event.key.toLowerCase())}"]`);
    if (pressed !== null) {
      event.preventDefault();
      pressed.click();
    }
  });
});

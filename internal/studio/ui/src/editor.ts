import { islands } from "./island";

islands("editor", (element) => {
  element.hidden = false;
});

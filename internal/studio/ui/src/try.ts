import { islands } from "./island";

islands("try", (element) => {
  element.hidden = false;
});

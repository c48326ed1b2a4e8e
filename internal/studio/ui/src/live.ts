import "./live.css";
import uPlot from "uplot";
import { islands } from "./island";

islands("live", (element) => {
  element.dataset["charts"] = String(typeof uPlot === "function");
});

// Before anything is painted: light or dark, as the system says or as was chosen.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const chosen = localStorage.getItem("fedsift-theme") ?? "auto";
    const shade = chosen === "auto" ? (dark.matches ? "dark" : "light") : chosen;
    document.documentElement.dataset.theme = chosen;
    document.documentElement.dataset.shade = shade;
    dispatchEvent(new Event("shade"));
  };
  dark.addEventListener("change", apply);
  addEventListener("theme", apply);
  apply();
})();

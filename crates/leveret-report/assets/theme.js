// Light or dark, as the reader wishes or else as the system does.

const setTheme = (choice) => {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = choice === "auto" ? (dark ? "dark" : "light") : choice;
  for (const button of document.querySelectorAll("[data-theme-choice]")) button.setAttribute("aria-pressed", button.dataset.themeChoice === choice);
};

let theme = { "#dark": "dark", "#light": "light" }[location.hash] ?? "auto";
setTheme(theme);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTheme(theme));
document.querySelector(".theme").addEventListener("click", (event) => {
  const choice = event.target.dataset?.themeChoice;
  if (choice) setTheme((theme = choice));
});

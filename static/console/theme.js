// Runs before the first paint: the remembered theme, shared with the admin (same key, same form).
const KEY = "adminTheme";
const root = document.documentElement;
root.dataset.js = "";

function remembered() {
  try {
    const value = JSON.parse(localStorage.getItem(KEY) ?? '"auto"');
    return ["light", "dark"].includes(value) ? value : "auto";
  } catch {
    return "auto";
  }
}

// The admin's theme switches by its own state, which it keeps under the same key.
function apply(theme) {
  if (root.hasAttribute("x-data")) globalThis.Alpine?.$data(root).switchTheme(theme);
  else if (theme === "auto") delete root.dataset.theme;
  else root.dataset.theme = theme;
}

apply(remembered());

document.addEventListener("DOMContentLoaded", () => {
  const buttons = document.querySelectorAll("[data-theme-choice]");
  const mark = () => {
    for (const button of buttons) {
      button.setAttribute("aria-pressed", String(button.dataset.themeChoice === remembered()));
    }
  };
  for (const button of buttons) {
    button.addEventListener("click", () => {
      try {
        localStorage.setItem(KEY, JSON.stringify(button.dataset.themeChoice));
      } catch {
        // A browser that remembers nothing still switches for this page.
      }
      apply(button.dataset.themeChoice);
      mark();
    });
  }
  mark();
  for (const tab of document.querySelectorAll(":is(.section, .tabs) > [aria-current]")) {
    tab.parentElement.scrollLeft = tab.offsetLeft - tab.parentElement.offsetLeft - 24;
  }
  // Icons of the admin's theme are words in a font: beside a name of its own they are not read out.
  for (const icon of document.querySelectorAll(".material-symbols-outlined")) {
    const control = icon.closest("a, button");
    const named = !control || control.ariaLabel || control.title
      || control.textContent.trim() !== icon.textContent.trim();
    if (named) icon.ariaHidden = "true";
  }
  for (const select of document.querySelectorAll("select[data-submits]")) {
    select.addEventListener("change", () => select.form.requestSubmit());
  }
});

// What was just done, at the edge of the page: hide it, and undo it by key.

for (const button of document.querySelectorAll("[data-dismiss]")) {
  button.addEventListener("click", () => {
    button.closest(".toast").hidden = true; // Its undo still answers to the key.
  });
}

export function undo() {
  document.querySelector("[data-undo-bar] button, button[data-undo-bar]")?.click();
}

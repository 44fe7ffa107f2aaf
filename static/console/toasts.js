// What was just done, at the edge of the page: hide it, and undo it by key.

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-dismiss]");
  if (button) button.closest(".toast").hidden = true; // Its undo still answers to the key.
});

// Where the page offers no undo, the key takes the last decision of the visit that holds, or says why not.
export function undo() {
  const offered = document.querySelector("[data-undo-bar] button, button[data-undo-bar]");
  if (offered) {
    offered.click();
    return;
  }
  const last = document.querySelector("[data-undo-last]");
  if (!last) return;
  const shown = last.content.firstElementChild.cloneNode(true);
  const toasts = last.closest(".toasts");
  for (const older of toasts.querySelectorAll(".toast")) older.remove();
  toasts.append(shown);
  if (shown.matches("form[hidden]")) shown.submit();
}

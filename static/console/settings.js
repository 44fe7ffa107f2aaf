// Puts a default into its field; and leaving with changes that are not saved asks first.
const form = document.querySelector("form.settings");

for (const button of document.querySelectorAll("[data-default]")) {
  button.addEventListener("click", () => {
    const field = document.getElementById(button.dataset.for);
    if (button.dataset.on) field.checked = button.dataset.on === "on";
    else field.value = button.dataset.default;
    field.dispatchEvent(new Event("change", { bubbles: true }));
    field.focus();
  });
}

let isChanged = Boolean(document.querySelector("#wrong, #due"));
form.addEventListener("change", () => {
  isChanged = true;
});
form.addEventListener("submit", () => {
  isChanged = false;
});
addEventListener("beforeunload", (event) => {
  if (isChanged) event.preventDefault();
});
document.querySelector("#wrong a")?.focus();

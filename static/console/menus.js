// The choices of a filter close on a click beside them and on Escape, which goes back to its button.
const menus = [...document.querySelectorAll("details.menu")];

addEventListener("click", ({ target }) => {
  for (const menu of menus) if (!menu.contains(target)) menu.open = false;
});
addEventListener("keydown", ({ key }) => {
  const menu = key === "Escape" && menus.find((one) => one.open);
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

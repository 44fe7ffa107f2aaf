// The keyboard of every page: one listener, off while somebody types, is asked or reads the help.

const help = document.getElementById("help");

function isTyping(target) {
  return target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");
}

// `keys` maps keys to deeds; `digit` takes the keys from 1 to 6. Only j and k repeat.
export function listen(keys, digit) {
  const known = help ? { ...keys, "?": () => help.showModal() } : keys;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help?.open) return;
    if (event.key === "Escape" && isTyping(event.target)) event.target.blur();
    if (isTyping(event.target)) return;
    if (/^[1-6]$/.test(event.key)) {
      event.preventDefault();
      if (!event.repeat) digit(event.key);
    } else if (known[event.key]) {
      event.preventDefault();
      if (!event.repeat || "jk".includes(event.key)) known[event.key]();
    }
  });
  document.querySelector("[data-help]")?.addEventListener("click", () => help.showModal());
}

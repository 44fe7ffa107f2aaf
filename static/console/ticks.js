// How many rows of a list are ticked, and a tick for all of them.
const boxes = [...document.querySelectorAll('input[name="card"]')];
const all = document.querySelector("[data-tick-all]");
const said = document.querySelector("[data-ticked]");
const across = document.querySelector('input[name="across"]');

function count() {
  const ticked = boxes.filter((box) => box.checked).length;
  if (said) said.textContent = across?.checked ? "all that match" : `${ticked} ticked`;
  if (all) {
    all.checked = ticked > 0 && ticked === boxes.length;
    all.indeterminate = ticked > 0 && ticked < boxes.length;
  }
}

all?.addEventListener("change", () => {
  for (const box of boxes) box.checked = all.checked;
  count();
});
for (const box of [...boxes, across]) box?.addEventListener("change", count);
addEventListener("pageshow", count);

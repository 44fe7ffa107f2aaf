// How many rows of a list are ticked, and a tick for all of them. The words are in the page: {n} is
// the number of ticked rows, {all} that of all.
const boxes = [...document.querySelectorAll("[data-tick]")];
const all = document.querySelector("[data-tick-all]");
const said = document.querySelector("[data-ticked]");
const across = document.querySelector('input[name="across"]');
const offer = document.querySelector("[data-offer]");

function wordsFor(ticked) {
  const { across: whole, none, ticked: some } = said.dataset;
  if (across?.checked) return whole;
  return ticked ? some : (none ?? some);
}

function count() {
  const ticked = boxes.filter((box) => box.checked).length;
  if (said) said.textContent = wordsFor(ticked).replace("{n}", ticked).replace("{all}", boxes.length);
  if (all) {
    all.checked = ticked > 0 && ticked === boxes.length;
    all.indeterminate = ticked > 0 && ticked < boxes.length;
  }
  // What does not match any more when a tick is taken back is not chosen unseen.
  if (offer) {
    if (across && ticked < boxes.length) across.checked = false;
    offer.hidden = ticked < boxes.length;
  }
}

all?.addEventListener("change", () => {
  for (const box of boxes) box.checked = all.checked;
  count();
});
for (const box of [...boxes, across]) box?.addEventListener("change", count);
addEventListener("pageshow", count);

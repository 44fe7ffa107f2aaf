// What is typed about a card but not sent outlives the form beside it that is sent: a comment, an
// assignment, a snooze that is refused. It is kept in this tab for the next page only.

const SLOT = "engram-drafts";

// The ids of these fields end with the id of the card, so that none is put into another card.
function fieldsOf(card) {
  return card ? [...document.querySelectorAll(`input[id$="${card}"], textarea[id$="${card}"]`)] : [];
}

function restore(fields) {
  const kept = JSON.parse(sessionStorage.getItem(SLOT) ?? "[]");
  sessionStorage.removeItem(SLOT);
  for (const [id, value] of kept) {
    const field = fields.find((one) => one.id === id);
    if (!field || field.value) continue;
    field.value = value;
    const fold = field.closest("details");
    if (fold) fold.open = true;
  }
}

export function keepDrafts(card) {
  const fields = fieldsOf(card);
  restore(fields);
  addEventListener("submit", ({ target }) => {
    const typed = fields.filter((one) => one.form !== target && one.value);
    sessionStorage.setItem(SLOT, JSON.stringify(typed.map((one) => [one.id, one.value])));
  });
}

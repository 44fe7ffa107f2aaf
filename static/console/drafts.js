// What is typed about a card but not sent outlives the form beside it that is sent: a comment, an
// assignment, a snooze that is refused. It is kept in this tab for the next page only.

const SLOT = "engram-drafts";

// The ids of these fields end with the id of the card, so that none is put into another card.
function fieldsOf(card) {
  return card ? [...document.querySelectorAll(`input[id$="${card}"], textarea[id$="${card}"]`)] : [];
}

const KEPT = new Set(["note", "answer", "keep"]);

// Fields that are disabled while a form is sent are not part of it.
function leaveOut(fields) {
  const sent = fields.filter((one) => !one.disabled);
  for (const one of sent) one.disabled = true;
  setTimeout(() => sent.forEach((one) => (one.disabled = false)));
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
  addEventListener("submit", ({ target, submitter }) => {
    // A comment, an assignment or a snooze borrows the form of the answer, for those without scripts.
    const isBorrowed = submitter?.hasAttribute("formaction");
    const sent = isBorrowed ? submitter.closest("form") : target;
    const typed = fields.filter((one) => !sent?.contains(one) && one.value);
    sessionStorage.setItem(SLOT, JSON.stringify(typed.map((one) => [one.id, one.value])));
    const isRemark = isBorrowed && !submitter.closest("[data-snooze]");
    if (isRemark) leaveOut([...target.elements].filter((one) => KEPT.has(one.name)));
  });
}

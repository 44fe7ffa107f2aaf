// Tells the server the reader's time zone: from the next page on, times are in it.
try {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const secure = location.protocol === "https:" ? "; Secure" : "";
  if (zone) document.cookie = `zone=${zone}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
} catch {
  // A browser that does not know its zone reads the times of the workspace.
}

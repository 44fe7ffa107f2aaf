// The list of conflicts: undo what was done to several by key.

import { listen } from "./keys.js";
import { undo } from "./toasts.js";

listen({ u: undo, "/": () => document.getElementById("search")?.focus() }, () => {});

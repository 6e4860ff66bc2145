// Before anything is drawn: the theme somebody chose; without a choice the system's.
"use strict";
try {
  const chosen = localStorage.getItem("gluepot-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // Storage is switched off; the system's theme it is.
}

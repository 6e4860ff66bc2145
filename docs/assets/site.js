// Each block of code has a landmark with its buttons. Screen readers list landmarks by name, so each gets one of its own.
function nameButtonsOfCode() {
  document.querySelectorAll(".md-code__nav:not([aria-label])").forEach((nav) => {
    nav.setAttribute("aria-label", `Buttons of ${nav.parentElement.id || nav.closest("[id]").id}`);
  });
}
new MutationObserver(nameButtonsOfCode).observe(document.documentElement, { childList: true, subtree: true });

// Questions before an action, and logs that are followed.
"use strict";

(() => {
  // A log that is followed for hours must not fill the memory of the browser.
  const MOST_LINES = 2000;
  const NEAR_PIXELS = 40;

  document.body.addEventListener("submit", (event) => {
    const question = event.target.dataset.question;
    if (question && !confirm(question)) event.preventDefault();
  });

  const followed = new Map();
  const isAtEnd = (one) => one.scrollHeight - one.scrollTop - one.clientHeight < NEAR_PIXELS;
  for (const one of document.querySelectorAll(".follow")) one.scrollTop = one.scrollHeight;

  document.body.addEventListener("htmx:beforeOnLoad", () => {
    followed.clear();
    for (const one of document.querySelectorAll(".follow")) followed.set(one, isAtEnd(one));
  });
  document.body.addEventListener("htmx:afterOnLoad", () => {
    for (const [one, atEnd] of followed) {
      const lines = one.querySelectorAll("li");
      for (const line of [...lines].slice(0, Math.max(0, lines.length - MOST_LINES))) line.remove();
      if (atEnd) one.scrollTop = one.scrollHeight;
    }
  });
})();

// What every page has: the theme, the switch for live news, and whether the page still hears from its server.
"use strict";

(() => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);

  // Theme. Scripts that draw listen to "gluepot:theme".
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const themeSwitch = byId("theme-switch");
  const showTheme = () => {
    themeSwitch.setAttribute("aria-pressed", String(isDark()));
    document.dispatchEvent(new Event("gluepot:theme"));
  };
  themeSwitch.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("gluepot-theme", root.dataset.theme);
    } catch {
      // Kept for this page alone.
    }
    showTheme();
  });
  system.addEventListener("change", showTheme);

  // Live. Elements with `data-polls` ask again and again; they do not while nobody looks.
  const liveSwitch = byId("live-switch");
  const isLive = () => liveSwitch === null || liveSwitch.getAttribute("aria-pressed") === "true";
  liveSwitch?.addEventListener("click", () => liveSwitch.setAttribute("aria-pressed", String(!isLive())));

  document.body.addEventListener("htmx:beforeRequest", (event) => {
    if ("polls" in event.detail.elt.dataset && (!isLive() || document.hidden)) event.preventDefault();
  });

  let scrolled = new Map();
  document.body.addEventListener("htmx:beforeOnLoad", () => {
    scrolled = new Map([...document.querySelectorAll(".scrolls[id]")].map((one) => [one.id, [one.scrollLeft, one.scrollTop]]));
  });
  document.body.addEventListener("htmx:afterOnLoad", () => {
    byId("away").hidden = true;
    for (const [id, [left, top]] of scrolled) byId(id)?.scrollTo({ left, top, behavior: "instant" });
  });

  const away = (sentence) => {
    byId("away").hidden = false;
    byId("away").textContent = sentence;
  };
  const time = () => new Date().toISOString().slice(11, 19);
  for (const lost of ["htmx:sendError", "htmx:timeout"]) {
    document.body.addEventListener(lost, () => {
      if (byId("away").hidden) away(`No answer since ${time()} UTC: ${byId("away").dataset.lost} What is below is old.`);
    });
  }
  document.body.addEventListener("htmx:responseError", (event) => {
    away(event.detail.xhr.responseText.trim() || `The server answered ${event.detail.xhr.status}.`);
  });

  document.addEventListener("DOMContentLoaded", showTheme);
})();

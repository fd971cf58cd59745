// Rest on a link, a number or a formula, and a card shows what is behind it. Nothing is loaded before that, and nothing from elsewhere.
"use strict";
const tlPreviews = {};
(function () {
  const SHOW_AFTER = 250, HIDE_AFTER = 250;
  const root = document.documentElement.dataset.content_root || "./";
  const loads = {};
  let card = null, owner = null, timer = 0;

  function load(page) {
    if (!(page in loads)) loads[page] = new Promise((resolve) => {
      const script = document.createElement("script");
      script.src = `${root}_static/previews/${page}.js`;
      script.onload = () => resolve(tlPreviews[page] || {});
      script.onerror = () => resolve({});
      document.head.append(script);
    });
    return loads[page];
  }

  // The page and the identifiers that an element's card shows.
  function behind(element) {
    if (element.matches(".tl-sym")) {
      const keys = [...element.classList].filter((name) => name.startsWith("sy-"));
      return { page: "glossary", idents: keys.map((name) => "symbol-" + name.slice(3)) };
    }
    const target = new URL(element.href);
    if (target.protocol !== location.protocol || target.host !== location.host || target.hash.length < 2) return null;
    const page = /([^/]+)\.html$/.exec(target.pathname);
    return page && { page: page[1], idents: [decodeURIComponent(target.hash.slice(1))] };
  }

  function place() {
    const at = owner.getClientRects()[0] || owner.getBoundingClientRect(), gap = 6;
    const { clientWidth: width, clientHeight: height } = document.documentElement;
    card.style.left = Math.max(gap, Math.min(at.left, width - card.offsetWidth - gap)) + "px";
    const below = at.bottom + gap, above = at.top - card.offsetHeight - gap;
    card.style.top = Math.max(gap, below + card.offsetHeight <= height || above < gap ? below : above) + "px";
  }

  async function show(element) {
    const found = behind(element);
    if (!found) return;
    const previews = await load(found.page);
    const parts = found.idents.filter((ident) => previews[ident]).map((ident) => previews[ident]);
    if (owner !== element || !parts.length) return;
    if (!card) {
      card = document.createElement("div");
      card.className = "tl-card";
      card.id = "tl-card";
      card.setAttribute("role", "tooltip");
      card.addEventListener("pointerenter", () => clearTimeout(timer));
      card.addEventListener("pointerleave", later);
      document.body.append(card);
    }
    card.innerHTML = parts.map((part) => `<div class="tl-card-part">${part}</div>`).join("");
    card.hidden = false;
    card.scrollTop = 0;
    element.setAttribute("aria-describedby", card.id);
    place();
    for (const image of card.querySelectorAll("img")) {
      image.loading = "eager";
      image.addEventListener("load", () => owner && place());
    }
    if (window.MathJax && MathJax.typesetPromise) {
      await MathJax.typesetPromise([card]);
      if (owner === element) place();
    }
  }

  function hide() {
    clearTimeout(timer);
    if (owner) owner.removeAttribute("aria-describedby");
    owner = null;
    if (card) {
      if (window.MathJax && MathJax.typesetClear) MathJax.typesetClear([card]);
      card.hidden = true;
    }
  }

  function later() {
    clearTimeout(timer);
    timer = setTimeout(hide, HIDE_AFTER);
  }

  function soon(element, wait) {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (owner === element) return;
      hide();
      owner = element;
      show(element);
    }, wait);
  }

  const WITH_CARD = "article a[href*='#']:not(.headerlink), article .tl-sym";
  const source = (event) => event.target.closest && event.target.closest(WITH_CARD);
  document.addEventListener("pointerover", (event) => {
    const element = source(event);
    if (element && event.pointerType === "mouse") soon(element, SHOW_AFTER);
  });
  document.addEventListener("pointerout", (event) => {
    const element = source(event);
    if (element && event.pointerType === "mouse" && !element.contains(event.relatedTarget)) later();
  });
  // A finger taps a formula for its symbols; a link that is tapped is followed.
  document.addEventListener("click", (event) => {
    const element = source(event);
    if (element && element.matches(".tl-sym")) soon(element, 0);
    else if (!card || !card.contains(event.target)) hide();
  });
  document.addEventListener("focusin", (event) => {
    const element = source(event);
    if (element && event.target.matches(":focus-visible")) soon(element, SHOW_AFTER);
  });
  document.addEventListener("focusout", later);
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  // A page that still scrolls takes a card away; one that is about to come may come.
  addEventListener("scroll", (event) => event.target === document && card && !card.hidden && hide(), { passive: true });
})();

// What is wider than its box scrolls in it: the edge behind which there is more fades, and the Tab key reaches the box.
// A link to what lies in a folded part opens that part.
"use strict";
(function () {
  const BOXES = "pre, div.math, div.math > mjx-container, table, .pst-scrollable-table-container, .tl-picture, .tl-map, .tl-wide";
  const article = document.querySelector("article, .tl-print main");
  if (!article) return;

  function mark(box) {
    box.classList.toggle("tl-more", box.scrollWidth - box.clientWidth - box.scrollLeft > 2);
  }

  // A formula of the text that is wider than the text becomes a box that scrolls. All are measured before any is changed.
  function formulas() {
    const all = [...article.querySelectorAll("span.math")];
    all.forEach((formula) => formula.classList.remove("tl-wide"));
    const wide = all.filter((formula) => {
      const typeset = formula.firstElementChild, block = formula.closest("p, li, dd, td, th, figcaption, summary");
      return typeset && block && !block.matches("td, th") && typeset.offsetWidth > block.clientWidth;
    });
    all.forEach((formula) => formula.classList.toggle("tl-wide", wide.includes(formula)));
  }

  function look() {
    formulas();
    for (const box of article.querySelectorAll(BOXES)) {
      mark(box);
      if (!box.matches("table, .tl-picture, .tl-map, .tl-wide")) continue; // the theme sees to the others
      const wider = box.scrollWidth > box.clientWidth + 2;
      box.classList.toggle("tl-wider", wider);
      if (wider) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
    article.querySelectorAll("span.math[tabindex]:not(.tl-wide)").forEach((formula) => formula.removeAttribute("tabindex"));
  }

  let waiting = 0;
  function soon() {
    clearTimeout(waiting);
    waiting = setTimeout(look, 100);
  }

  function unfold() {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const fold = target && target.closest("details:not([open])");
    if (!fold) return;
    fold.open = true;
    target.scrollIntoView();
  }

  article.addEventListener("scroll", (event) => event.target.matches(BOXES) && mark(event.target), { capture: true, passive: true });
  article.addEventListener("toggle", soon, { capture: true });
  addEventListener("resize", soon);
  addEventListener("hashchange", unfold);
  addEventListener("load", () => {
    look();
    unfold();
    if (window.MathJax && MathJax.startup) MathJax.startup.promise.then(look);
  });
})();

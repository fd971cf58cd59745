// The filter of the ledger of claims: rows that contain every word asked for.
"use strict";
(function () {
  const field = document.getElementById("claim-filter"), paper = document.getElementById("claim-paper");
  const count = document.getElementById("claim-count");
  const tables = [...document.querySelectorAll("table.tl-ledger")].map((table) => ({
    section: table.closest("section"),
    rows: [...table.tBodies[0].rows].map((row) => ({ row, text: row.textContent.toLowerCase(), paper: "paper" in row.dataset })),
  }));
  function filter() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0, all = 0;
    for (const { section, rows } of tables) {
      let here = 0;
      const chapter = section.querySelector("h2").textContent.toLowerCase();
      for (const { row, text, paper: has } of rows) {
        row.hidden = (paper.checked && !has) || !words.every((word) => text.includes(word) || chapter.includes(word));
        here += !row.hidden;
      }
      section.hidden = !here;
      shown += here;
      all += rows.length;
    }
    count.textContent = `${shown.toLocaleString("en")} of ${all.toLocaleString("en")} claims`;
  }
  field.addEventListener("input", filter);
  paper.addEventListener("change", filter);
  filter();
})();

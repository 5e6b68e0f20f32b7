"use strict";

// Marks the lines of the fragment: #L10 or #L10-L20.
function mark() {
  const match = /^#L(\d+)(?:-L?(\d+))?$/.exec(location.hash);
  if (!match) return;
  const first = Number(match[1]);
  const last = Number(match[2] || match[1]);
  for (const line of document.querySelectorAll(".lines li")) {
    const number = Number(line.id.slice(1));
    line.classList.toggle("marked", first <= number && number <= last);
  }
  show(document.getElementById("L" + first));
}

function show(line) {
  if (line) line.scrollIntoView({ block: "center" });
}

addEventListener("hashchange", mark);
mark();
if (!location.hash) show(document.querySelector(".marked"));

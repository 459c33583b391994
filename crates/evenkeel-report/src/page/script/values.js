// ---- values under the pointer

function dataOf(svg) {
  if (!parsed.has(svg)) {
    const script = svg.nextElementSibling;
    parsed.set(svg, script && script.matches("script") ? JSON.parse(script.textContent) : {});
  }
  return parsed.get(svg);
}

function pixel(axis, value) {
  const v = axis.log ? Math.log10(value) : value;
  return axis.from + (v - axis.low) / (axis.high - axis.low) * (axis.to - axis.from);
}

function value(axis, at) {
  const v = axis.low + (at - axis.from) / (axis.to - axis.from) * (axis.high - axis.low);
  return axis.log ? 10 ** v : v;
}

// Index of the number nearest to x in an increasing list.
function nearest(xs, x) {
  let low = 0, high = xs.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (xs[middle] < x) low = middle; else high = middle;
  }
  return Math.abs(xs[low] - x) <= Math.abs(xs[high] - x) ? low : high;
}

function show(number) {
  if (number === null || number === undefined) return "–";
  return String(Number(number.toPrecision(6)));
}

function place(x, y) {
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = x + 16 + box.width > innerWidth ? x - 16 - box.width : x + 16;
  const top = y + 16 + box.height > innerHeight ? y - 16 - box.height : y + 16;
  tip.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
}

function clear() {
  tip.hidden = true;
  for (const line of document.querySelectorAll(".cursor")) line.remove();
}

// Shows all visible curves at horizontal value x, and returns the position that was found.
function showAt(svg, x, client) {
  const data = dataOf(svg);
  const off = new Set(Array.from(svg.querySelectorAll("g.s[data-off]"), (g) => g.dataset.s));
  let at = null;
  for (const s of data.series) {
    if (off.has(String(s.s)) || s.x.length === 0) continue;
    const found = s.x[nearest(s.x, x)];
    if (at === null || Math.abs(found - x) < Math.abs(at - x)) at = found;
  }
  if (at === null) return clear();
  const lines = [`${data.label} ${show(at)}`];
  for (const s of data.series) {
    if (off.has(String(s.s)) || s.x.length === 0) continue;
    const i = nearest(s.x, at);
    // A curve that ends before this place, or is too coarse here, says nothing.
    if (Math.abs(pixel(data.x, s.x[i]) - pixel(data.x, at)) > 6) continue;
    const band = s.low && s.low[i] !== null ? ` [${show(s.low[i])}, ${show(s.high[i])}]` : "";
    lines.push(`${s.name}: ${show(s.y[i])}${band}`);
  }
  tip.textContent = lines.join("\n");
  for (const line of document.querySelectorAll(".cursor")) line.remove();
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("class", "cursor");
  line.setAttribute("d", `M${pixel(data.x, at)} ${data.top}V${data.bottom}`);
  svg.append(line);
  if (client) {
    place(client.x, client.y);
  } else {
    const box = svg.getBoundingClientRect();
    place(box.left + pixel(data.x, at) * box.width / svg.viewBox.baseVal.width, box.top + box.height / 4);
  }
  return at;
}

function follow(event) {
  const word = event.target.closest && event.target.closest("[data-def]");
  if (word) return explain(word);
  const svg = event.target.closest && event.target.closest("svg.plot");
  if (!svg) return clear();
  const mark = event.target.closest("[data-tip]");
  if (mark) {
    tip.textContent = mark.dataset.tip;
    return place(event.clientX, event.clientY);
  }
  const data = dataOf(svg);
  if (!data.series) return clear();
  const box = svg.getBoundingClientRect();
  const at = (event.clientX - box.left) * svg.viewBox.baseVal.width / box.width;
  if (at < data.x.from - 4 || at > data.x.to + 4) return clear();
  svg.dataset.at = showAt(svg, value(data.x, at), { x: event.clientX, y: event.clientY });
}

// What a word means, below it.
function explain(word) {
  tip.textContent = word.dataset.def;
  const box = word.getBoundingClientRect();
  place(box.left - 16, box.bottom - 10);
}

document.addEventListener("pointermove", follow);
document.addEventListener("pointerdown", follow);
document.addEventListener("scroll", clear, { passive: true });
document.addEventListener("focusout", clear);
document.addEventListener("focusin", (event) => {
  const word = event.target.closest("[data-def]");
  if (word) explain(word);
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") return clear();
  const svg = document.activeElement && document.activeElement.closest("svg.plot");
  const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
  if (!svg || step === undefined) return;
  event.preventDefault();
  const data = dataOf(svg);
  if (data.series) {
    const off = new Set(Array.from(svg.querySelectorAll("g.s[data-off]"), (g) => g.dataset.s));
    const longest = data.series.filter((s) => !off.has(String(s.s))).reduce((a, b) => (b.x.length > a.x.length ? b : a), { x: [] });
    if (longest.x.length === 0) return;
    const now = svg.dataset.at === undefined ? -1 : nearest(longest.x, Number(svg.dataset.at));
    const next = Math.min(longest.x.length - 1, Math.max(0, now + step * (event.shiftKey ? 10 : 1)));
    svg.dataset.at = showAt(svg, longest.x[next], null);
  } else {
    const marks = Array.from(svg.querySelectorAll("[data-tip]")).filter((mark) => !mark.closest("[data-off]"));
    if (marks.length === 0) return;
    const now = svg.dataset.mark === undefined ? -1 : Number(svg.dataset.mark);
    const next = Math.min(marks.length - 1, Math.max(0, now + step));
    svg.dataset.mark = next;
    tip.textContent = marks[next].dataset.tip;
    const box = marks[next].getBoundingClientRect();
    place(box.right, box.top);
  }
});


// ---- figures as files

const LETTERS = "DejaVu Sans, Verdana, sans-serif";

function save(name, type, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// The panels that are shown, without what is switched off, in the colours of the page, below title and legend.
function drawing(figure) {
  const space = "http://www.w3.org/2000/svg";
  const root = document.createElementNS(space, "svg");
  const add = (parent, name, attributes, text) => {
    const element = document.createElementNS(space, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  };
  const colors = getComputedStyle(document.documentElement);
  const panels = Array.from(figure.querySelectorAll("svg.plot")).filter((svg) => svg.getBoundingClientRect().width > 0);
  const boxes = panels.map((svg) => svg.getBoundingClientRect());
  const scale = panels[0].viewBox.baseVal.width / boxes[0].width;
  const left = Math.min(...boxes.map((box) => box.left));
  const top = Math.min(...boxes.map((box) => box.top));
  const width = Math.max(...boxes.map((box) => box.right - left)) * scale + 20;
  add(root, "rect", { width: "100%", height: "100%", fill: "var(--paper)" });
  add(root, "text", { x: 10, y: 22, "font-size": 15, "font-weight": "bold", fill: "var(--ink)" }, figure.querySelector("h3").textContent);
  let [x, y] = [10, 34];
  for (const button of figure.querySelectorAll(".legend button[aria-pressed=true]")) {
    const name = button.dataset.name;
    const wide = 54 + 7.5 * name.length;
    if (x > 10 && x + wide > width) [x, y] = [10, y + 20];
    const sample = add(root, "g", { transform: `translate(${x} ${y + 3})` });
    for (const path of button.querySelectorAll("path")) sample.append(path.cloneNode());
    add(root, "text", { x: x + 34, y: y + 12, "font-size": 12, fill: "var(--ink)" }, name);
    x += wide;
  }
  const below = x > 10 ? y + 28 : 34;
  let height = below;
  panels.forEach((svg, i) => {
    const { width: wide, height: high } = svg.viewBox.baseVal;
    const copy = svg.cloneNode(true);
    for (const gone of copy.querySelectorAll("[data-off], .cursor")) gone.remove();
    const at = { x: (boxes[i].left - left) * scale + 10, y: below + (boxes[i].top - top) * scale };
    const inner = add(root, "svg", { ...at, width: wide, height: high, viewBox: `0 0 ${wide} ${high}` });
    inner.append(...copy.childNodes);
    height = Math.max(height, at.y + high + 10);
  });
  for (const [key, value] of Object.entries({ xmlns: space, width, height, viewBox: `0 0 ${width} ${height}`, "font-family": LETTERS })) {
    root.setAttribute(key, value);
  }
  const text = new XMLSerializer().serializeToString(root);
  return { text: text.replace(/var\((--[a-z]+)\)/g, (_, name) => colors.getPropertyValue(name).trim()), width, height };
}

function numbers(figure) {
  const quoted = (value) => (/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const lines = ["panel,series,x,y,low,high"];
  for (const svg of figure.querySelectorAll("svg.plot")) {
    if (svg.getBoundingClientRect().width === 0) continue;
    const data = dataOf(svg);
    const rows = data.rows || data.series.flatMap((s) =>
      s.x.map((x, i) => [s.name, x, s.y[i], s.low && s.low[i], s.high && s.high[i]]));
    for (const row of rows) lines.push([data.title, ...row].map((value) => quoted(String(value ?? ""))).join(","));
  }
  return lines.join("\n") + "\n";
}

function download(figure, format) {
  const name = `${figure.id}.${format}`;
  if (format === "csv") return save(name, "text/csv", numbers(figure));
  const { text, width, height } = drawing(figure);
  if (format === "svg") return save(name, "image/svg+xml", text);
  const image = new Image();
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  image.onload = () => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [2 * width, 2 * height];
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(name, "image/png", blob), "image/png");
    URL.revokeObjectURL(address);
  };
  image.src = address;
}

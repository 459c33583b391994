// ---- buttons, links and the filter

const deeds = {
  copy(button) {
    const said = button.textContent;
    const say = (word) => { button.textContent = word; setTimeout(() => { button.textContent = said; }, 1500); };
    const text = button.closest(".command").querySelector("pre").textContent;
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => say("copied"), () => say("not allowed"));
    else say("not allowed");
  },
  zoom(button) {
    const figure = button.closest("figure");
    if (!zoomed.delete(figure.id)) zoomed.add(figure.id);
    applyFigure(figure);
    writeAddress();
  },
  download(button) {
    download(button.closest("figure"), button.dataset.format);
  },
};

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']:not(.skip)");
  if (link) {
    event.preventDefault();
    goTo(link.getAttribute("href").slice(1));
    writeAddress();
    return;
  }
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.do) {
    deeds[button.dataset.do](button);
  } else if (button.closest(".legend")) {
    if (!off.delete(button.dataset.name)) off.add(button.dataset.name);
    applyAll();
    writeAddress();
  } else if (button.closest("thead")) {
    const th = button.closest("th");
    const table = th.closest("table");
    sorted.set(table.id, [th.cellIndex, th.getAttribute("aria-sort") === "ascending" ? -1 : 1]);
    applySort(table);
  }
});

filter.addEventListener("input", () => { applyAll(); writeAddress(); });
addEventListener("hashchange", readAddress);
// Paper cannot be unfolded.
addEventListener("beforeprint", () => { for (const fold of document.querySelectorAll("details")) fold.open = true; });

document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});

readAddress();

// ---- the live page: asks whether anything is new, and exchanges the sections that changed

async function update(version) {
  const answer = await fetch("version", { cache: "no-store" });
  const now = await answer.text();
  if (now === version) return version;
  const page = await (await fetch("./", { cache: "no-store" })).text();
  // The server has escaped every text in it, and the content security policy lets no other script run.
  const fresh = new DOMParser().parseFromString(page, "text/html");
  const main = document.getElementById("main");
  const open = new Set(Array.from(document.querySelectorAll("details[open]"), (fold) => fold.id));
  const sections = Array.from(fresh.querySelectorAll("main > section"), (section) => {
    const old = document.getElementById(section.id);
    return old && old.dataset.hash === section.dataset.hash ? old : document.adoptNode(section);
  });
  const focused = document.activeElement && document.activeElement.closest("[id]");
  main.replaceChildren(...sections);
  document.getElementById("contents").replaceWith(document.adoptNode(fresh.getElementById("contents")));
  for (const fold of document.querySelectorAll("details")) fold.open = open.has(fold.id);
  applyAll();
  if (focused && document.activeElement === document.body) document.getElementById(focused.id)?.focus({ preventScroll: true });
  return now;
}

if (document.body.dataset.live !== undefined) {
  let version = document.body.dataset.live;
  const loop = async () => {
    const begun = performance.now();
    try {
      version = await update(version);
      document.body.dataset.state = "connected";
    } catch {
      document.body.dataset.state = "lost"; // the server was stopped; what is shown stays
    }
    // A page of many runs takes its time: neither the server nor this page works on it more than a fifth of the time.
    setTimeout(loop, Math.max(1000, 4 * (performance.now() - begun)));
  };
  setTimeout(loop, 1000);
}

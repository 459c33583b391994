// ---- tables

function applySort(table) {
  const [column, direction] = sorted.get(table.id);
  table.querySelectorAll("thead th").forEach((th, i) => {
    if (i === column) th.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
    else th.removeAttribute("aria-sort");
  });
  const body = table.tBodies[0];
  const key = (row) => row.cells[column].dataset.key;
  const compare = (a, b) => {
    const [x, y] = [key(a), key(b)];
    if (x !== undefined && y !== undefined) return direction * (Number(x) - Number(y));
    // What has no number comes last, whatever the direction.
    if (x !== undefined || y !== undefined) return x === undefined ? 1 : -1;
    return direction * a.cells[column].textContent.localeCompare(b.cells[column].textContent, "en", { numeric: true });
  };
  body.append(...Array.from(body.rows).sort(compare));
}

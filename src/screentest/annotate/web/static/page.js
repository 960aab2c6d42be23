// Small things every page has.
for (const select of document.querySelectorAll("select[data-submit]")) {
  select.addEventListener("change", () => select.form.requestSubmit());
}

// Without this script the page works with its buttons. With it, numbers follow every change.
"use strict";

(() => {
  const form = document.getElementById("form");
  if (!form) return;
  const byId = (id) => document.getElementById(id);
  const slider = byId("slider");
  const LONGEST_LINK = 8000;
  let asked = 0; // number of the latest question; answers to earlier ones are dropped
  let busy = false; // one request at a time: a slider asks faster than any program answers
  let timer = null;
  let running = null; // the request that is waited for
  let abandon = null; // timer that ends it, if something else has been asked since
  const PATIENCE = 1000;

  for (const part of document.querySelectorAll(".script")) part.hidden = false;
  byId("calculate").hidden = true;

  // ---------------------------------------------------------------------------------------------
  // State: a text for every field

  function state() {
    const found = {};
    for (const [name, value] of new FormData(form)) {
      if (typeof value === "string") found[name] = value;
    }
    return found;
  }

  function restore(hash) {
    const given = new URLSearchParams(hash.replace(/^#/, ""));
    let known = false;
    for (const [name, value] of given) {
      const field = form.elements.namedItem(name);
      if (!field || name === "file") continue;
      if (name === "pos_label") offer([[value, value]]);
      if (field instanceof Element && field.tagName === "SELECT") {
        if (![...field.options].some((option) => option.value === value)) continue;
      }
      field.value = value; // of a group of radio buttons, too
      known = true;
    }
    return known;
  }

  // The classes of the table to choose the positive one from; what was chosen stays.
  function offer(classes) {
    const field = form.elements.namedItem("pos_label");
    if (!field) return;
    const chosen = field.value;
    const known = new Map([...field.options].slice(0, 1).map((o) => [o.value, o.textContent]));
    for (const [value, text] of classes) known.set(value, text);
    if (!known.has(chosen)) known.set(chosen, chosen);
    const now = [...field.options].map((o) => o.value).join("\n");
    if (now === [...known.keys()].join("\n")) return; // the list may be open
    const options = [...known].map(([value, text]) => make("option", text, { value }));
    field.replaceChildren(...options);
    field.value = chosen;
  }

  function hashOf(given) {
    const kept = { ...given };
    if (kept.source !== "rows") delete kept.csv;
    const text = new URLSearchParams(kept).toString();
    return text.length <= LONGEST_LINK ? "#" + text : null;
  }

  // ---------------------------------------------------------------------------------------------
  // Showing: user text only ever as text

  function make(tag, text, attributes = {}) {
    const node = document.createElement(tag);
    node.textContent = text;
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
  }

  function row(texts, tag) {
    const line = document.createElement("tr");
    texts.forEach((text, k) => {
      const head = tag === "th" || k === 0;
      const scope = tag === "th" ? "col" : "row";
      line.append(make(head ? "th" : "td", text, head ? { scope } : {}));
    });
    return line;
  }

  function table(given) {
    const head = document.createElement("thead");
    const body = document.createElement("tbody");
    const node = document.createElement("table");
    if (given.prose) node.className = "prose";
    head.append(row(given.head, "th"));
    body.append(...given.rows.map((texts) => row(texts, "td")));
    node.append(head, body);
    const around = make("div", "", {
      class: "scroll", tabindex: "0", role: "region", "aria-label": given.title,
    });
    around.append(node);
    const notes = given.notes.map((text) => make("p", text, { class: "hint" }));
    return [make("h3", given.title), around, ...notes];
  }

  function picture([title, svg]) {
    const node = document.createElement("figure");
    const place = document.createElement("div");
    place.innerHTML = svg; // made by the server, all names in it are escaped
    node.append(make("figcaption", title), place);
    return node;
  }

  function fact([name, text]) {
    const node = document.createElement("div");
    node.append(make("dt", name), make("dd", text));
    return node;
  }

  function say(text) {
    byId("status").textContent = text;
    byId("status").classList.toggle("aside", !text);
  }

  function showErrors(errors) {
    for (const place of form.querySelectorAll(".error")) {
      const name = place.id.replace(/-error$/, "");
      const field = byId(name);
      place.textContent = errors[name] || "";
      if (field && errors[name]) field.setAttribute("aria-invalid", "true");
      else if (field) field.removeAttribute("aria-invalid");
    }
    const names = Object.keys(errors);
    const some = names.length > 0;
    const marked = names.some((name) => name !== "form");
    byId("result").hidden = some;
    for (const button of document.querySelectorAll(".download")) button.disabled = some;
    if (some) {
      clear();
      say((marked ? "Please correct the marked fields. " : "") + (errors.form || ""));
    }
  }

  function clear() {
    for (const id of ["title", "value", "span", "sentence"]) byId("out-" + id).textContent = "";
    for (const id of ["pictures", "facts", "notes", "tables"]) byId("out-" + id).replaceChildren();
    byId("metric-hint").textContent = "";
  }

  function show(answer) {
    for (const id of ["title", "value", "span", "sentence"]) {
      byId("out-" + id).textContent = answer[id];
    }
    byId("metric-hint").textContent = answer.formula ? "= " + answer.formula : "";
    byId("out-pictures").replaceChildren(...answer.pictures.map(picture));
    byId("out-facts").replaceChildren(...answer.facts.map(fact));
    byId("out-notes").replaceChildren(...answer.notes.map((text) => make("li", text)));
    byId("out-notes").hidden = answer.notes.length === 0;
    byId("out-tables").replaceChildren(...answer.tables.flatMap(table));
    byId("copied").textContent = "";
    say("");
  }

  // ---------------------------------------------------------------------------------------------
  // Asking

  async function ask(given) {
    clearTimeout(abandon);
    abandon = null;
    running = new AbortController();
    try {
      const response = await fetch("/answer/" + form.dataset.page, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(given),
        signal: running.signal,
      });
      return await response.json();
    } catch {
      return { error: "The program does not answer. Is it still running?" };
    }
  }

  async function update() {
    clearTimeout(timer);
    asked += 1;
    followPrevalence();
    if (busy) {
      abandon ??= setTimeout(() => running.abort(), PATIENCE);
      return;
    }
    busy = true;
    let mine, given, found;
    do {
      mine = asked;
      given = state();
      found = await ask(given);
    } while (mine !== asked); // that answer came too late
    busy = false;
    if (found.error) {
      showErrors({ form: found.error });
      return;
    }
    offer(found.classes);
    showErrors(found.errors);
    if (found.answer) {
      show(found.answer);
      const hash = hashOf(given);
      if (hash) history.replaceState(null, "", hash);
    }
    form.dataset.done = String(mine); // tests wait for it
  }

  function soon() {
    clearTimeout(timer);
    timer = setTimeout(update, 150);
  }

  form.addEventListener("input", (event) => {
    if (event.target.id !== "file" && event.target !== slider) soon();
  });
  form.addEventListener("submit", (event) => {
    if (event.submitter && event.submitter.classList.contains("download")) return;
    event.preventDefault();
    update();
  });

  // ---------------------------------------------------------------------------------------------
  // The file, the slider and the buttons

  const file = byId("file");
  if (file) {
    file.addEventListener("change", async () => {
      const [chosen] = file.files;
      if (!chosen) return;
      file.value = ""; // so that the same file can be chosen again
      if (chosen.size > Number(file.dataset.most)) {
        showErrors({ csv: "The file is too large for the page. Use the command line." });
        return;
      }
      try { // other bytes would become one and the same letter, and two classes one
        const bytes = await chosen.arrayBuffer();
        byId("csv").value = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      } catch {
        showErrors({ csv: "The file is not UTF-8 text. Save it as CSV in UTF-8, uncompressed." });
        return;
      }
      update();
    });
  }

  function followPrevalence() {
    if (!slider) return;
    const typed = Number(byId("prevalence").value);
    const [tp, fn, fp, tn] = ["tp", "fn", "fp", "tn"].map((id) => Number(byId(id).value));
    const seen = (tp + fn) / (tp + fn + fp + tn);
    const value = byId("prevalence").value.trim() ? typed : seen;
    if (Number.isFinite(value)) slider.value = String(value);
  }

  if (slider) {
    slider.addEventListener("input", () => {
      byId("prevalence").value = slider.value;
      soon();
    });
    byId("as-data").addEventListener("click", () => {
      byId("prevalence").value = "";
      update();
    });
  }

  async function copy(text, said) {
    try {
      await navigator.clipboard.writeText(text);
      byId("copied").textContent = said;
    } catch { // not allowed here: mark the text, so that a key can copy it
      const range = document.createRange();
      range.selectNodeContents(byId("out-sentence"));
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      byId("copied").textContent = "Press Ctrl-C to copy.";
    }
  }

  byId("copy").addEventListener("click", () => copy(byId("out-sentence").textContent, "Copied."));
  byId("copy-link").addEventListener("click", () => {
    const hash = hashOf(state());
    if (hash) copy(location.origin + location.pathname + hash, "Link copied.");
    else byId("copied").textContent = "The table is too long for a link.";
  });
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault(); // the address holds the numbers
    byId("answer").focus();
  });
  addEventListener("hashchange", () => {
    if (restore(location.hash)) update();
  });

  followPrevalence();
  if (restore(location.hash)) update();
})();

// SPDX-License-Identifier: Apache-2.0
//
// Comfort on top of pages that work without it: live parts, the answer while
// the form is filled in, and a window drawn on the chart.
"use strict";
(() => {
  const root = document.documentElement, body = document.body;
  root.classList.add("js");
  const $ = (id) => document.getElementById(id);

  // --- live parts --------------------------------------------------------
  // The stream says only "changed"; the page then asks for its live parts. A
  // slow answer slows the questions: never two at once, and a pause after each
  // as long as three of them.
  const src = body.dataset.src, every = Number(body.dataset.every) || 1000;
  let stream, asking = false, again = false;

  // A part in which the reader does something is left alone until later.
  function inUse(el) {
    const sel = getSelection();
    return el.matches(":active") || el.querySelector(":active, :focus-visible:not(summary)") ||
      (sel && !sel.isCollapsed && el.contains(sel.anchorNode)) || (drag && el.contains(drag.svg));
  }

  function swap(html) {
    const doc = new DOMParser().parseFromString(html, "text/html");
    for (const fresh of doc.querySelectorAll("[data-live]")) {
      const old = $(fresh.id);
      if (!old || old.outerHTML === fresh.outerHTML || inUse(old)) continue;
      const open = [...old.querySelectorAll("details[open]")].map((d) => d.id);
      const scrolled = [...old.querySelectorAll(".scroll")].map((s) => s.scrollLeft);
      old.replaceWith(document.adoptNode(fresh));
      for (const id of open) if ($(id)) $(id).open = true;
      fresh.querySelectorAll(".scroll").forEach((s, i) => { s.scrollLeft = scrolled[i] || 0; });
    }
    showPick();
    armCountdown();
  }

  async function refresh() {
    if (asking) { again = true; return; }
    asking = true; again = false;
    const began = performance.now();
    try {
      const res = await fetch(src, { cache: "no-store" });
      if (res.ok) swap(await res.text());
    } catch { /* the stream tells of a lost connection */ }
    const took = performance.now() - began;
    setTimeout(() => { asking = false; if (again) refresh(); }, Math.max(every - took, 3 * took));
  }

  // A hidden page needs no stream; browsers allow a host only six connections.
  function listen() {
    if (document.hidden || !src) {
      if (stream) stream.close();
      stream = null;
      return;
    }
    if (stream && stream.readyState !== EventSource.CLOSED) return;
    stream = new EventSource("/events");
    stream.addEventListener("changed", () => { $("link").hidden = true; refresh(); });
    stream.onerror = () => {
      $("link").hidden = false;
      if (stream && stream.readyState === EventSource.CLOSED) setTimeout(listen, 5000);
    };
  }
  document.addEventListener("visibilitychange", listen);

  // --- the hold's countdown ----------------------------------------------
  let until = null;
  function armCountdown() {
    const el = document.querySelector(".left");
    until = el && performance.now() + 1000 * Number(el.dataset.left) / Number(el.dataset.speed);
  }
  setInterval(() => {
    const el = document.querySelector(".left");
    if (!el || until === null) return;
    const s = Math.max(0, Math.round((until - performance.now()) / 1000 * Number(el.dataset.speed)));
    el.textContent = s < 60 ? `${s} s` : s < 3600 ? `${Math.floor(s / 60)} min ${s % 60} s` : `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min`;
    if (s === 0) { until = null; if (src) refresh(); }
  }, 1000);

  // --- the form ----------------------------------------------------------
  const form = $("form");
  let timer, abort;
  // The proposal that nobody looked at yet is not drawn on the chart.
  let touched = !!document.querySelector("#answer .verdict") || /[?&]start=/.test(location.search);
  async function check() {
    clearTimeout(timer);
    if (abort) abort.abort();
    abort = new AbortController();
    const data = new URLSearchParams(new FormData(form));
    data.set("action", "check");
    data.set("fragment", "1");
    $("answer").classList.add("busy");
    try {
      const res = await fetch(form.getAttribute("action"), { method: "POST", body: data, signal: abort.signal });
      const fresh = new DOMParser().parseFromString(await res.text(), "text/html").getElementById("answer");
      if (fresh) $("answer").replaceWith(document.adoptNode(fresh));
      else $("answer").classList.remove("busy");
    } catch (e) {
      if (e.name !== "AbortError") $("answer").classList.remove("busy");
    }
  }
  if (form) {
    form.addEventListener("input", (e) => {
      if (e.target.name === "pool") { // its chart is another page
        const q = new URLSearchParams(new FormData(form));
        q.delete("id");
        location.assign(`/calendar?${q}#book`);
        return;
      }
      touched = true;
      showPick();
      clearTimeout(timer);
      timer = setTimeout(check, 350);
    });
    form.addEventListener("submit", (e) => {
      if (e.submitter && e.submitter.value === "check") { e.preventDefault(); check(); }
    });
  }
  document.addEventListener("submit", (e) => {
    const ask = e.target.dataset.ask;
    if (ask && !confirm(ask)) e.preventDefault();
  });

  // --- a window on the chart ---------------------------------------------
  const hour = 3600e3;
  let drag = null;
  const field = (ms) => new Date(ms).toISOString().slice(0, 16);
  const chosen = () => form ? ["start", "end"].map((n) => Date.parse(form.elements[n].value + "Z")) : [NaN, NaN];

  function scale(svg) {
    const d = svg.dataset, from = d.from * 1000, to = d.to * 1000, x0 = +d.x0, x1 = +d.x1;
    return {
      x: (ms) => x0 + (x1 - x0) * Math.min(1, Math.max(0, (ms - from) / (to - from))),
      at: (e) => {
        const box = svg.getBoundingClientRect();
        const x = (e.clientX - box.left) / box.width * d.w;
        return from + (to - from) * Math.min(1, Math.max(0, (x - x0) / (x1 - x0)));
      },
    };
  }
  function showPick() {
    const [a, b] = touched ? chosen() : [NaN, NaN];
    for (const svg of document.querySelectorAll(".chart")) {
      const pick = svg.querySelector(".pick"), s = scale(svg);
      const w = b > a ? s.x(b) - s.x(a) : 0;
      pick.setAttribute("x", b > a ? s.x(a) : 0);
      pick.setAttribute("width", w);
    }
  }
  document.addEventListener("pointerdown", (e) => {
    const svg = e.target.closest && e.target.closest(".chart");
    if (!svg || !form || e.button !== 0) return;
    drag = { svg, from: scale(svg).at(e), x: e.clientX };
  });
  document.addEventListener("pointermove", (e) => {
    if (!drag || Math.abs(e.clientX - drag.x) < 4) return;
    const at = scale(drag.svg).at(e);
    const a = Math.floor(Math.min(at, drag.from) / hour) * hour;
    const b = Math.max(Math.ceil(Math.max(at, drag.from) / hour) * hour, a + hour);
    form.elements.start.value = field(a);
    form.elements.end.value = field(b);
    drag.moved = touched = true;
    showPick();
  });
  for (const end of ["pointerup", "pointercancel"]) {
    document.addEventListener(end, () => {
      if (drag && drag.moved) check();
      drag = null;
    });
  }

  showPick();
  armCountdown();
  listen();
})();

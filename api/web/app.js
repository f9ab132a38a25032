// Follows the event stream of the page and keeps it up to date. Figures of the running step are written from the events; everything
// else is rendered by the server alone: the page is fetched again and its data-live parts are taken over.
"use strict";

(() => {
  const main = document.querySelector("main");
  const byID = (id) => document.getElementById(id);

  for (const button of document.querySelectorAll("[data-confirm]")) {
    button.addEventListener("click", (e) => {
      if (!confirm(button.dataset.confirm)) e.preventDefault();
    });
  }

  const frame = byID("report");
  if (frame) {
    const fit = () => {
      const doc = frame.contentDocument;
      if (doc && doc.body) frame.style.height = doc.documentElement.offsetHeight + 16 + "px";
    };
    const watch = () => {
      frame.contentDocument.documentElement.style.overflowY = "hidden"; // the frame is as high as the report: no second scroll bar
      const inner = frame.contentDocument.querySelector("main");
      if (inner) inner.style.padding = "16px 0 0"; // the page around it has its own margin
      fit();
      new ResizeObserver(fit).observe(frame.contentDocument.body);
    };
    frame.addEventListener("load", watch);
    if (frame.contentDocument && frame.contentDocument.readyState === "complete") watch();
  }

  if (!main || !main.dataset.events) return;

  // refresh takes over the parts the server renders. Calls while one is under way become one more after it.
  let busy = false, again = false;
  async function refresh() {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (answer.ok) takeOver(new DOMParser().parseFromString(await answer.text(), "text/html"));
    } catch {
      // The daemon is away: the event stream comes back by itself and refreshes then.
    }
    busy = false;
    if (again) { again = false; setTimeout(refresh, 300); }
  }

  function takeOver(fresh) {
    for (const part of document.querySelectorAll("[data-live]")) {
      const next = fresh.querySelector(`[data-live="${part.dataset.live}"]`);
      if (!next || next.outerHTML === part.outerHTML) continue;
      part.replaceWith(document.adoptNode(next));
    }
  }

  const figure = (v, digits) => v === undefined ? "–" : v.toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: digits });

  function showStep(e) {
    byID("step").textContent = [e.phase, e.point].filter(Boolean).join(" · ").replaceAll("_", " ") || "running";
    byID("stage").textContent = "\u00a0";
    showBar(0, 0);
  }

  // showBar draws a share, or that the step is busy when there is no total.
  function showBar(done, total) {
    const bar = byID("bar");
    bar.classList.toggle("busy", !(total > 0));
    const percent = total > 0 ? Math.min(100, 100 * done / total) : 0;
    bar.firstElementChild.style.width = total > 0 ? percent + "%" : "";
    if (total > 0) bar.setAttribute("aria-valuenow", Math.round(percent));
    else bar.removeAttribute("aria-valuenow");
  }

  function showProgress(e) {
    const p = e.progress;
    if (e.phase || e.point) byID("step").textContent = [e.phase || p.stage, e.point].filter(Boolean).join(" · ").replaceAll("_", " ");
    byID("stage").textContent = amount(p);
    showBar(p.done, p.total);
    byID("tps").textContent = p.tps ? figure(p.tps, p.tps < 100 ? 1 : 0) : "–";
    byID("ttft").textContent = p.ttft_ms ? figure(p.ttft_ms, p.ttft_ms < 100 ? 1 : 0) : "–";
    byID("inflight").textContent = figure(p.in_flight || 0, 0);
    byID("failed").textContent = figure(p.failed || 0, 0);
  }

  function amount(p) {
    const scale = p.unit === "bytes" ? 1 << 20 : 1;
    const unit = p.unit === "bytes" ? "MiB" : p.unit;
    const of = p.total > 0 ? " of " + figure(p.total / scale, 0) : "";
    return `${p.stage}: ${figure(p.done / scale, 0)}${of} ${unit}`;
  }

  function showLog(text) {
    const log = byID("log");
    const atEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 20;
    const lines = (log.textContent + text.replace(/\n?$/, "\n")).split("\n");
    log.textContent = lines.slice(-400).join("\n");
    if (atEnd) log.scrollTop = log.scrollHeight;
  }

  const source = new EventSource(main.dataset.events);
  const ofRun = Boolean(main.dataset.run);

  function handle(e) {
    switch (e.kind) {
      case "progress":
        if (ofRun) showProgress(e);
        return;
      case "log":
        if (ofRun) showLog(e.text || "");
        return;
      case "phase.started":
        if (ofRun) showStep(e);
        break;
      case "run.ended":
        if (ofRun) {
          source.close();
          location.reload();
          return;
        }
    }
    refresh();
  }

  source.addEventListener("open", refresh); // what happened before the stream was open
  source.addEventListener("message", (m) => handle(JSON.parse(m.data)));
  const log = byID("log");
  if (log) log.scrollTop = log.scrollHeight;
})();

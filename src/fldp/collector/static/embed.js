// Puts the page of a survey where this script stands:
//   <script src="https://collector.example/static/embed.js" data-survey="browser" data-height="40rem" async></script>
// It works on the origins that the survey names. The frame has one height, whatever happens in it.
(() => {
  const script = /** @type {HTMLScriptElement} */ (document.currentScript);
  const { survey = "", title, height = "" } = script.dataset;
  const frame = document.createElement("iframe");
  frame.src = new URL(`../s/${encodeURIComponent(survey)}`, script.src).href;
  frame.title = title || "Survey";
  frame.loading = "lazy";
  Object.assign(frame.style, { width: "100%", height: "40rem", border: "0", colorScheme: "normal" });
  frame.style.height = /^\d+$/.test(height) ? `${height}px` : height || "40rem"; // an invalid one changes nothing
  frame.style.maxHeight = "85vh"; // so that there is always a part of the page around to scroll it by
  frame.style.maxHeight = "85svh"; // without the bars of a phone's browser; older browsers skip this
  script.after(frame);
})();

// Puts the page of a survey where this script stands:
//   <script src="https://collector.example/static/embed.js" data-survey="browser" async></script>
// It works on the origins that the survey names, and learns nothing but how high the page is.
(() => {
  const script = document.currentScript;
  const name = script.dataset.survey;
  const page = new URL(`../s/${encodeURIComponent(name)}`, script.src);
  const frame = document.createElement("iframe");
  frame.src = page.href;
  frame.title = script.dataset.title || "Survey";
  frame.loading = "lazy";
  Object.assign(frame.style, { width: "100%", height: "40rem", border: "0", colorScheme: "normal" });
  addEventListener("message", ({ source, origin, data }) => {
    const told = source === frame.contentWindow && origin === page.origin && data?.fldp === name;
    if (told && data.height > 0 && data.height < 1e5) frame.style.height = `${Math.ceil(data.height)}px`;
  });
  script.after(frame);
})();

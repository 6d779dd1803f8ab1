// Says so when a script of the page does not arrive, as when the network changes meanwhile. The modules of a page run all
// together or not at all, so this is no module.
addEventListener(
  "error",
  ({ target }) => {
    const main = document.querySelector("main[aria-busy]"); // nothing has been shown yet
    if (!(target instanceof HTMLScriptElement) || !main) return;
    const words = document.createElement("p");
    words.textContent = "A part of this page did not arrive.";
    const button = document.createElement("button");
    button.className = "primary";
    button.textContent = "Try again";
    button.addEventListener("click", () => location.reload());
    const box = document.createElement("div");
    box.className = "notice bad";
    box.setAttribute("role", "alert");
    box.append(words, button);
    main.removeAttribute("aria-busy");
    main.querySelector("[role=status]")?.replaceWith(box);
  },
  true,
);

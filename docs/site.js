// Tables that are wider than a phone scroll in a box that the theme makes: the keyboard must reach it, too.
new MutationObserver(() => {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) box.tabIndex = 0;
}).observe(document.documentElement, { childList: true, subtree: true });

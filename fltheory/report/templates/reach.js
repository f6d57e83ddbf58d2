// What scrolls sideways can be reached with the keyboard; what is folded away has no width until it is opened.
(function () {
  var wide = ".math, table, .scroll, .symbols div, .instance span, .page p, .page li, .page dd, .page div";
  function reach(place) {
    place.querySelectorAll(wide).forEach(function (e) { if (e.scrollWidth > e.clientWidth) e.tabIndex = 0; });
  }
  document.addEventListener("toggle", function (event) { reach(event.target); }, true);
  window.addEventListener("resize", function () { reach(document); });
  reach(document);
})();

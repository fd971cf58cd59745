// A slider over precomputed frames: no kernel, no network. One call for each slider; it finds its own markup.
(function (root) {
  var frames = JSON.parse(root.querySelector("script[type='application/json']").textContent);
  var input = root.querySelector("input"), image = root.querySelector("img");
  var value = root.querySelector("output"), text = root.querySelector(".tl-slider-text");
  function draw() {
    var frame = frames[Number(input.value)];
    image.src = frame.src;
    image.alt = frame.alt;
    value.textContent = frame.label;
    text.textContent = frame.text;
    input.setAttribute("aria-valuetext", frame.label);
  }
  input.addEventListener("input", draw);
  draw();
})

// Sliders over precomputed frames: no kernel, no network. One call for each figure; it finds its own markup.
(function (root) {
  const frames = JSON.parse(root.querySelector("script[type='application/json']").textContent);
  const inputs = [...root.querySelectorAll("input")], outputs = root.querySelectorAll("output");
  const image = root.querySelector("img"), text = root.querySelector(".tl-slider-text");
  const button = root.querySelector("button");
  let kept = null, timer = null;

  function draw() {
    const at = inputs.map((input) => Number(input.value));
    const frame = frames.find((one) => one.at.every((position, k) => position === at[k]));
    image.src = frame.src;
    image.alt = frame.alt;
    text.textContent = frame.text;
    frame.labels.forEach((label, k) => {
      outputs[k].textContent = label;
      inputs[k].setAttribute("aria-valuetext", label);
    });
  }

  // From the first touch on, so that a page that is only read loads one picture of each figure.
  function load() {
    kept = kept || frames.map((frame) => Object.assign(new Image(), { src: frame.src }));
    return Promise.all(kept.map((picture) => picture.decode().catch(() => {})));
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    if (!button) return;
    button.textContent = "Play";
    text.setAttribute("aria-live", "polite");
  }

  function step() {
    inputs[0].value = Number(inputs[0].value) + 1;
    if (inputs[0].value === inputs[0].max) stop();
    draw();
  }

  function play() {
    if (timer !== null) return;
    if (inputs[0].value === inputs[0].max) inputs[0].value = 0;
    button.textContent = "Pause";
    text.setAttribute("aria-live", "off"); // a screen reader would read a sentence for every frame
    draw();
    timer = setInterval(step, 250);
  }

  inputs.forEach((moved) => {
    moved.addEventListener("pointerdown", stop);
    moved.addEventListener("input", () => {
      stop();
      if (root.hasAttribute("data-star")) {
        inputs.filter((input) => input !== moved).forEach((input) => { input.value = input.defaultValue; });
      }
      draw();
    });
  });
  root.addEventListener("pointerenter", load, { once: true });
  root.addEventListener("focusin", load, { once: true });
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", () => { timer === null ? load().then(play) : stop(); });
  if (!root.hasAttribute("data-autoplay") || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  let untouched = true;
  ["pointerdown", "keydown"].forEach((event) => root.addEventListener(event, () => { untouched = false; }));
  const watch = new IntersectionObserver((seen) => {
    if (!seen.some((entry) => entry.isIntersecting)) return;
    watch.disconnect();
    load().then(() => { if (untouched) play(); });
  }, { threshold: 0.5 });
  watch.observe(image);
})

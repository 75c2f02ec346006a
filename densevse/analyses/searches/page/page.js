"use strict";

const COLOURS = ["#b85a00", "#188038", "#1967d2", "#d01884", "#9334e6", "#b80672", "#0b7a88", "#7a4510"];
const SVG = "http://www.w3.org/2000/svg";
const [form, sentence, asking, photograph, said, answers] =
  ["form", "sentence", "asking", "photograph", "said", "answers"].map((id) => document.getElementById(id));
let questions = 0;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  askSentence(sentence.value);
});
photograph.addEventListener("change", () => photograph.files.length && askPhotograph(photograph.files[0]));
for (const name of ["dragenter", "dragover", "dragleave", "drop"]) {
  document.addEventListener(name, (event) => {
    event.preventDefault(); // else the browser would leave this page for the file
    document.body.classList.toggle("dropping", !asking.disabled && ["dragenter", "dragover"].includes(name));
    if (name === "drop" && !asking.disabled && event.dataTransfer.files.length) askPhotograph(event.dataTransfer.files[0]);
  });
}
if (new URLSearchParams(location.search).has("sentence")) {
  sentence.value = new URLSearchParams(location.search).get("sentence");
  askSentence(sentence.value);
}

function askSentence(text) {
  const query = `?${new URLSearchParams({ sentence: text })}`;
  history.replaceState(null, "", query); // so that a reload asks again
  ask(`answers${query}`, {}, (found) => [list("pictures", found.answers.map(pictureOf))]);
}

function askPhotograph(file) {
  history.replaceState(null, "", location.pathname);
  if (file.size > asking.dataset.largest) {
    say(`The file has ${file.size} bytes; at most ${asking.dataset.largest} are read.`, true);
    return;
  }
  const asked = made("img", { className: "asked", src: URL.createObjectURL(file), alt: `the photograph ${file.name}` });
  ask("answers", { method: "POST", body: file }, (found) => [asked, list("sentences", found.answers.map(sentenceOf))]);
}

/** Asks, and puts on the page what `shown` makes of the answers, unless another question came meanwhile. */
async function ask(address, request, shown) {
  const question = ++questions;
  say("Searching …");
  answers.replaceChildren();
  try {
    const response = await fetch(address, request);
    const found = await response.json();
    if (question !== questions) return;
    if (!response.ok) throw new Error(found.error);
    answers.append(...shown(found));
    const unknown = found.unknown.length ? ` Words that the model does not know: ${found.unknown.join(", ")}.` : "";
    say(`${found.answers.length} answers, the best first.${unknown}`);
  } catch (error) {
    if (question !== questions) return;
    say(error instanceof TypeError ? "No answer: the command that serves this page has ended." : error.message, true);
  }
}

function say(text, wrong = false) {
  said.textContent = text;
  said.classList.toggle("wrong", wrong);
}

function made(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function list(kind, items) {
  return made("ol", { className: kind }, ...items);
}

function scoreOf(answer) {
  return made("span", { className: "score" }, ` score ${answer.score.toFixed(3)}`);
}

function sentenceOf(answer) {
  return made("li", {}, `${answer.rank}. ${answer.text}`, scoreOf(answer));
}

function pictureOf(answer) {
  const picture = made("img", { src: `photographs/${answer.row}`, alt: answer.image });
  const phrases = answer.phrases.map((one, number) => {
    const item = made("li", {}, `${one.phrase} ${one.confidence.toFixed(2)}`);
    item.style.color = COLOURS[number % COLOURS.length];
    return item;
  });
  const drawn = made("div", { className: "picture" }, picture, ...(phrases.length ? [boxesOf(answer.phrases)] : []));
  const item = made("li", {}, drawn, made("div", {}, `${answer.rank}. ${answer.image}`, scoreOf(answer)));
  if (phrases.length) item.append(made("ul", {}, ...phrases));
  return item;
}

/** The regions of phrases, each side by side with others of the same region. */
function boxesOf(phrases) {
  const drawing = document.createElementNS(SVG, "svg");
  for (const [name, value] of [["viewBox", "0 0 1 1"], ["preserveAspectRatio", "none"], ["aria-hidden", "true"]])
    drawing.setAttribute(name, value);
  phrases.forEach(({ box: [x, y, width, height] }, number) => {
    const inset = 0.01 * number;
    const rectangle = document.createElementNS(SVG, "rect");
    const place = { x: x + inset, y: y + inset, width: width - 2 * inset, height: height - 2 * inset };
    for (const [name, value] of Object.entries(place)) rectangle.setAttribute(name, Math.max(0, value));
    rectangle.setAttribute("stroke", COLOURS[number % COLOURS.length]);
    drawing.append(rectangle);
  });
  return drawing;
}

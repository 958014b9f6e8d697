// The calls behind a view, to copy: for a shell and for Python's standard library.
import { key } from "./api.js";
import { button, h, save } from "./dom.js";
import { announce } from "./notices.js";

// A longer body goes into a file beside the command.
const INLINE = 3000;

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** `calls` is [{method, path, body, note}]; the file name is for bodies too long to be typed. */
function asCurl(calls) {
  return calls
    .map(({ method, path, body, file, note }) => {
      const lines = [`curl -sS${method === "GET" ? "" : ` -X ${method}`} ${quoted(location.origin + path)}`];
      if (key.get()) lines.push(`  -H "X-API-Key: $FEDSIFT_KEY"`);
      if (path.endsWith("/events")) lines[0] = lines[0].replace("-sS", "-sSN");
      if (body !== undefined) {
        const text = JSON.stringify(body);
        lines.push("  -H 'Content-Type: application/json'");
        lines.push(text.length > INLINE ? `  -d @${file}` : `  -d ${quoted(text)}`);
      }
      return (note ? `# ${note}\n` : "") + lines.join(" \\\n");
    })
    .join("\n\n");
}

function asPython(calls) {
  const lines = [
    "import json, os, urllib.request",
    "",
    "def call(method, path, body=None):",
    `    request = urllib.request.Request(${JSON.stringify(location.origin)} + path, method=method)`,
    '    request.add_header("Content-Type", "application/json")',
    key.get() ? '    request.add_header("X-API-Key", os.environ["FEDSIFT_KEY"])' : null,
    "    data = None if body is None else json.dumps(body).encode()",
    "    with urllib.request.urlopen(request, data) as answer:",
    "        return json.load(answer)",
    "",
  ];
  for (const { method, path, body, file, note } of calls) {
    if (path.endsWith("/events")) continue;
    const given = [JSON.stringify(method), JSON.stringify(path)];
    if (body !== undefined) {
      const text = JSON.stringify(body);
      given.push(text.length > INLINE ? `json.load(open(${JSON.stringify(file)}))` : `json.loads(r"""${text}""")`);
    }
    if (note) lines.push(`# ${note}`);
    lines.push(`answer = call(${given.join(", ")})`);
  }
  lines.push("print(json.dumps(answer)[:400])");
  return lines.filter((line) => line !== null).join("\n");
}

/**
 * "As curl / Python": made when it is opened, since a large network takes a while to write down. `refresh` says that the
 * calls may have changed; `about` tells cheaply whether they have.
 */
export function snippetBox(calls, about) {
  const body = h("div");
  const box = h("details", { class: "snippets" }, h("summary", {}, "As curl / Python"), body);
  let shown;
  const refresh = () => {
    const now = about();
    if (!box.open || !now || now === shown) return;
    shown = now;
    body.replaceChildren(...contents(calls()));
  };
  box.addEventListener("toggle", refresh);
  return { box, refresh };
}

/** What changes the calls: the network, the key, and all settings but those of looking at the answer. */
export function callKey(state, ...more) {
  const { step, device, colour, view, planned, ...rest } = state.settings;
  return state.network && JSON.stringify([serial(state.network), Boolean(key.get()), rest, ...more]);
}

const serials = new WeakMap();
let last = 0;

function serial(network) {
  if (!serials.has(network)) serials.set(network, (last += 1));
  return serials.get(network);
}

function contents(calls) {
  const long = calls.filter(({ body }) => body !== undefined && JSON.stringify(body).length > INLINE);
  const files = new Map(long.map(({ file, body }) => [file, body]));
  return [
    ...[...files].map(([file, body]) => button(`Save ${file}`, () => save(file, JSON.stringify(body)), { class: "quiet" })),
    ...[
      ["curl", asCurl(calls)],
      ["Python", asPython(calls)],
    ].map(([name, text]) => {
      const box = h("pre", { tabindex: "0", "aria-label": `The call as ${name}`, role: "region" }, text);
      return h("div", { class: "snippet" }, h("div", {}, h("span", {}, name), copyButton(name, () => text, box)), box);
    }),
  ];
}

/** A button that copies; where the browser forbids it, the text is selected instead. */
export function copyButton(name, text, box) {
  const made = button(`Copy ${name}`, async () => {
    try {
      await navigator.clipboard.writeText(text());
      announce(`${name} copied`);
      made.textContent = "Copied";
      setTimeout(() => (made.textContent = `Copy ${name}`), 1500);
    } catch {
      if (box) getSelection().selectAllChildren(box);
      announce("Copying is not allowed here; the text is selected.");
    }
  });
  made.classList.add("quiet");
  return made;
}

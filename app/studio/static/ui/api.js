// Calls to the service this page came from.

const KEY = "fedsift-key";

export const key = {
  get: () => sessionStorage.getItem(KEY) ?? "",
  set: (value) => (value ? sessionStorage.setItem(KEY, value) : sessionStorage.removeItem(KEY)),
};

let askForKey = () => {};

/** What to do when the service asks for a key. */
export function whenKeyIsNeeded(act) {
  askForKey = act;
}

/** A problem document (RFC 9457), or what stands in for one when the service cannot be reached. */
export class Problem extends Error {
  constructor(document) {
    super(document.detail ?? document.title);
    this.document = document;
  }
}

const AWAY = { title: "The service cannot be reached", detail: "Is it running? What you see is as it was before; try again.", status: 0 };

/** One call; the answer's JSON, or a Problem. */
export async function call(method, path, body, options = {}) {
  const answer = await request(method, path, body, options);
  return answer.status === 204 ? null : answer.json();
}

/** One call; the answer itself, or a Problem. */
export async function request(method, path, body, { signal, headers = {} } = {}) {
  const sent = { Accept: "application/json", ...headers };
  if (body !== undefined) sent["Content-Type"] = "application/json";
  if (key.get()) sent["X-API-Key"] = key.get();
  let answer;
  try {
    answer = await fetch(path, { method, headers: sent, signal, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(AWAY);
  }
  if (answer.ok) return answer;
  const document = await answer.json().catch(() => ({ title: `The service answered ${answer.status}`, status: answer.status }));
  if (answer.status === 401) askForKey();
  throw new Problem(document);
}

/** Server-sent events by fetch, which can send a key; goes on where it was cut off until `act` returns false. */
export async function follow(path, act, signal) {
  let last = "";
  for (let failures = 0; failures < 5 && !signal.aborted; ) {
    try {
      const headers = { Accept: "text/event-stream", ...(last ? { "Last-Event-ID": last } : {}) };
      const answer = await request("GET", path, undefined, { signal, headers });
      for await (const event of events(answer.body)) {
        failures = 0;
        if (event.id) last = event.id;
        if (act(event) === false) return;
      }
      failures += 1;
    } catch (error) {
      if (error.name === "AbortError") return;
      failures += 1;
      if (failures >= 5 || error.document?.status === 404) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 500 * failures));
  }
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value.replaceAll("\r\n", "\n");
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const event = { id: "", event: "message", data: "" };
      for (const line of text.slice(0, end).split("\n")) {
        const [, name, rest] = /^(\w+): ?(.*)$/.exec(line) ?? [];
        if (name === "data") event.data += (event.data ? "\n" : "") + rest;
        else if (name in event) event[name] = rest;
      }
      text = text.slice(end + 2);
      if (event.data) yield event;
    }
  }
}

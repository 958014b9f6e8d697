// What is shown when there is nothing, not yet something, or something went wrong.
import { h } from "./dom.js";

export const empty = (title, text) => h("div", { class: "notice" }, h("strong", {}, title), h("p", {}, text));

export const loading = (text) =>
  h("div", { class: "notice", role: "status" }, h("span", { class: "spinner", "aria-hidden": "true" }), ` ${text}`);

const SHOWN = 8;

const placeOf = ({ pointer, parameter, header }) => parameter || header || pointer || "(all of it)";

/** A problem with its places and devices, as the service told it. */
export function problem(error) {
  const document = error.document ?? { title: "That did not work", detail: error.message };
  const errors = document.errors ?? [];
  const devices = document.devices ?? [];
  const more = Math.max(0, errors.length - SHOWN);
  return h(
    "div",
    { class: "notice bad", role: "alert" },
    h("strong", {}, document.title ?? "That did not work"),
    document.detail && h("p", {}, document.detail),
    errors.length > 0 &&
      h(
        "ul",
        {},
        errors.slice(0, SHOWN).map((one) => h("li", {}, h("code", {}, placeOf(one)), ` ${one.detail}`)),
        more > 0 && h("li", {}, `and ${more} more`),
      ),
    devices.length > 0 &&
      h(
        "ul",
        {},
        devices.slice(0, SHOWN).map(({ device, step, reason }) => h("li", {}, `Device ${device}, from step ${step}: ${reason}`)),
        (document.device_count ?? 0) > SHOWN && h("li", {}, `and ${document.device_count - SHOWN} more devices`),
      ),
    document.request_id && h("small", {}, `Request ${document.request_id}`),
  );
}

let announcer;

/** Say something to screen readers, without moving anything. */
export function announce(text) {
  announcer ??= document.querySelector("#announcer");
  announcer.textContent = text;
}

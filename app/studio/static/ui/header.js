// The page's own buttons: a link to the view, light or dark, the API key.
import { loadSamplers } from "../actions.js";
import { key, whenKeyIsNeeded } from "./api.js";
import { find } from "./dom.js";
import { announce } from "./notices.js";
import { copyButton } from "./snippets.js";
import { address } from "./store.js";

const NEXT = { auto: "light", light: "dark", dark: "auto" };

export function setUpHeader() {
  find("#tools").prepend(copyButton("link", address));
  const theme = find("#theme");
  const show = () => (theme.textContent = `Theme: ${document.documentElement.dataset.theme}`);
  theme.addEventListener("click", () => {
    localStorage.setItem("fedsift-theme", NEXT[document.documentElement.dataset.theme]);
    dispatchEvent(new Event("theme"));
    show();
    announce(theme.textContent);
  });
  show();
  const [dialog, box] = [find("#key-dialog"), find("#key")];
  const open = () => {
    box.value = key.get();
    if (!dialog.open) dialog.showModal();
  };
  find("#key-button").addEventListener("click", open);
  whenKeyIsNeeded(open);
  dialog.addEventListener("close", () => {
    if (dialog.returnValue !== "save") return;
    key.set(box.value.trim());
    loadSamplers();
    dispatchEvent(new Event("key"));
  });
}

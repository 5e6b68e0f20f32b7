"use strict";

// Asks the server what changed and puts it in place; sends what people do.
const workspace = document.getElementById("workspace");
const notice = document.getElementById("notice");
const shown = new Map();
let version = workspace.dataset.version;

function atBottom(box) {
  return box.scrollHeight - box.scrollTop - box.clientHeight < 80;
}

function place(parts) {
  for (const [id, html] of Object.entries(parts)) {
    const box = document.getElementById(id);
    if (!box || shown.get(id) === html) continue;
    const stick = box.classList.contains("scroll") && atBottom(box);
    box.innerHTML = html;
    shown.set(id, html);
    if (stick) box.scrollTop = box.scrollHeight;
    if (id === "overlay") box.querySelector("input, textarea, select")?.focus();
  }
}

async function refresh() {
  const query = new URLSearchParams(location.search);
  query.set("since", version);
  const response = await fetch("/page?" + query);
  if (response.status !== 200) return;
  const answer = await response.json();
  version = answer.version;
  place(answer.parts);
}

async function watch() {
  try {
    await refresh();
    say("");
  } catch {
    say("The sandbox does not answer.");
  }
  setTimeout(watch, document.hidden ? 3000 : 400);
}

function say(text) {
  notice.textContent = text;
}

async function send(name, body) {
  const response = await fetch("/sandbox/" + name, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (answer.ok === false) say("Slack says: " + answer.error);
  else if (answer.acked === false) say("The app did not answer in time.");
  await refresh();
  return answer;
}

function grow(area) {
  area.style.height = "auto";
  area.style.height = Math.min(area.scrollHeight, 220) + "px";
}

function compose(form, text) {
  const { channel, user, thread } = form.dataset;
  if (text.startsWith("/")) {
    const [command] = text.split(/\s/, 1);
    return send("command", { channel, user, command, text: text.slice(command.length).trim() });
  }
  return send("say", { channel, user, text, thread_ts: thread || null, typed: true });
}

const actions = {
  click: ({ user, channel, ts, viewId, actionId, blockId, value }) =>
    send("click", { user, channel, ts, view_id: viewId, action_id: actionId, block_id: blockId, value }),
  shortcut: ({ user, channel, ts, callbackId }) =>
    send("shortcut", { user, channel, ts, callback_id: callbackId }),
  edit: ({ channel, ts, text }) => {
    const changed = prompt("Edit message", text);
    return changed && changed !== text ? send("edit", { channel, ts, text: changed }) : null;
  },
  alert: ({ channel }) => send("alert", { channel }),
  delete: ({ channel, ts }) => send("delete", { channel, ts }),
  stop: ({ user, channel, thread }) => send("stop", { user, channel, thread_ts: thread }),
  close: ({ user, viewId }) => send("close", { user, view_id: viewId }),
  mention: ({ text }, button) => insert(button.closest("form"), text),
  suggest: ({ text }) => compose(document.querySelector(".composer"), text),
};

function insert(form, text) {
  const area = form.querySelector("textarea");
  area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
  area.focus();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-do]");
  if (button) actions[button.dataset.do](button.dataset, button);
});

document.addEventListener("submit", (event) => {
  event.preventDefault();
  const form = event.target;
  if (form.classList.contains("modal")) {
    const values = {};
    for (const key of new Set(new FormData(form).keys())) {
      const all = new FormData(form).getAll(key);
      values[key] = all.length > 1 ? all : all[0];
    }
    send("submit", { user: form.dataset.user, view_id: form.dataset.viewId, values });
    return;
  }
  const area = form.querySelector("textarea");
  const text = area.value.trim();
  if (!text) return;
  area.value = "";
  grow(area);
  compose(form, text);
});

document.addEventListener("keydown", (event) => {
  if (event.target.matches(".composer textarea") && event.key === "Enter" && !event.shiftKey) {
    event.preventDefault();
    event.target.form.requestSubmit();
  }
});

document.addEventListener("input", (event) => {
  if (event.target.matches(".composer textarea")) grow(event.target);
});

document.getElementById("speaker").addEventListener("change", (event) => {
  location.href = event.target.value;
});

for (const box of document.querySelectorAll(".scroll")) box.scrollTop = box.scrollHeight;
if (workspace.dataset.where === "home") {
  send("home", { user: new URLSearchParams(location.search).get("user") || "U0ONCALL" });
}
[...document.querySelectorAll(".composer textarea")].at(-1)?.focus();
watch();

// The two views of the chat, and what keeps them true: the session, the event stream, the composer.

const at = (id) => document.getElementById(id);
let stream = null;
let me = null;

async function call(method, path, data) {
  const answer = await fetch(path, {
    method,
    headers: data ? { "Content-Type": "application/json" } : {},
    body: data && JSON.stringify(data),
  });
  const content = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(content.error), { status: answer.status });
  return content;
}

function sentence(error) {
  return error.status ? error.message : "The chat cannot be reached. Try again in a moment.";
}

// All text that people wrote goes in as text, never as markup.
function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

// The letter is drawn by the style sheet: a name read aloud should not begin with its letter.
function face(name) {
  const made = element("span", `face tone-${[...name].reduce((sum, letter) => sum + letter.codePointAt(0), 0) % 3}`);
  made.dataset.letter = name[0].toUpperCase();
  made.setAttribute("aria-hidden", "true");
  return made;
}

function showEntrance() {
  stream?.close();
  stream = me = null;
  document.title = "Sign in · Duet";
  at("conversation").hidden = true;
  at("entrance").hidden = false;
  at("name").focus();
}

function showConversation(user) {
  me = user;
  document.title = `${user} · Duet`;
  at("me").textContent = user;
  at("people").replaceChildren();
  at("log").replaceChildren(at("beginning"));
  at("connection").textContent = at("trouble").textContent = "";
  at("entrance").hidden = true;
  at("conversation").hidden = false;
  at("message").focus();
  listen();
}

function listen() {
  stream = new EventSource("/api/events");
  stream.addEventListener("open", () => { at("connection").textContent = ""; });
  stream.addEventListener("message", (event) => addMessage(JSON.parse(event.data)));
  stream.addEventListener("people", (event) => showPeople(JSON.parse(event.data).people));
  stream.addEventListener("error", () => {
    // A closed stream was refused: the session is over. Otherwise the browser tries again by itself.
    if (stream?.readyState === EventSource.CLOSED) showEntrance();
    else at("connection").textContent = "Connection lost, trying again";
  });
}

function showPeople(people) {
  at("people").replaceChildren(...people.map(({ name, online }) => {
    const state = online ? "online" : "offline";
    const item = element("li", state);
    const text = element("span");
    text.append(element("strong", "", name), ` is ${state}`);
    item.append(face(name), text);
    return item;
  }));
}

function addMessage({ author, text, at: sent }) {
  const time = element("time", "", new Date(sent).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }));
  time.dateTime = sent;
  const line = element("p", "line");
  line.append(element("strong", "author", author), " ", time);
  const said = element("article", author === me ? "said mine" : "said");
  said.append(line, face(author), element("p", "text", text));
  at("log").append(said);
  at("log").scrollTop = at("log").scrollHeight;
}

at("sign-in").addEventListener("submit", async (event) => {
  event.preventDefault();
  at("problem").textContent = "";
  try {
    const { user } = await call("POST", "/api/session", { name: at("name").value, password: at("password").value });
    event.target.reset();
    showConversation(user);
  } catch (error) {
    at("problem").textContent = sentence(error);
    at("password").select();
  }
});

at("compose").addEventListener("submit", async (event) => {
  event.preventDefault();
  const box = at("message");
  const text = box.value;
  if (!text.trim()) return;
  // Emptied at once, so that what is typed while the message travels is kept.
  box.value = at("trouble").textContent = "";
  box.focus();
  try {
    await call("POST", "/api/messages", { text });
  } catch (error) {
    if (error.status === 401) return showEntrance();
    box.value ||= text;
    at("trouble").textContent = sentence(error);
  }
});

at("sign-out").addEventListener("click", async () => {
  await call("DELETE", "/api/session").catch(() => {});
  showEntrance();
});

const { user } = await call("GET", "/api/session");
if (user) showConversation(user);
else showEntrance();

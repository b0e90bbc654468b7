// The header of every page: who is signed in, and the search, which is loaded when somebody turns to it.
const find = (id) => document.getElementById(id);
const [input, account] = [find('site-search'), find('site-account')];

/** A page of another site cannot send this header, so the session of the browser counts. */
const ownPage = { 'content-type': 'application/json', 'graphql-require-preflight': 'true' };
const ask = (path, body) => fetch(path, { method: 'POST', headers: ownPage, body: JSON.stringify(body) });

/** @returns the person of the session, undefined without one. */
async function signedInPerson() {
  const session = await (await fetch('/sign-in/session', { cache: 'no-store' })).json();
  if (session.isSignedIn !== true) return undefined;
  const { data } = await (await ask('/graphql', { query: '{ viewer { user { name } } }' })).json();
  return data?.viewer?.user;
}

async function showAccount() {
  const person = await signedInPerson().catch(() => undefined);
  const isKnown = person !== undefined;
  find('site-sign-in').hidden = isKnown || location.pathname === '/sign-in';
  find('site-sign-in').href = `/sign-in?${new URLSearchParams({ next: location.pathname + location.search })}`;
  find('site-sign-out').hidden = !isKnown;
  find('site-person').textContent = person?.name ?? '';
  account.dataset.state = isKnown ? 'signed-in' : 'signed-out';
}

find('site-sign-out').addEventListener('click', async () => {
  const reply = await ask('/sign-out', {}).catch(() => undefined);
  const { logoutUrl } = (await reply?.json().catch(() => undefined)) ?? {};
  // Where a provider began the session, the person signs out there too.
  if (logoutUrl === undefined) location.reload();
  else location.assign(logoutUrl);
});

/** Where letters are text, "/" is one of them. */
const takesText = (element) =>
  element?.closest('input, textarea, select, [contenteditable]:not([contenteditable="false"]), [role="textbox"]') != null;

document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || takesText(event.target)) return;
  event.preventDefault();
  input.focus();
  input.select();
});

input.addEventListener('focus', async () => (await import('./search.js')).startSearch(), { once: true });

/** A long list of pages begins at the open one. */
function showCurrentPage() {
  const list = document.querySelector('.groups .fold > div');
  const current = list?.querySelector('[aria-current]');
  if (current != null) list.scrollTop = current.offsetTop - list.clientHeight / 3;
}

showCurrentPage();
void showAccount();

// The page /sign-in. The secret of a link stands in the fragment, which no server gets; it is taken out of the address at once.
const parts = new Map(new URLSearchParams(location.hash.slice(1)));
if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search);

const find = (id) => document.getElementById(id);
const sections = ['by-link', 'signed-in', 'no-way'];

/** Where the visitor goes then: an address of this service, else GraphiQL. */
function nextAddress() {
  const wanted = new URLSearchParams(location.search).get('next');
  if (wanted === null || !wanted.startsWith('/')) return '/graphql';
  // Browsers read "//host" and "/\host" as another host, and the path of "/.//host" is "//host": so the whole address is kept.
  const url = new URL(wanted, location.origin);
  return url.origin === location.origin ? url.href : '/graphql';
}

function show(section) {
  for (const id of sections) find(id).hidden = id !== section;
}

function tell(message) {
  find('problem').textContent = message;
  find('problem').hidden = message === '';
}

/** Calls the service. @throws Error with words for the visitor */
async function call(path, body) {
  const reply = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'graphql-require-preflight': 'true' },
    body: JSON.stringify(body),
  }).catch(() => {
    throw new Error('The service does not answer. Try again.');
  });
  const answer = await reply.json().catch(() => ({}));
  if (!reply.ok) throw new Error(answer.error?.message ?? `The service answered with status ${reply.status}.`);
  return answer;
}

/** @param refused  what is shown after a refusal. */
async function signIn(path, body, button, refused) {
  tell('');
  button.disabled = true;
  try {
    await call(path, body);
    location.replace(nextAddress());
  } catch (error) {
    button.disabled = false;
    show(refused);
    tell(error.message);
  }
}

find('use-link').addEventListener('click', () =>
  signIn('/sign-in/link', { link: parts.get('link') }, find('use-link'), 'no-way'),
);
find('sign-out').addEventListener('click', async () => {
  try {
    await call('/sign-out', {});
    show('no-way');
  } catch (error) {
    tell(error.message);
  }
});

find('go-on').href = nextAddress();
if (parts.has('link')) show('by-link');
else {
  const reply = await fetch('/sign-in/session', { cache: 'no-store' }).catch(() => undefined);
  const session = await reply?.json().catch(() => undefined);
  show(session?.isSignedIn === true ? 'signed-in' : 'no-way');
}

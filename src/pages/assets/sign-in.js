// The page /sign-in. The secret of a link stands in the fragment, which no server gets; it is taken out of the address at once.
const parts = new Map(new URLSearchParams(location.hash.slice(1)));
if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search);

const find = (id) => document.getElementById(id);
const sections = ['by-link', 'set-password', 'signed-in', 'by-password'];

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
  if (!reply.ok)
    throw new Error(answer.error?.message ?? answer.errors?.[0]?.message ?? `The service answered with status ${reply.status}.`);
  return answer;
}

/** What the service answers to a document. @throws Error with words for the visitor */
async function ask(query, variables = {}) {
  const { data, errors = [] } = await call('/graphql', { query, variables });
  if (errors.length > 0) throw new Error(errors[0].message);
  return data;
}

const goOn = () => location.replace(nextAddress());

/** Does the work of a button: it waits, and a refusal is told. */
async function press(button, work) {
  tell('');
  button.disabled = true;
  try {
    await work();
  } catch (error) {
    tell(error.message);
  } finally {
    button.disabled = false;
  }
}

/** After a link: who has no password yet may choose one. */
async function offerPassword() {
  // With SIGN_IN=oidc there are no passwords.
  if (find('use-password') === null) return goOn();
  const { viewer } = await ask('{ viewer { hasPassword user { email } } }').catch(() => ({ viewer: { hasPassword: true } }));
  if (viewer.hasPassword) return goOn();
  find('own-email').value = viewer.user.email;
  show('set-password');
  find('new-password').focus();
}

find('use-link').addEventListener('click', () =>
  press(find('use-link'), async () => {
    try {
      await call('/sign-in/link', { link: parts.get('link') });
    } catch (error) {
      show('by-password');
      throw error;
    }
    await offerPassword();
  }),
);
find('by-password').addEventListener('submit', (event) => {
  event.preventDefault();
  void press(find('use-password'), async () => {
    await call('/sign-in/password', { email: find('email').value, password: find('password').value });
    goOn();
  });
});
find('set-password').addEventListener('submit', (event) => {
  event.preventDefault();
  void press(find('save-password'), async () => {
    const input = { new: find('new-password').value };
    await ask('mutation ($input: SetPasswordInput!) { setPassword(input: $input) { hasPassword } }', { input });
    goOn();
  });
});
find('sign-out').addEventListener('click', () =>
  press(find('sign-out'), async () => {
    const { logoutUrl } = await call('/sign-out', {});
    // Where a provider began the session, the person signs out there too.
    if (logoutUrl === undefined) show('by-password');
    else location.assign(logoutUrl);
  }),
);

const wanted = new URLSearchParams(location.search).get('next');
for (const link of document.querySelectorAll('.provider')) {
  if (wanted !== null) link.search = new URLSearchParams({ next: wanted });
}
for (const link of document.querySelectorAll('.go-on')) link.href = nextAddress();
if (parts.has('link')) show('by-link');
else {
  const reply = await fetch('/sign-in/session', { cache: 'no-store' }).catch(() => undefined);
  const session = await reply?.json().catch(() => undefined);
  show(session?.isSignedIn === true ? 'signed-in' : 'by-password');
}

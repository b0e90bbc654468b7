// The page /sign-in. The secret of a link stands in the fragment, which no server gets; it is taken out of the address at once.
const parts = new Map(new URLSearchParams(location.hash.slice(1)));
if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search);

const find = (id) => document.getElementById(id);
/** The parts of the page, with their headings: one is shown. */
const sections = {
  'by-link': 'Sign in',
  'by-invitation': 'Invitation',
  'set-password': 'Signed in',
  'signed-in': 'Signed in',
  'by-password': 'Sign in',
};

/** Where the visitor goes then: an address of this service, else the console. */
function nextAddress() {
  const wanted = new URLSearchParams(location.search).get('next');
  if (wanted === null || !wanted.startsWith('/')) return '/';
  // Browsers read "//host" and "/\host" as another host, and the path of "/.//host" is "//host": so the whole address is kept.
  const url = new URL(wanted, location.origin);
  return url.origin === location.origin ? url.href : '/';
}

function show(section) {
  for (const id of Object.keys(sections)) find(id).hidden = id !== section;
  find('heading').textContent = sections[section];
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

/** Passkeys are bound to one name of the service: shows their buttons where the page has that name and the browser can. @returns whether it did. */
async function offerPasskeys() {
  const { passkeyHost } = await status();
  const canUse = passkeyHost === location.hostname && window.PublicKeyCredential?.parseRequestOptionsFromJSON !== undefined;
  // With SIGN_IN=oidc the page lacks the first.
  for (const id of ['use-passkey', 'add-passkey']) find(id)?.toggleAttribute('hidden', !canUse);
  return canUse;
}

async function status() {
  const reply = await fetch('/sign-in/session', { cache: 'no-store' }).catch(() => undefined);
  return (await reply?.json().catch(() => undefined)) ?? {};
}

/** What the device of the person makes or signs. @throws Error with words for the visitor */
async function askDevice(work) {
  try {
    return (await work()).toJSON();
  } catch (error) {
    if (error.name === 'InvalidStateError') throw new Error('This device has a passkey of yours already.');
    throw new Error('The passkey was not used. Try again, or sign in another way.');
  }
}

/** After a link: who has no password yet may choose one. */
async function offerPassword() {
  // With SIGN_IN=oidc there are no passwords.
  if (find('use-password') === null) return goOn();
  const { viewer } = await ask('{ viewer { hasPassword passkeys(first: 1) { nodes { id } } user { email } } }').catch(() => ({
    viewer: { hasPassword: true },
  }));
  if (viewer.hasPassword || viewer.passkeys.nodes.length > 0) return goOn();
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
find('use-passkey')?.addEventListener('click', () =>
  press(find('use-passkey'), async () => {
    const options = await call('/sign-in/passkey/options', {});
    const credential = await askDevice(() =>
      navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }),
    );
    await call('/sign-in/passkey', { credential });
    goOn();
  }),
);
/** Has the device make a passkey for the person who is signed in, and goes on. */
async function addPasskey() {
  const { beginPasskey } = await ask('mutation { beginPasskey { options } }');
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(JSON.parse(beginPasskey.options));
  const credential = await askDevice(() => navigator.credentials.create({ publicKey }));
  const input = { name: 'My passkey', response: JSON.stringify(credential) };
  await ask('mutation ($input: AddPasskeyInput!) { addPasskey(input: $input) { id } }', { input });
  goOn();
}

find('add-passkey').addEventListener('click', () => press(find('add-passkey'), addPasskey));
find('set-password').addEventListener('submit', (event) => {
  event.preventDefault();
  void press(find('save-password'), async () => {
    const input = { new: find('new-password').value };
    await ask('mutation ($input: SetPasswordInput!) { setPassword(input: $input) { hasPassword } }', { input });
    goOn();
  });
});
/** What the person gives to accept: nothing is asked twice of who has an account. */
async function showInvitation() {
  const { email, organization, needs } = await call('/sign-in/invitation/show', { invitation: parts.get('invitation') });
  find('invited-to').textContent = organization;
  find('invited-email').value = email;
  const isNew = needs === 'NAME';
  const hasPassword = isNew || needs === 'PASSWORD';
  find('invited-name-part').hidden = !isNew;
  find('invited-name').required = isNew;
  find('invited-password-part').hidden = !hasPassword;
  find('invited-password').required = hasPassword;
  find('invited-password').minLength = isNew ? 12 : 1;
  find('invited-password').autocomplete = isNew ? 'new-password' : 'current-password';
  find('invited-password-label').textContent = isNew ? 'New password' : 'Password of your account';
  find('invited-password-hint').textContent = isNew ? 'At least 12 characters.' : 'You have an account with this address.';
  find('invited-sign-in').hidden = needs !== 'SIGN_IN';
  find('accept').hidden = needs === 'SIGN_IN';
  find('accept-by-passkey').hidden = !(isNew && (await passkeysOffered));
  show('by-invitation');
}

find('by-invitation').addEventListener('submit', (event) => {
  event.preventDefault();
  void press(find('accept'), async () => {
    const given = (id) => (find(id).required ? find(id).value : undefined);
    await call('/sign-in/invitation', {
      invitation: parts.get('invitation'),
      name: given('invited-name'),
      password: given('invited-password'),
    });
    goOn();
  });
});
find('accept-by-passkey').addEventListener('click', () =>
  press(find('accept-by-passkey'), async () => {
    if (!find('invited-name').reportValidity()) return;
    await call('/sign-in/invitation', { invitation: parts.get('invitation'), name: find('invited-name').value });
    // Where the device fails, the person is a member nevertheless: tries again, or sets a password.
    find('own-email').value = find('invited-email').value;
    show('set-password');
    await addPasskey();
  }),
);
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
/** Where the visit begins without a link or an invitation that can be used. */
async function begin() {
  show((await status()).isSignedIn === true ? 'signed-in' : 'by-password');
}

const passkeysOffered = offerPasskeys();
if (parts.has('link')) show('by-link');
else if (parts.has('invitation')) {
  await showInvitation().catch(async (error) => {
    await begin();
    tell(error.message);
  });
} else await begin();

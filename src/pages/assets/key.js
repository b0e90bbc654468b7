// The key field of GraphiQL and the reference. The browser forgets the key when its tab ends (sessionStorage). GraphiQL also works without a key where the
// browser is signed in.
(() => {
  const storageName = 'parley.key';
  const plainFetch = window.fetch.bind(window);
  const page = document.currentScript.dataset.page;
  /** Called with the key whenever there is another one, and with null when it is forgotten. */
  const listeners = [];
  /** Requests for the schema that wait for the first key. */
  let waiting = [];
  let key = null;
  let isSignedIn = false;

  const bar = document.createElement('form');
  bar.className = 'key-bar';
  bar.innerHTML = `<label for="key">API key</label>
<input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="pk_…" aria-describedby="key-status">
<button type="submit" id="key-use">Use key</button>
<button type="button" id="key-forget" hidden>Forget key</button>
<p id="key-status" role="status"></p>`;
  document.currentScript.before(bar);
  const [input, forget, status] = ['key', 'key-forget', 'key-status'].map((id) => document.getElementById(id));

  const asked = {
    graphql: 'Enter a key, or sign in: the schema is shown to callers only. The key stays in this tab until you close it.',
    reference: 'Enter a key to try operations. The key stays in this tab until you close it.',
  }[page];

  function say(text, isProblem = false) {
    status.textContent = text;
    status.classList.toggle('key-problem', isProblem);
  }

  /** What a request is sent with: the key, or for the session the header that no other site can send. */
  const credentials = (candidate) =>
    candidate === null ? { 'graphql-require-preflight': 'true' } : { authorization: `Bearer ${candidate}` };

  /** Who the key, or without one the session, belongs to. @throws Error with the words for the user */
  async function ownerOf(candidate) {
    // Other characters cannot stand in a header.
    if (candidate !== null && !/^[\x21-\x7e]+$/.test(candidate))
      throw new Error('A key has neither spaces nor special characters.');
    const reply = await plainFetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...credentials(candidate) },
      body: JSON.stringify({ query: '{ viewer { user { name } organization { name } } }' }),
    }).catch(() => {
      throw new Error('The service does not answer. Try again.');
    });
    if (reply.status === 401) throw new Error('The service does not know this key, or it has expired.');
    const body = await reply.json().catch(() => ({}));
    if (body.data?.viewer == null)
      throw new Error(body.errors?.[0]?.message ?? `The service answered with status ${reply.status}.`);
    return body.data.viewer;
  }

  async function use(candidate) {
    say('Checking the key …');
    try {
      const { user, organization } = await ownerOf(candidate);
      const isOther = key !== null && key !== candidate;
      key = candidate;
      sessionStorage.setItem(storageName, key);
      input.value = '';
      input.placeholder = 'another key';
      forget.hidden = false;
      say(`Requests use the key of ${user.name}, ${organization.name}.`);
      // The schema that is shown was made for the other key.
      if (isOther && page === 'graphql') return location.reload();
      begin();
      for (const listener of listeners) listener(key);
    } catch (error) {
      say(error.message, true);
    }
  }

  function begin() {
    for (const send of waiting) send();
    waiting = [];
  }

  /** Works with the session of the browser, if it has one. */
  async function useSession() {
    const reply = await plainFetch('/sign-in/session', { cache: 'no-store' }).catch(() => undefined);
    const session = await reply?.json().catch(() => undefined);
    if (session?.isSignedIn !== true) return offerSignIn();
    try {
      const { user, organization } = await ownerOf(null);
      isSignedIn = true;
      say(`You are signed in as ${user.name}, ${organization.name}.`);
      begin();
    } catch (error) {
      say(error.message, true);
    }
  }

  function offerSignIn() {
    say(asked);
    const link = document.createElement('a');
    link.href = '/sign-in?next=/graphql';
    link.textContent = 'Sign in';
    status.append(' ', link);
  }

  const problem = (message) =>
    new Response(JSON.stringify({ errors: [{ message }] }), { headers: { 'content-type': 'application/json' } });

  /** GraphiQL asks through here: its requests get the key, unless its headers name another. The header of the page asks for the session. */
  window.fetch = async (resource, options = {}) => {
    const headers = new Headers(options.headers);
    const isOwn = new URL(resource.url ?? resource, location.href).pathname.startsWith('/graphql');
    const hasCredentials = ['authorization', 'graphql-require-preflight'].some((name) => headers.has(name));
    if (page !== 'graphql' || !isOwn || hasCredentials) return plainFetch(resource, options);
    if (key === null && !isSignedIn) {
      if (!String(options.body ?? resource).includes('__schema')) {
        input.focus();
        return problem('Enter a key at the top of the page, or sign in, then run this again.');
      }
      await new Promise((send) => waiting.push(send));
    }
    for (const [name, value] of Object.entries(credentials(key))) headers.set(name, value);
    return plainFetch(resource, { ...options, headers });
  };

  window.onKey = (listener) => {
    listeners.push(listener);
    if (key !== null) listener(key);
  };

  bar.addEventListener('submit', (event) => {
    event.preventDefault();
    const candidate = input.value.trim();
    if (candidate === '') input.focus();
    else void use(candidate);
  });
  forget.addEventListener('click', () => {
    sessionStorage.removeItem(storageName);
    location.reload();
  });

  /**
   * GraphiQL stores its tabs, and apart from them the texts that were shown last, which it writes at the first edit only. Where no stored tab has
   * these texts, it opens an empty one beside the others.
   */
  function matchShownTexts() {
    try {
      const { tabs, activeTabIndex } = JSON.parse(localStorage.getItem('graphiql:tabState') ?? '{}');
      const shown = tabs?.[activeTabIndex];
      if (shown === undefined) return;
      for (const part of ['query', 'variables']) {
        if (shown[part] == null) localStorage.removeItem(`graphiql:${part}`);
        else localStorage.setItem(`graphiql:${part}`, shown[part]);
      }
    } catch {
      // Stored by another version: GraphiQL begins anew.
    }
  }
  if (page === 'graphql') matchShownTexts();

  const stored = sessionStorage.getItem(storageName);
  if (stored !== null) void use(stored);
  else if (page === 'graphql') void useSession();
  else say(asked);
})();

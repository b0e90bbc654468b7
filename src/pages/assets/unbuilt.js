// The page that stands in for the console until it is built. A reload keeps the fragment of the address, which may be a link that signs in.
const pauseMs = 2_000;

setTimeout(async function look() {
  const reply = await fetch(location.pathname, { cache: 'no-store', headers: { accept: 'text/html' } }).catch(() => undefined);
  if (reply?.ok === true) location.reload();
  else setTimeout(look, pauseMs);
}, pauseMs);

const refreshMs = 10_000;
const timeoutMs = 5_000;
const status = document.getElementById('status');
const statusText = document.getElementById('status-text');
const copied = document.getElementById('copied');

/** Why /readyz says that the service is not available. */
const reasons = {
  database: 'Its database does not answer.',
  storage_full: 'Its storage is full.',
  signals: 'It does not hear of the changes of other instances.',
};

function show(state, text) {
  status.dataset.state = state;
  // A text that stays the same is not read out again.
  if (statusText.textContent !== text) statusText.textContent = text;
}

async function readStatus() {
  try {
    const reply = await fetch('/readyz', { cache: 'no-store', signal: AbortSignal.timeout(timeoutMs) });
    const body = await reply.json();
    if (body.status === 'stopping') show('down', 'The service is stopping.');
    else if (!reply.ok) show('down', `The service is not available. ${reasons[body.reason] ?? ''}`.trim());
    else if (body.degraded !== undefined) show('slow', 'The service is ready, but works more slowly than usual.');
    else show('ready', 'The service is ready.');
  } catch {
    show('down', 'The service does not answer.');
  }
}

async function keepReading() {
  if (!document.hidden) await readStatus();
  setTimeout(keepReading, refreshMs);
}

async function copy(pre) {
  // Browsers have a clipboard on https and on this machine only.
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(pre.textContent);
  getSelection().selectAllChildren(pre);
  if (!document.execCommand('copy')) throw new Error('the browser does not copy');
}

for (const place of document.querySelectorAll('[data-address]')) place.textContent = location.origin;

for (const button of document.querySelectorAll('[data-copy]')) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    try {
      await copy(document.getElementById(button.dataset.copy));
      button.textContent = 'Copied';
      copied.textContent = 'Copied.';
    } catch {
      button.textContent = 'Select and copy it';
    }
    setTimeout(() => {
      button.textContent = 'Copy';
      copied.textContent = '';
    }, 3_000);
  });
}

document.addEventListener('visibilitychange', () => void (document.hidden || readStatus()));
void keepReading();

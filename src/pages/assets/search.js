// The search of the header, over parts of the manual and operations. Loaded with its index when somebody turns to the field.
const [input, list, status] = ['site-search', 'site-results', 'site-found'].map((id) => document.getElementById(id));
const kinds = { manual: 'Manual', rest: 'REST', graphql: 'GraphQL' };
const shownMax = 6;
const excerptCharacters = 110;

/** The entries with their words in small letters; undefined until they arrive. */
let entries;
/** Which result the arrow keys have reached; -1 for none. */
let active = -1;

export async function startSearch() {
  input.addEventListener('input', show);
  input.addEventListener('focus', show);
  input.addEventListener('keydown', press);
  document.addEventListener('pointerdown', (event) => {
    if (!input.parentElement.contains(event.target)) close();
  });
  input.parentElement.addEventListener('focusout', (event) => {
    if (event.relatedTarget !== null && !input.parentElement.contains(event.relatedTarget)) close();
  });
  try {
    const reply = await fetch('/pages/search.json');
    const found = await reply.json();
    entries = found.map((entry) => ({
      ...entry,
      names: spaced(entry.title).toLowerCase(),
      details: entry.detail.toLowerCase(),
      words: entry.text.toLowerCase(),
    }));
  } catch {
    status.textContent = 'The search does not answer.';
    return;
  }
  show();
}

/** `createAgent` is found by "agent" as a word of its own. */
const spaced = (title) => `${title} ${title.replace(/([a-z])([A-Z])/g, '$1 $2')}`;

/** How well an entry answers the words: 0 when one of them is nowhere in it. */
function scoreOf(entry, words) {
  let score = 0;
  for (const word of words) {
    const place = entry.names.indexOf(word);
    if (place === 0) score += 12;
    else if (place > 0) score += /\W/.test(entry.names[place - 1]) ? 8 : 4;
    else if (entry.details.includes(word)) score += 3;
    else if (entry.words.includes(word)) score += 1;
    else return 0;
  }
  // Of equal answers a whole page says more than a part, the shorter title more than the longer, and guides come before decisions.
  const isDecision = entry.address.startsWith('/manual/docs/decisions/');
  const isPage = entry.kind === 'manual' && !entry.address.includes('#');
  return score - Math.min(entry.title.length, 90) / 100 - (isDecision ? 3 : 0) + (isPage ? 2 : 0);
}

function show() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (entries === undefined || words.length === 0) return close();
  const found = entries
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .map(({ entry }) => entry);
  // The group with the best answer comes first.
  const groups = [...new Set(found.map(({ kind }) => kind))].map((kind) => ({
    kind,
    all: found.filter((entry) => entry.kind === kind),
  }));
  list.replaceChildren(...groups.map(({ kind, all }) => groupOf(kind, all, words)));
  if (groups.length === 0) list.append(element('p', 'site-none', `Nothing found for “${input.value.trim()}”.`));
  for (const [index, option] of options().entries()) option.id = `site-result-${index}`;
  status.textContent = found.length === 1 ? '1 result' : `${found.length} results`;
  list.hidden = false;
  input.setAttribute('aria-expanded', 'true');
  reach(groups.length === 0 ? -1 : 0);
}

function close() {
  list.hidden = true;
  list.replaceChildren();
  input.setAttribute('aria-expanded', 'false');
  reach(-1);
}

const options = () => [...list.querySelectorAll('[role="option"]')];

function groupOf(kind, all, words) {
  const group = element('div', 'site-group');
  group.setAttribute('role', 'group');
  group.setAttribute('aria-label', kinds[kind]);
  const head = element('p', 'site-kind', kinds[kind]);
  head.setAttribute('aria-hidden', 'true');
  if (all.length > shownMax) head.append(element('span', '', `${shownMax} of ${all.length}`));
  group.append(head, ...all.slice(0, shownMax).map((entry) => optionOf(entry, words)));
  return group;
}

function optionOf(entry, words) {
  const option = element('a', 'site-result');
  option.setAttribute('role', 'option');
  option.setAttribute('aria-selected', 'false');
  option.tabIndex = -1;
  option.href = entry.address;
  const title = element('span', entry.kind === 'manual' ? 'site-title' : 'site-title site-code');
  title.append(...marked(entry.title, words));
  const detail = element('span', 'site-detail');
  const isInText = words.some((word) => !entry.names.includes(word) && !entry.details.includes(word));
  const excerpt = isInText && entry.kind === 'manual' ? ` · ${excerptOf(entry, words)}` : '';
  detail.append(...marked(cut(`${entry.detail}${excerpt}`), words));
  option.append(title, detail);
  return option;
}

/** The text around the first word that is found there. */
function excerptOf({ text, words: lower }, words) {
  const place = Math.min(...words.map((word) => lower.indexOf(word)).filter((index) => index >= 0));
  const begin = Math.max(0, place - 30);
  return `${begin > 0 ? '… ' : ''}${text.slice(begin, begin + excerptCharacters)}`;
}

const cut = (text) => (text.length > 160 ? `${text.slice(0, 158)} …` : text);

/** The text with the words in it marked, as nodes: never as HTML. */
function marked(text, words) {
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')).join('|')})`, 'gi');
  return text.split(pattern).map((part, index) => (index % 2 === 1 ? element('mark', '', part) : part));
}

function element(name, className, text) {
  const made = document.createElement(name);
  if (className !== '') made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function reach(index) {
  active = index;
  for (const [place, option] of options().entries()) option.setAttribute('aria-selected', String(place === index));
  const option = options()[index];
  if (option === undefined) input.removeAttribute('aria-activedescendant');
  else {
    input.setAttribute('aria-activedescendant', option.id);
    option.scrollIntoView({ block: 'nearest' });
  }
}

function press(event) {
  // The key belongs to an input method; Safari says so by the code alone.
  if (event.isComposing || event.keyCode === 229) return;
  const count = options().length;
  if (event.key === 'Escape') {
    if (list.hidden) input.blur();
    close();
  } else if (event.key === 'ArrowDown' && list.hidden) show();
  else if (count === 0) return;
  else if (event.key === 'ArrowDown') reach((active + 1) % count);
  else if (event.key === 'ArrowUp') reach((active - 1 + count) % count);
  else if (event.key === 'Enter') options()[active]?.click();
  else return;
  event.preventDefault();
}

// A result may be a part of the page that is open.
list.addEventListener('click', (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  close();
  input.blur();
});

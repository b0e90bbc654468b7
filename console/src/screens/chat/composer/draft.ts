const prefix = 'parley.draft.';
const keptAfterMs = 300;

/** What was written in the box of a chat and not sent; it stays in this browser. */
export function readDraft(place: string): string {
  return localStorage.getItem(prefix + place) ?? '';
}

let timer: ReturnType<typeof setTimeout> | undefined;
let unkept: { readonly place: string; readonly text: string } | undefined;

/** Keeps a draft soon. */
export function keepDraft(place: string, text: string): void {
  if (unkept !== undefined && unkept.place !== place) keepNow();
  unkept = { place, text };
  clearTimeout(timer);
  timer = setTimeout(keepNow, keptAfterMs);
}

export function keepNow(): void {
  clearTimeout(timer);
  if (unkept === undefined) return;
  const { place, text } = unkept;
  unkept = undefined;
  try {
    if (text === '') localStorage.removeItem(prefix + place);
    else localStorage.setItem(prefix + place, text);
  } catch {
    // The storage of the browser is full: the draft stays in the box.
  }
}

addEventListener('pagehide', keepNow);

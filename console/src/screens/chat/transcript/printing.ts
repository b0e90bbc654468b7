import { useEffect, useState } from 'react';
import { flushSync } from 'react-dom';
import type { Transcript } from './transcript.ts';

const pageSize = 100;

/** Prints a chat, with all that was said before what is loaded. */
export async function printChat(transcript: Transcript): Promise<void> {
  await loadAll(transcript);
  print();
}

/** Whether all rows are to be drawn, because the page is being printed: a virtual list would print what is on the screen. */
export function usePrinting(transcript: Transcript): boolean {
  const [isPrinted, setPrinted] = useState(false);
  useEffect(() => {
    const media = matchMedia('print');
    // The browser prints what stands there when this returns.
    const show = () => flushSync(() => setPrinted(media.matches));
    const onChange = () => {
      show();
      if (media.matches) void loadAll(transcript);
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'p' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
      if (!transcript.getSnapshot().hasEarlier) return;
      event.preventDefault();
      void printChat(transcript);
    };
    media.addEventListener('change', onChange);
    addEventListener('keydown', onKey);
    return () => {
      media.removeEventListener('change', onChange);
      removeEventListener('keydown', onKey);
    };
  }, [transcript]);
  return isPrinted;
}

/** Loads what was said before the first message that is there. It ends where a page does not come. */
async function loadAll(transcript: Transcript): Promise<void> {
  for (;;) {
    const before = transcript.getSnapshot();
    if (!before.hasEarlier || before.isLoadingEarlier) return;
    await transcript.loadEarlier(pageSize);
    if (transcript.getSnapshot().error !== undefined) return;
  }
}

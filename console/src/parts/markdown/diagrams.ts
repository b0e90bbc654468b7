/** What a diagram became: a picture, or why it is none. */
export type Drawing = { readonly svg: string } | { readonly fault: string };

interface Answer {
  readonly isReady?: boolean;
  readonly id?: number;
  readonly svg?: string;
  readonly fault?: string;
}

const drawTimeoutMs = 20_000;
const pending = new Map<number, (drawing: Drawing) => void>();
let frame: HTMLIFrameElement | undefined;
let whenReady: Promise<HTMLIFrameElement> | undefined;
let lastId = 0;

/** Draws a diagram of Mermaid in a frame that has no origin: it reaches nothing of this page, and asks nobody. The frame stays for the next one. */
export async function drawDiagram(source: string, isDark: boolean): Promise<Drawing> {
  lastId += 1;
  const id = lastId;
  const { promise, resolve } = Promise.withResolvers<Drawing>();
  pending.set(id, resolve);
  const timer = setTimeout(() => giveUp(id), drawTimeoutMs);
  whenReady ??= openFrame();
  // One that is not ready in time is never ready.
  void whenReady.then(({ contentWindow }) => contentWindow?.postMessage({ id, source, isDark }, '*'));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    pending.delete(id);
  }
}

function openFrame(): Promise<HTMLIFrameElement> {
  const { promise, resolve } = Promise.withResolvers<HTMLIFrameElement>();
  const element = document.createElement('iframe');
  element.setAttribute('sandbox', 'allow-scripts');
  element.title = 'Diagrams';
  element.ariaHidden = 'true';
  element.tabIndex = -1;
  // It must have a size, or nothing in it can be measured.
  Object.assign(element.style, {
    position: 'fixed',
    insetInlineStart: '-9999px',
    top: '0',
    width: '1200px',
    height: '900px',
    border: '0',
  });
  addEventListener('message', ({ source, data }: MessageEvent<Answer>) => {
    const inside = element.contentWindow;
    if (inside === null || source !== inside) return;
    if (data.isReady === true) resolve(element);
    else if (typeof data.id === 'number') pending.get(data.id)?.(readAnswer(data));
  });
  element.src = `${import.meta.env.BASE_URL}diagram.html`;
  document.body.append(element);
  frame = element;
  return promise;
}

function readAnswer({ svg, fault }: Answer): Drawing {
  return typeof svg === 'string' ? { svg } : { fault: String(fault) };
}

/** A diagram that takes too long ends with its frame; the next one gets another. */
function giveUp(id: number): void {
  frame?.remove();
  frame = undefined;
  whenReady = undefined;
  pending.get(id)?.({ fault: 'timeout' });
  for (const resolve of pending.values()) resolve({ fault: 'timeout' });
}

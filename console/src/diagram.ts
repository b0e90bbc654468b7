import mermaid from 'mermaid';

/**
 * The frame that draws diagrams. It has an origin of its own, so that it reaches nothing of the console, and its policy lets it ask nobody. It takes
 * `{id, source, isDark}`, and answers `{id, svg}` or `{id, fault}`. The console shows the drawing as a picture, in which nothing runs.
 */
interface Order {
  readonly id: number;
  readonly source: string;
  readonly isDark: boolean;
}

let drawing = Promise.resolve();

addEventListener('message', ({ data, source: asking }: MessageEvent<Order>) => {
  if (asking !== parent) return;
  drawing = drawing.then(() => draw(data)).then((answer) => parent.postMessage({ id: data.id, ...answer }, '*'));
});
parent.postMessage({ isReady: true }, '*');

async function draw({ id, source, isDark }: Order): Promise<{ readonly svg: string } | { readonly fault: string }> {
  try {
    mermaid.initialize({
      startOnLoad: false,
      securityLevel: 'strict',
      suppressErrorRendering: true,
      htmlLabels: false,
      theme: isDark ? 'dark' : 'default',
      layout: 'dagre',
      state: { layout: 'dagre' },
      fontFamily: 'system-ui, sans-serif',
      maxTextSize: 20_000,
      maxEdges: 300,
      deterministicIds: true,
      // What a diagram may not set for itself.
      secure: [
        'secure',
        'securityLevel',
        'startOnLoad',
        'maxTextSize',
        'maxEdges',
        'suppressErrorRendering',
        'htmlLabels',
        'themeCSS',
        'layout',
      ],
    });
    const { svg } = await mermaid.render(`diagram-${id}`, source);
    // An SVG of its own: what stands in it as HTML must be closed.
    const element = new DOMParser().parseFromString(svg, 'text/html').querySelector('svg');
    if (element === null) return { fault: 'There is no drawing.' };
    return { svg: new XMLSerializer().serializeToString(element) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // Behind the first line stand the states of a parser.
    return { fault: message.split('\n', 1)[0]?.replace(/:\s*$/, '') ?? message };
  } finally {
    document.body.replaceChildren();
  }
}

import { frames, type TestClient } from '../client.ts';
import { eventually } from '../processes/eventually.ts';

/** One event of a list that is live. */
export interface ToldChange {
  readonly kind: string;
  readonly id: string;
  readonly cursor?: string;
  // biome-ignore lint/suspicious/noExplicitAny: as the test selects it.
  readonly node?: any;
}

/** A subscription that is open, with what it told until now. */
export interface Followed {
  readonly told: ToldChange[];
  /** The code of the error that it ended with. */
  code: string | undefined;
  isOver: boolean;
  /** Waits until something that fits was told, from the first event on that no call has returned. @returns everything up to it. */
  until(fits: (change: ToldChange) => boolean): Promise<readonly ToldChange[]>;
  /** Waits for the next event. */
  next(): Promise<ToldChange>;
  /** Waits until it is over. */
  over(): Promise<void>;
  stop(): void;
}

/** Opens a subscription of changes; resolves once it is open, so that nothing is missed. */
export async function follow(who: TestClient, field: string, selected = 'kind id'): Promise<Followed> {
  const controller = new AbortController();
  const body = { query: `subscription { ${field} { ${selected} } }` };
  const response = await who.fetch('POST', '/graphql', body, { accept: 'text/event-stream' }, controller.signal);
  if (response.body === null || response.headers.get('content-type')?.startsWith('text/event-stream') !== true)
    throw new Error(`not a stream: ${response.status} ${await response.text()}`);
  const stream = response.body;
  const [name = ''] = field.split('(', 1);
  let place = 0;
  const followed: Followed = {
    told: [],
    code: undefined,
    isOver: false,
    until: (fits) =>
      eventually(() => {
        const index = followed.told.findIndex((change, at) => at >= place && fits(change));
        if (index === -1) throw new Error(`not told: ${JSON.stringify(followed.told.slice(place))} ${followed.code ?? ''}`);
        const found = followed.told.slice(place, index + 1);
        place = index + 1;
        return found;
      }, 20_000),
    next: async () => (await followed.until(() => true))[0] as ToldChange,
    over: () =>
      eventually(() => {
        if (!followed.isOver) throw new Error(`still open: ${JSON.stringify(followed.told)}`);
      }, 20_000),
    stop: () => controller.abort(),
  };
  void (async () => {
    try {
      for await (const { event, data } of frames(stream)) {
        if (event === 'complete') break;
        const { data: result, errors } = JSON.parse(data);
        if (errors === undefined) followed.told.push(result[name]);
        else followed.code = errors[0].extensions?.code;
      }
    } catch {
      // The test stopped it.
    }
    followed.isOver = true;
  })();
  return followed;
}

import { errorOf, type GraphqlResult, ParleyError, resultOf } from './errors.ts';

export interface UploadProgress {
  readonly sentBytes: number;
  /** Of the whole request. */
  readonly totalBytes: number;
}

export interface UploadOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: UploadProgress) => void;
}

/** Where and as whom a form is sent. */
export interface UploadTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
}

/** A request of the GraphQL multipart request specification. */
interface Form {
  readonly type: string;
  readonly parts: readonly (string | Blob)[];
  readonly totalBytes: number;
}

/**
 * Runs a mutation whose variables hold files: a `Blob` or a `File` wherever the schema has the scalar `File`.
 *
 * @throws ParleyError when the service refuses.
 */
export async function upload<Result>(
  target: UploadTarget,
  query: string,
  variables: unknown,
  options: UploadOptions,
): Promise<Result> {
  const form = formOf(query, variables);
  // A form needs a header that shows that its browser has asked whether it may send it.
  const headers = { ...target.headers, 'content-type': form.type, 'graphql-require-preflight': '1' };
  // `fetch` of browsers tells no progress, and takes no stream over HTTP/1.1.
  const isWatchedInBrowser = options.onProgress !== undefined && typeof XMLHttpRequest === 'function';
  const send = isWatchedInBrowser ? sendByXhr : sendByFetch;
  return resultOf<Result>(JSON.parse(await send({ ...target, headers }, form, options)) as GraphqlResult);
}

function formOf(query: string, variables: unknown): Form {
  const files: Blob[] = [];
  const map: Record<string, readonly string[]> = {};
  const withoutFiles = (value: unknown, path: string): unknown => {
    if (value instanceof Blob) {
      map[files.length] = [path];
      files.push(value);
      return null;
    }
    if (Array.isArray(value)) return value.map((item, index) => withoutFiles(item, `${path}.${index}`));
    if (typeof value !== 'object' || value === null || value instanceof Date) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutFiles(member, `${path}.${name}`)]));
  };
  const operations = JSON.stringify({ query, variables: withoutFiles(variables, 'variables') });
  // Pages of an origin that is not secure have no `randomUUID`.
  const boundary = `parley-${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;
  const head = (name: string, more = '') => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`;
  const parts = [
    ...[head('operations'), operations, '\r\n', head('map'), JSON.stringify(map), '\r\n'],
    ...files.flatMap((file, index) => {
      const type = file.type === '' ? 'application/octet-stream' : file.type;
      return [head(String(index), `; filename="${nameOf(file)}"\r\nContent-Type: ${type}`), file, '\r\n'];
    }),
    `--${boundary}--\r\n`,
  ];
  return { type: `multipart/form-data; boundary=${boundary}`, parts, totalBytes: new Blob(parts).size };
}

/** As browsers write it into a form. */
function nameOf(file: Blob): string {
  const name = 'name' in file && typeof file.name === 'string' ? file.name : 'file';
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

async function sendByFetch({ url, headers, fetch: send }: UploadTarget, form: Form, options: UploadOptions): Promise<string> {
  const { signal, onProgress } = options;
  const body = new Blob([...form.parts]);
  const init = { method: 'POST', headers, ...(signal === undefined ? {} : { signal }) };
  const streamed = { body: onProgress === undefined ? body : counted(body, onProgress), duplex: 'half' };
  const reply = await send(url, { ...init, ...streamed } as RequestInit);
  const text = await reply.text();
  if (!reply.ok) throw errorOf({ status: reply.status, header: (name) => reply.headers.get(name) }, text);
  return text;
}

function counted(body: Blob, onProgress: (progress: UploadProgress) => void): ReadableStream<Uint8Array> {
  const totalBytes = body.size;
  let sentBytes = 0;
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      sentBytes += chunk.byteLength;
      controller.enqueue(chunk);
      onProgress({ sentBytes, totalBytes });
    },
  });
  return body.stream().pipeThrough(count as unknown as ReadableWritablePair<Uint8Array, Uint8Array>);
}

function sendByXhr({ url, headers }: UploadTarget, form: Form, { signal, onProgress }: UploadOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const request = new XMLHttpRequest();
    const leave = () => request.abort();
    signal?.addEventListener('abort', leave, { once: true });
    request.open('POST', url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded }) => onProgress?.({ sentBytes: loaded, totalBytes: form.totalBytes });
    request.onload = () => {
      const { status, responseText } = request;
      if (status >= 200 && status < 300) resolve(responseText);
      else reject(errorOf({ status, header: (name) => request.getResponseHeader(name) }, responseText));
    };
    request.onerror = () => reject(new ParleyError('The upload broke off'));
    request.onabort = () => reject(signal?.reason);
    request.onloadend = () => signal?.removeEventListener('abort', leave);
    request.send(new Blob([...form.parts]));
  });
}

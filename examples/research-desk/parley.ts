const { PARLEY_URL = 'http://127.0.0.1:4000', PARLEY_KEY } = process.env;
if (PARLEY_KEY === undefined) throw new Error('PARLEY_KEY is missing: set it to a key of your Parley');

/** One request to the REST API of Parley. @throws Error with what Parley says. */
export async function parley<Reply>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<Reply> {
  const isForm = body instanceof FormData;
  const response = await fetch(PARLEY_URL + path, {
    method,
    headers: { authorization: `Bearer ${PARLEY_KEY}`, ...(isForm ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as Reply;
}

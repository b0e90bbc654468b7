import { TestBrowser } from './browser.ts';

/** A browser that follows redirects between the service and providers, and keeps cookies of each origin. */
export class WalkingBrowser extends TestBrowser {
  readonly #jars = new Map<string, Map<string, string>>();

  /** Of another origin, as a header. */
  cookiesAt(origin: string): string {
    return [...this.#jar(origin)].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** Opens an address of the service and follows. @param stopAt  an address that begins so is returned, not opened. */
  async walk(path: string, stopAt?: string): Promise<{ readonly url: string; readonly status: number; readonly text: string }> {
    let url = new URL(path, this.url).href;
    for (let hops = 0; hops < 20; hops += 1) {
      if (stopAt !== undefined && url.startsWith(stopAt)) return { url, status: 0, text: '' };
      const { origin } = new URL(url);
      const cookie = this.cookiesAt(origin);
      const reply = await fetch(url, { redirect: 'manual', headers: cookie === '' ? {} : { cookie } });
      for (const text of reply.headers.getSetCookie()) this.#keep(origin, text);
      const location = reply.headers.get('location');
      if (location === null) return { url, status: reply.status, text: await reply.text() };
      await reply.body?.cancel();
      url = new URL(location, url).href;
    }
    throw new Error('too many redirects');
  }

  #jar(origin: string): Map<string, string> {
    if (origin === this.url) return this.cookies;
    const jar = this.#jars.get(origin) ?? new Map<string, string>();
    this.#jars.set(origin, jar);
    return jar;
  }

  #keep(origin: string, text: string): void {
    const [pair = '', ...attributes] = text.split(/; */);
    const at = pair.indexOf('=');
    const isGone = attributes.some((attribute) => /^max-age=0$/i.test(attribute) || /^expires=thu, 01 jan 1970/i.test(attribute));
    if (isGone) this.#jar(origin).delete(pair.slice(0, at));
    else this.#jar(origin).set(pair.slice(0, at), pair.slice(at + 1));
  }
}

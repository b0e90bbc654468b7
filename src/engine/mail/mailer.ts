import { isLoopback } from '../../lib/settings/loopback.ts';
import type { Settings } from '../../settings.ts';
import { readHost } from '../egress/allowance.ts';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Sends mail by the server of SMTP_URL, which the operator chose: it may be on a private address. */
export interface Mailer {
  /** @throws the error of the connection or the answer of the server: see `mailProblem`. */
  send(mail: Mail): Promise<void>;
  /** Whether SMTP_URL names a user. */
  readonly hasLogin: boolean;
  /** Connects and signs in with the user of SMTP_URL, also where the server does not offer it, and sends nothing. @throws as `send`. */
  verify(): Promise<void>;
  close(): void;
}

const connectTimeoutMs = 10_000;
const answerTimeoutMs = 30_000;

/** Undefined without SMTP_URL; the library is loaded with it only. */
export async function createMailer({
  SMTP_URL,
  SMTP_FROM,
}: Pick<Settings, 'SMTP_URL' | 'SMTP_FROM'>): Promise<Mailer | undefined> {
  if (SMTP_URL === undefined || SMTP_FROM === undefined) return undefined;
  const { createTransport } = await import('nodemailer');
  const url = new URL(SMTP_URL);
  const { protocol, hostname, port, username, password } = url;
  const isSecure = protocol === 'smtps:';
  const hasLogin = username !== '';
  const options = {
    host: readHost(url),
    port: port === '' ? (isSecure ? 465 : 587) : Number(port),
    secure: isSecure,
    // A password must not cross a network in clear.
    requireTLS: !isSecure && hasLogin && !isLoopback(hostname),
    ...(!hasLogin ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: connectTimeoutMs,
    greetingTimeout: connectTimeoutMs,
    socketTimeout: answerTimeoutMs,
    // Nothing in a mail may name a file of this machine or an address to fetch.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  const transport = createTransport(options);
  return {
    hasLogin,
    async send({ to, ...mail }) {
      // As an object: an address with commas or brackets names nobody else.
      await transport.sendMail({
        ...mail,
        from: SMTP_FROM,
        to: { name: '', address: to },
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
    },
    async verify() {
      // The library leaves the login out where the server does not offer one, and calls that verified.
      const strict = createTransport({ ...options, forceAuth: hasLogin });
      try {
        await strict.verify();
      } finally {
        strict.close();
      }
    },
    close: () => transport.close(),
  };
}

/** Why mail was not sent, for an administrator, and whether another attempt is of no use. */
export function mailProblem(error: unknown): { readonly message: string; readonly isFinal: boolean } {
  const { code, responseCode, response } = (error ?? {}) as Readonly<Record<string, unknown>>;
  if (code === 'EAUTH' && typeof responseCode === 'number' && responseCode >= 500 && responseCode < 505) {
    return { message: 'The mail server takes no user and password, and SMTP_URL names both.', isFinal: false };
  }
  if (code === 'EAUTH') return { message: 'The mail server refuses the user or the password of SMTP_URL.', isFinal: false };
  if (typeof response === 'string' && typeof responseCode === 'number') {
    const replyText = response.replaceAll(/[\p{Cc}\s]+/gu, ' ').slice(0, answerCharsMax);
    return { message: `The mail server answered: ${replyText}`, isFinal: responseCode >= 500 };
  }
  if (code === 'ETLS') return { message: 'The mail server offers no TLS that can be trusted; see SMTP_URL.', isFinal: false };
  return {
    message: `The mail server of SMTP_URL cannot be reached (${typeof code === 'string' ? code : 'no answer'}).`,
    isFinal: false,
  };
}

const answerCharsMax = 200;

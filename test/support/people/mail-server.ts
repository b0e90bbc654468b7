import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** As it came: headers and parts. */
  readonly raw: string;
}

/** A mail server on a loopback port. It takes ann with the password "mail secret". */
export class MailServer {
  readonly received: ReceivedMail[] = [];
  /** Answered to the next mails, one each. */
  readonly refusals: { readonly responseCode: number; readonly message: string }[] = [];
  readonly #server: SMTPServer;

  constructor({ offersLogin = true }: { readonly offersLogin?: boolean } = {}) {
    this.#server = new SMTPServer({
      disabledCommands: offersLogin ? ['STARTTLS'] : ['STARTTLS', 'AUTH'],
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) =>
        username === 'ann' && password === 'mail secret' ? done(null, { user: 'ann' }) : done(new Error('No such user')),
      onData: (stream, { envelope }, done) => {
        void text(stream).then((raw) => {
          const refusal = this.refusals.shift();
          if (refusal !== undefined) return done(Object.assign(new Error(refusal.message), refusal));
          const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
          this.received.push({ from, to: envelope.rcptTo.map(({ address }) => address), raw });
          return done();
        });
      },
    });
  }

  async listen(port = 0): Promise<string> {
    const server = this.#server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return `smtp://ann:mail%20secret@127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(resolve));
  }
}

import { createSocket } from 'node:dgram';
import { isIP } from 'node:net';

/** The answer for one name: its addresses; `silent` never answers. An unlisted name does not exist. */
export type DnsAnswer = readonly string[] | 'silent';

export interface DnsQuestion {
  readonly name: string;
  readonly family: 4 | 6;
}

/** A name server on the loopback address, with answers from the test. */
export interface DnsServer {
  /** `address:port`, for EGRESS_DNS_SERVERS. */
  readonly address: string;
  readonly questions: readonly DnsQuestion[];
  answer(by: (question: DnsQuestion) => DnsAnswer | undefined): void;
  close(): Promise<void>;
}

const types = { 1: 4, 28: 6 } as const;

/** @param ttlSeconds  the time to live of every answer. */
export async function startDnsServer(
  answer: (question: DnsQuestion) => DnsAnswer | undefined,
  ttlSeconds = 0,
): Promise<DnsServer> {
  const questions: DnsQuestion[] = [];
  let answerBy = answer;
  const socket = createSocket('udp4');
  socket.on('message', (message, from) => {
    const { name, type, end } = readQuestion(message);
    const family = types[type as keyof typeof types];
    if (family === undefined) return;
    questions.push({ name, family });
    const known = answerBy({ name, family });
    if (known === 'silent') return;
    const addresses = (known ?? []).filter((address) => isIP(address) === family);
    const head = Buffer.alloc(12);
    head.writeUInt16BE(message.readUInt16BE(0), 0);
    head.writeUInt16BE(known === undefined ? 0x8183 : 0x8180, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(addresses.length, 6);
    const records = addresses.map((address) => record(type, address, ttlSeconds));
    socket.send(Buffer.concat([head, message.subarray(12, end), ...records]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    answer(by) {
      answerBy = by;
    },
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function readQuestion(message: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = [];
  let place = 12;
  for (let length = message[place] ?? 0; length > 0; length = message[place] ?? 0) {
    labels.push(message.toString('latin1', place + 1, place + 1 + length));
    place += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(place + 1), end: place + 5 };
}

function record(type: number, address: string, ttlSeconds: number): Buffer {
  const data = type === 1 ? Buffer.from(address.split('.').map(Number)) : sixteenBytes(address);
  const head = Buffer.alloc(12);
  // The name of the question.
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(ttlSeconds, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function sixteenBytes(address: string): Buffer {
  const [head = '', tail] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const after = tail === undefined ? [] : groups(tail);
  const zeros = Array.from({ length: 8 - groups(head).length - after.length }, () => '0');
  return Buffer.from([...groups(head), ...zeros, ...after].map((group) => group.padStart(4, '0')).join(''), 'hex');
}

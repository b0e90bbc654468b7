import { Parser } from 'htmlparser2';
import { ExtractError } from './error.ts';

export type XmlAttributes = Readonly<Record<string, string>>;

/** Receives the parts of an XML document in order. Names come without their prefix: `w:p` is `p`. */
export interface XmlHandler {
  open?(name: string, attributes: XmlAttributes): void;
  close?(name: string): void;
  /** May come in several pieces. */
  text?(text: string): void;
  /** Ends the reading between two pieces of the document. */
  readonly isDone?: boolean;
}

/** Documents of office programs stay below 100. */
const depthMax = 500;

/**
 * Reads XML piece by piece, in the memory of one piece. The parser validates nothing and knows no entities but the five of XML and
 * numbers, so a document type with entities that expand has no effect.
 *
 * @param what  begins the sentences of errors.
 * @throws ExtractError CORRUPT when elements are nested deeper than 500 levels.
 */
export async function readXml(parts: AsyncIterable<Buffer>, handler: XmlHandler, what: string): Promise<void> {
  let depth = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        depth += 1;
        if (depth > depthMax) throw new ExtractError('CORRUPT', `${what} is nested deeper than ${depthMax} levels.`);
        handler.open?.(localName(name), attributes);
      },
      onclosetag(name) {
        depth -= 1;
        handler.close?.(localName(name));
      },
      ontext: (text) => handler.text?.(text),
    },
    { xmlMode: true, decodeEntities: true },
  );
  let decoder: TextDecoder | undefined;
  for await (const part of parts) {
    decoder ??= new TextDecoder(detectCharset(part));
    parser.write(decoder.decode(part, { stream: true }));
    if (handler.isDone === true) return;
  }
  parser.end(decoder?.decode() ?? '');
}

/** An attribute by its name without prefix. The relation of an element (`r:id`) is `relation`. */
export function attribute(attributes: XmlAttributes, name: string): string | undefined {
  const plain = attributes[name];
  if (plain !== undefined) return plain;
  for (const key in attributes) if (key.endsWith(name) && key[key.length - name.length - 1] === ':') return attributes[key];
  return undefined;
}

/** The id of a relation, which always has a prefix, beside which a plain `id` may be given. */
export function relationId(attributes: XmlAttributes): string | undefined {
  for (const key in attributes) if (key.endsWith(':id') || key.endsWith(':embed')) return attributes[key];
  return undefined;
}

function localName(name: string): string {
  const colon = name.indexOf(':');
  return colon === -1 ? name : name.slice(colon + 1);
}

/** XML is UTF-8, unless it begins with the mark of UTF-16, or with `<` in two bytes. */
function detectCharset([first, second]: Uint8Array): string {
  if ((first === 0xff && second === 0xfe) || (first === 0x3c && second === 0)) return 'utf-16le';
  return (first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c) ? 'utf-16be' : 'utf-8';
}

import { readExtension } from '../page/kind.ts';

/** More folders, or a folder more often than this, come from links that are relative to the wrong place. */
const segmentsMax = 20;
const sameSegmentMax = 3;
const shapesMax = 1_000;
/** Pages of one shape that showed nothing new until no more of them are read. */
const fruitlessMax = 5;

/** Addresses of one ending that answered something that is not read, until no more of them are asked for. */
const unwantedMax = 5;

/** Whether an address can only come from a loop of links. */
export function isEndless(address: string): boolean {
  const segments = new URL(address).pathname.split('/').filter((segment) => segment !== '');
  if (segments.length > segmentsMax) return true;
  const counts = new Map<string, number>();
  for (const segment of segments) counts.set(segment, (counts.get(segment) ?? 0) + 1);
  return Math.max(0, ...counts.values()) > sameSegmentMax;
}

/** Addresses that a program makes. */
export interface Shape {
  /** The path with its numbers replaced, and the name of the one parameter that counts pages. Others are not told apart: filters combine them. */
  readonly name: string;
  /** Whether the number of such pages is limited: calendars, and parameters that are no single number. */
  readonly isLimited: boolean;
}

/** @returns undefined for an address that somebody may have written by hand. */
export function findShape(address: string): Shape | undefined {
  const { origin, pathname, search } = new URL(address);
  const path = origin + pathname.replace(/\d+/g, '#');
  const isDate = /\/(?:19|20)\d{2}[-/]\d{1,2}(?:[-/]\d{1,2})?\/?$/.test(pathname);
  if (search === '') return isDate ? { name: path, isLimited: true } : undefined;
  const [, counter] = /^\?([^=&]+)=\d{1,7}$/.exec(search) ?? [];
  const isCounted = counter !== undefined && !isDate && !/year|month|week|day|date/i.test(counter);
  return isCounted ? { name: `${path}?${counter}`, isLimited: false } : { name: `${path}?`, isLimited: true };
}

/** Counts addresses by their shape, so that no program of a site takes the whole crawl. */
export class ShapeCounts {
  readonly #limit: number;
  readonly #counts: Map<string, number>;
  readonly #fruitless = new Map<string, number>();
  /** By origin and ending. */
  readonly #unwanted = new Map<string, number>();

  /** @param limit  addresses of one shape. */
  constructor(limit: number, counts: Readonly<Record<string, number>> = {}) {
    this.#limit = limit;
    this.#counts = new Map(Object.entries(counts));
  }

  /** @returns whether one more address of this shape may be read. */
  admit(address: string): boolean {
    const shape = findShape(address);
    if (shape === undefined) return true;
    if ((this.#fruitless.get(shape.name) ?? 0) >= fruitlessMax) return false;
    if (!shape.isLimited) return true;
    const count = this.#counts.get(shape.name) ?? 0;
    if (count >= this.#limit || (count === 0 && this.#counts.size >= shapesMax)) return false;
    this.#counts.set(shape.name, count + 1);
    return true;
  }

  /** The page showed what another one had shown. */
  addFruitless(address: string): void {
    const shape = findShape(address);
    if (shape === undefined || (!this.#fruitless.has(shape.name) && this.#fruitless.size >= shapesMax)) return;
    this.#fruitless.set(shape.name, (this.#fruitless.get(shape.name) ?? 0) + 1);
  }

  /** The address answered something that is not read, such as an image. */
  addUnwanted(address: string): void {
    const ending = findEnding(address);
    if (ending === undefined || (!this.#unwanted.has(ending) && this.#unwanted.size >= shapesMax)) return;
    this.#unwanted.set(ending, (this.#unwanted.get(ending) ?? 0) + 1);
  }

  /** Whether addresses with its ending answered nothing that is read: an ending alone says nothing. */
  isUnwanted(address: string): boolean {
    return (this.#unwanted.get(findEnding(address) ?? '') ?? 0) >= unwantedMax;
  }

  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }
}

function findEnding(address: string): string | undefined {
  const extension = readExtension(address);
  return extension === '' ? undefined : `${new URL(address).origin} ${extension}`;
}

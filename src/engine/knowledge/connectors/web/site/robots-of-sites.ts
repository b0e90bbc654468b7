import { SourceError } from '../../error.ts';
import { type Robots, readRobots } from './robots.ts';
import type { Visitor } from './visitor.ts';

/** The robots.txt of each origin of one crawl, read when the first page of it is wanted. */
export class RobotsOfSites {
  readonly #visitor: Visitor;
  readonly #backoffMs: number;
  readonly #signal: AbortSignal;
  readonly #sites = new Map<string, Promise<Robots | SourceError>>();

  constructor(visitor: Visitor, backoffMs: number, signal: AbortSignal) {
    this.#visitor = visitor;
    this.#backoffMs = backoffMs;
    this.#signal = signal;
  }

  /** @returns why nothing of the site may be read, where that is so. @throws the signal's reason. */
  of(url: string): Promise<Robots | SourceError> {
    const { origin } = new URL(url);
    const knownRobots = this.#sites.get(origin);
    if (knownRobots !== undefined) return knownRobots;
    const robots = readRobots(this.#visitor, origin, this.#signal, this.#backoffMs).catch((error: unknown) => {
      if (error instanceof SourceError) return error;
      throw error;
    });
    this.#sites.set(origin, robots);
    return robots;
  }
}

import { countable } from '../../entities/operations/usage.ts';
import type { TokenUsage } from '../models/port.ts';
import type { ModelPrice } from '../models/providers/provider.ts';

/**
 * Costs are whole numbers of the millionth part of a millionth of the operator's currency, so that their sums are exact. A price of the
 * models file has at most six decimals that count.
 */
export type Cost = bigint;

const perUnit = 1_000_000_000_000n;
const decimals = 12;

/** What tokens cost. @param price  null: the model has none. @returns null then. */
export function computeCost(price: ModelPrice | null, usage: TokenUsage): Cost | null {
  if (price === null) return null;
  const {
    inputPerMillionTokens: input,
    outputPerMillionTokens: output,
    cachedInputPerMillionTokens: readPrice = input,
    cacheWritePerMillionTokens: writePrice = input,
  } = price;
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens = 0, images = 0, searches = 0 } = usage;
  const read = Math.min(cachedTokens, inputTokens);
  const written = Math.min(cacheWriteTokens, inputTokens - read);
  return (
    part(images * 1_000_000, price.perImage ?? 0) +
    part(searches * 1_000, price.perThousandSearches ?? 0) +
    part(inputTokens - read - written, input) +
    part(read, readPrice) +
    part(written, writePrice) +
    part(outputTokens, output)
  );
}

function part(tokens: number, perMillionTokens: number): Cost {
  return BigInt(countable(tokens)) * BigInt(Math.round(perMillionTokens * 1_000_000));
}

/** The most that one token can cost, in the operator's currency. */
export function costOfDearestToken(price: ModelPrice): number {
  const { inputPerMillionTokens: input, outputPerMillionTokens: output } = price;
  const { cachedInputPerMillionTokens: read = input, cacheWritePerMillionTokens: write = input } = price;
  return Math.max(input, output, read, write) / 1_000_000;
}

/** The sum of costs of which any may be unknown: then it is unknown too. */
export function addCost(sum: Cost | null, cost: Cost | null): Cost | null {
  return sum === null || cost === null ? null : sum + cost;
}

/** As a decimal number: `0.00042`. */
export function toDecimal(cost: Cost): string {
  const digits = (cost % perUnit).toString().padStart(decimals, '0');
  let length = digits.length;
  while (digits[length - 1] === '0') length -= 1;
  return length === 0 ? `${cost / perUnit}` : `${cost / perUnit}.${digits.slice(0, length)}`;
}

/** @param decimal  as `decimalOf` writes it. */
export function costIn(decimal: string): Cost {
  const [whole = '0', fraction = ''] = decimal.split('.');
  return BigInt(whole) * perUnit + BigInt(fraction.padEnd(decimals, '0').slice(0, decimals));
}

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptedUpstream } from '../service.ts';

/** A model that has a price. */
export const pricedModel = 'lab/priced';
/** Of one answer: 1,000 tokens at 0.4 and 500 at 1.6 for a million cost $0.0012. */
export const pricedUsage = { prompt_tokens: 1_000, completion_tokens: 500 };

/** The settings of a service whose default model has a price. */
export async function pricedModelSettings(): Promise<Readonly<Record<string, string>>> {
  const file = join(mkdtempSync(join(tmpdir(), 'parley-models-')), 'models.json');
  const models = [{ name: 'priced', price: { inputPerMillionTokens: 0.4, outputPerMillionTokens: 1.6 } }];
  writeFileSync(file, JSON.stringify({ providers: [{ id: 'lab', baseUrl: (await scriptedUpstream()).url, models }] }));
  return { MODELS_FILE: file, DEFAULT_MODEL: pricedModel, MODEL_RETRIES_MAX: '0' };
}

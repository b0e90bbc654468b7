import { isObject } from '../../../lib/json/json.ts';
import type { ResponseFormat } from '../../models/port.ts';
import { createSchemaCheck, type SchemaCheck } from '../../tools/json-schema/check.ts';

export type JsonFormat = Exclude<ResponseFormat, { readonly type: 'text' }>;

/** A longer schema is not repeated to the model. */
const schemaShownMax = 20_000;

/** Checks answers against the JSON format that their request asks for. */
export class AnswerFormat {
  readonly #format: JsonFormat;
  readonly #check: SchemaCheck;

  constructor(format: JsonFormat) {
    this.#format = format;
    this.#check = format.type === 'json_schema' ? createSchemaCheck(format.schema) : () => undefined;
  }

  /** What is wrong with an answer; ends a sentence: "the answer …". */
  faultOf(text: string): string | undefined {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return text.trim() === '' ? 'is empty' : 'is not JSON';
    }
    if (this.#format.type === 'json_object') {
      return isObject(value) ? undefined : 'is not a JSON object';
    }
    const schemaFault = this.#check(value);
    if (schemaFault === undefined) return undefined;
    const at = schemaFault.value === '' ? '' : ` at ${schemaFault.value.replace(/^\./, '')}`;
    return `${schemaFault.message}${at} (text.format.schema${schemaFault.schema})`;
  }

  askAgain(fault: string): string {
    const format = this.#format;
    const schema = format.type === 'json_schema' ? JSON.stringify(format.schema) : '';
    const wantedForm = schema === '' ? 'one JSON object' : 'one JSON text that fits the schema';
    const schemaText = schema === '' || schema.length > schemaShownMax ? '' : `\nThe schema: ${schema}`;
    return `This answer cannot be used: it ${fault}. Answer again, whole, with ${wantedForm} and nothing before or behind it.${schemaText}`;
  }
}

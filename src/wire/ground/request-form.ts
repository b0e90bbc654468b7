import type { FaultNotes } from '../../entities/ground/fault-notes.ts';
import type { Variables } from './encoder.ts';

/** The body of a request in another format than the input of its operation. */
export interface RequestForm {
  /** The name of its schema in OpenAPI. */
  readonly schema: string;
  /**
   * @param path  the variable parts of the path.
   * @returns undefined when a fault was noted.
   */
  read(body: unknown, faults: FaultNotes, path: Readonly<Record<string, string>>): FormReading | undefined;
}

export interface FormReading {
  /** The input of the operation. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Further variables, for the encoder of the reply. */
  readonly variables: Variables;
  /** Where the body says what the domain calls by this place: `messages[3].content[0]`. */
  toPlace(param: string): string;
}

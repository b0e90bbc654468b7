/** What the patterns of a guard find. `PERSONAL` is what its model finds, `CUSTOM` what its own patterns find. */
export const guardKinds = ['EMAIL', 'PHONE', 'IBAN', 'CARD', 'IP_ADDRESS', 'API_KEY', 'PRIVATE_KEY'] as const;
export type GuardKind = (typeof guardKinds)[number];
export const maskedKinds = [...guardKinds, 'CUSTOM', 'PERSONAL'] as const;
export type MaskedKind = (typeof maskedKinds)[number];

/** A pattern of an organization, or of the author of an agent. */
export interface GuardPattern {
  /** In capital letters: it stands in the text in place of what was found. */
  readonly name: string;
  /** A regular expression of RE2. */
  readonly pattern: string;
  /** Most characters that it finds: a stream holds back little more. */
  readonly lengthMax: number;
}

/** What is masked in the runs of an organization, or of an agent. */
export interface Guard {
  readonly orgId: string;
  /** Null: of the organization. */
  readonly agentId: string | null;
  readonly kinds: readonly GuardKind[];
  readonly patterns: readonly GuardPattern[];
  /** Answers and calls of tools have the values; models never do. */
  readonly putsBack: boolean;
  /** A model that finds names and addresses as well; null: none. */
  readonly modelId: string | null;
  readonly updatedAt: Date;
}

/** How many values of a kind runs have masked. */
export interface GuardCount {
  readonly kind: MaskedKind;
  readonly count: number;
}

/** A guard that masks nothing is none. */
export function isGuarding({ kinds, patterns, modelId }: Pick<Guard, 'kinds' | 'patterns' | 'modelId'>): boolean {
  return kinds.length > 0 || patterns.length > 0 || modelId !== null;
}

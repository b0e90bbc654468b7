import type { ToolType } from '../../../entities/conversations/runs/tool.ts';
import type { Deps } from '../../deps.ts';

/** A tool of the service, as this instance can run it. */
export interface ServiceTool {
  readonly type: ToolType;
  readonly description: string;
  readonly isAvailable: boolean;
  /** The setting that would switch it on; null while it is available. */
  readonly setting: string | null;
  /** Why it is not available; null while it is. */
  readonly reason: string | null;
  /** It stays in chat mode `plan`. */
  readonly isReadOnly: boolean;
  /** The functions that the model sees, as far as they are known before a run. */
  readonly functions: readonly string[];
}

/** The tools of the service, those that need another setting included. */
export async function listTools({ tools }: Deps): Promise<readonly ServiceTool[]> {
  return Promise.all(
    tools.all.map(async (kind) => {
      const lack = kind.unavailable ?? (await kind.probe?.());
      const { type, description, isReadOnly } = kind;
      return {
        ...{ type, description, isReadOnly, isAvailable: lack === undefined },
        ...{ setting: lack?.setting ?? null, reason: lack?.reason ?? null, functions: kind.functionNames({}) },
      };
    }),
  );
}

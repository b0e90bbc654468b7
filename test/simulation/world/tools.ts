import type { ServerTool } from '../../../src/engine/tools/server-tool.ts';
import type { ToolKind } from '../../../src/engine/tools/tool-kind.ts';
import { DomainError } from '../../../src/entities/ground/errors.ts';
import type { Host } from './timeline.ts';

/** What the world outside saw of calls with effects. */
export interface EffectSeen {
  readonly runId: string;
  /** For `Idempotency-Key`. */
  readonly key: string;
  readonly host: string;
  readonly atMs: number;
}

export interface ToolWorld {
  /** A call begins to have its effect. */
  noteEffect(effect: EffectSeen): void;
  nowMs(): number;
  /** How long a call takes. */
  duration(): number;
}

const parameters = { type: 'object', properties: {}, additionalProperties: true };

/** A tool that must not be called twice: as a payment. */
export function effectTool(world: ToolWorld, host: Host): ToolKind {
  return {
    type: 'sandbox',
    isReadOnly: false,
    description: 'Has an effect in the world.',
    functionNames: () => ['effect'],
    open: (_tool, { runId }) => ({ functions: [effectFunction(runId)] }),
  };

  function effectFunction(runId: string): ServerTool {
    return {
      definition: { name: 'effect', description: 'Has an effect.', parameters },
      hint: 'Having an effect',
      ifLost: 'unknown',
      async run(_args, _secrets, signal, _tell, pass) {
        // As every tool with effects does, immediately before its request leaves.
        if (!pass.isFresh()) await pass.renew();
        signal.throwIfAborted();
        world.noteEffect({ runId, key: pass.key, host: host.name, atMs: world.nowMs() });
        await new Promise<void>((resolve) => setTimeout(resolve, world.duration()));
        signal.throwIfAborted();
        return 'done';
      },
    };
  }
}

/** A tool that may be called again. */
export function readerTool(): ToolKind {
  return {
    type: 'spreadsheet',
    isReadOnly: true,
    description: 'Reads.',
    functionNames: () => ['look'],
    open: () => ({
      functions: [
        {
          definition: { name: 'look', description: 'Reads.', parameters },
          hint: 'Reading',
          ifLost: 'repeat',
          async run(_args, _secrets, signal) {
            await new Promise<void>((resolve) => setTimeout(resolve, 30));
            if (signal.aborted) throw new DomainError('UPSTREAM_ERROR', 'stopped');
            return 'read';
          },
        },
      ],
    }),
  };
}

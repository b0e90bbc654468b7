// Loaded before a program, and by its threads: its clock stands still.
const fixedMs = Number(process.env.FIXED_CLOCK_SECONDS) * 1_000;
if (!Number.isFinite(fixedMs) || fixedMs <= 0) throw new Error('FIXED_CLOCK_SECONDS is not set');
Date.now = () => fixedMs;
globalThis.Date = class extends Date {
  constructor(...values) {
    super(...(values.length === 0 ? [fixedMs] : values));
  }
};

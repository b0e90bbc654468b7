import type { NextConfig } from 'next';

// This folder is a project of its own, also inside of another one that has a lockfile.
export default { turbopack: { root: import.meta.dirname } } satisfies NextConfig;

import { resolve } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { printedDocuments } from './printed-documents.ts';

/** Every browser that runs the console reads WOFF2: the other forms of each font are not built. */
const modernFonts: Plugin = {
  name: 'modern-fonts',
  enforce: 'pre',
  transform: (code, id) =>
    /\/katex[^/]*\.css$/.test(id) ? code.replaceAll(/,url\([^)]*\.(?:woff|ttf)\) format\("[^"]*"\)/g, '') : undefined,
};

/** The service reads them: `src/graphql/server/documents/console.ts`. */
const documents: Plugin = {
  name: 'printed-documents',
  generateBundle() {
    this.emitFile({ type: 'asset', fileName: 'documents.json', source: JSON.stringify(printedDocuments()) });
  },
};

/**
 * Builds into `dist/`: `index.html`, which the service fills in and never lets a browser keep, and files with a hash in their names, which browsers
 * keep for ever. `vite` alone serves the sources and asks a running Parley for everything else.
 */
export default defineConfig(({ command }) => ({
  root: import.meta.dirname,
  base: command === 'build' ? '/console/' : '/',
  plugins: [react(), modernFonts, documents],
  resolve: {
    alias: {
      '@parley/client': resolve(import.meta.dirname, '../clients/typescript/src/index.ts'),
      'elkjs/lib/elk.bundled.js': resolve(import.meta.dirname, 'src/no-elk.ts'),
    },
  },
  build: {
    target: 'es2023',
    outDir: 'dist',
    emptyOutDir: true,
    // Inlined files would be data addresses, which the policy of the page refuses.
    assetsInlineLimit: 0,
    // The policy has no `unsafe-inline`: the polyfill would be an inline script, and every browser that runs React 19 preloads modules.
    modulePreload: { polyfill: false },
    manifest: 'manifest.json',
    // The console, and the frame that draws diagrams.
    rollupOptions: { input: ['index.html', 'diagram.html'].map((name) => resolve(import.meta.dirname, name)) },
    sourcemap: false,
    reportCompressedSize: false,
  },
  server: {
    port: 4001,
    proxy: Object.fromEntries(
      ['/graphql', '^/sign-in/', '/sign-out', '/readyz', '/api', '/content', '/favicon.svg', '/pages', '/manual', '/docs'].map(
        (path) => [path, process.env.PARLEY_URL ?? 'http://127.0.0.1:4000'],
      ),
    ),
  },
}));

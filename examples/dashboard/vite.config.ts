import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const { PARLEY_URL = 'http://127.0.0.1:4000', PARLEY_KEY } = process.env;

export default defineConfig(({ command }) => {
  if (command === 'serve' && PARLEY_KEY === undefined) throw new Error('PARLEY_KEY is missing: set it to a key of your Parley');
  return {
    plugins: [react()],
    // A linked package is not prepared for the browser by itself.
    optimizeDeps: { include: ['@parley/client'] },
    // The page talks to this server, which adds the key: the browser never has it.
    server: {
      proxy: { '/graphql': { target: PARLEY_URL, changeOrigin: true, headers: { authorization: `Bearer ${PARLEY_KEY}` } } },
    },
  };
});

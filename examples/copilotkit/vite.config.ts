import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const { PARLEY_URL = 'http://127.0.0.1:4000', PARLEY_KEY, PARLEY_AGENT } = process.env;

export default defineConfig(({ command }) => {
  if (command === 'serve' && (PARLEY_KEY === undefined || PARLEY_AGENT === undefined))
    throw new Error('PARLEY_KEY or PARLEY_AGENT is missing: set them to a key of your Parley and the id of an agent');
  return {
    plugins: [react()],
    // The page talks to this server, which adds the key: the browser never has it.
    server: {
      proxy: {
        '/agent': {
          target: PARLEY_URL,
          changeOrigin: true,
          headers: { authorization: `Bearer ${PARLEY_KEY}` },
          rewrite: () => `/api/v1/ag-ui/${PARLEY_AGENT}`,
        },
      },
    },
  };
});

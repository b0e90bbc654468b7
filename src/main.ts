// For `node src/main.ts`. `npm start` uses main.js itself, because an older Node does not read TypeScript.
import './main.js';

import { createRoot } from 'react-dom/client';
import { App } from './app/App.tsx';
import { guardDrops } from './app/drops.ts';
import { preferredLanguage, showLanguage } from './text/text.ts';
import { showTheme } from './ui/theme.ts';
import './ui/tokens.css';
import './ui/base.css';

showTheme();
guardDrops();
await showLanguage(preferredLanguage());
const place = document.getElementById('app');
if (place === null) throw new Error('The page has no place for the console.');
createRoot(place).render(<App />);

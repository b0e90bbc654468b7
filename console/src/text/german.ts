const catalogs = import.meta.glob<Readonly<Record<string, string>>>(['../**/de.json'], { eager: true, import: 'default' });

/** All messages in German. Each folder that shows text has its catalog `de.json`. */
export const german: Readonly<Record<string, string>> = Object.assign({}, ...Object.values(catalogs));

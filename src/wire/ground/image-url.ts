const webAddress = /^https?:\/\/[^\s/]\S*$/i;
const imageData = /^data:image\/(?<type>[\w.+-]+)(?:;[\w=.-]+)*;base64,[A-Za-z0-9+/=\s]+$/i;
/** What the bytes of an SVG begin with: markup, perhaps behind the mark of an encoding. */
const markup = /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?[\s\0]*</;
const sniffedChars = 400;

/** What to say of an image URL that `kindOfImageUrl` does not know. */
export const imageUrlRule = 'an http(s) URL or a data URL of an image in base64, and no SVG';

/**
 * Tells the two kinds of image URLs apart; undefined for everything else, and for SVG: it is a document that can name further addresses,
 * and its renderer may fetch them.
 */
export function kindOfImageUrl(url: string): 'address' | 'data' | undefined {
  if (webAddress.test(url)) return 'address';
  const type = imageData.exec(url)?.groups?.type;
  return type === undefined || /^svg/i.test(type) || isMarkup(url) ? undefined : 'data';
}

function isMarkup(dataUrl: string): boolean {
  const start = dataUrl.indexOf(',') + 1;
  return markup.test(Buffer.from(dataUrl.slice(start, start + sniffedChars), 'base64').toString('latin1'));
}

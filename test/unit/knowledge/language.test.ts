import { expect, it } from 'vitest';
import { textSearchConfig } from '../../../src/engine/knowledge/index/language.ts';

it.each([
  ['english', 'How long is the warranty on e-bike batteries?'],
  ['german', 'Die Werkstatt ist von Dienstag bis Samstag geöffnet.'],
  ['french', "L'atelier est ouvert du mardi au samedi."],
  ['spanish', 'El taller está abierto de martes a sábado.'],
  ['italian', "L'officina è aperta dal martedì al sabato e non la domenica."],
  ['portuguese', 'A oficina está aberta de terça a sábado, e não aos domingos.'],
  ['dutch', 'De werkplaats is open van dinsdag tot en met zaterdag.'],
  ['swedish', 'Verkstaden är öppen från tisdag till lördag och inte på måndagar.'],
  ['danish', 'Værkstedet er åbent fra tirsdag til lørdag, og ikke om mandagen.'],
  ['norwegian', 'Verkstedet er åpent fra tirsdag til lørdag, men ikke hver mandag når det regner mot kvelden.'],
  ['russian', 'Мастерская открыта со вторника по субботу, но не в понедельник.'],
  ['greek', 'Το εργαστήριο είναι ανοιχτό από την Τρίτη και θα κλείσει το Σάββατο.'],
  ['simple', '车间周二至周六营业。'],
  ['simple', '工房は火曜日から土曜日まで営業しています。'],
  ['simple', '작업장은 화요일부터 문을 엽니다.'],
  ['simple', 'Майстерня відкрита з вівторка до суботи.'],
  ['english', 'Tern X200'],
  ['english', ''],
  ['english', '{"priceEuro": 89, "name": "Full service"}'],
])('%s searches: %s', (config, text) => {
  expect(textSearchConfig(text)).toBe(config);
});

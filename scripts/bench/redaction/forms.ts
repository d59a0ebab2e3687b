import type { RedactionKind } from '../../../src/redaction/kinds.ts'
import * as values from './values.ts'

/** Writes or says a value, in one of the forms in which people do. */
type Form = (random: values.Random) => string

/** Ways of saying values, and sentences in which they stand: `{}` is where. */
export interface Forms {
  values: Record<RedactionKind | 'decoy', readonly Form[]>
  sentences: Record<RedactionKind | 'decoy', readonly string[]>
}

const { americanNumber: phone, cardNumber: card, socialSecurityNumber: ssn, inGroups, inWords } = values
const first = ['john', 'maria', 'wei', 'fatima', 'lucas', 'olga', 'ben', 'aisha', 'tom', 'zoe']
const last = ['smith', 'garcia', 'chen', 'khan', 'silva', 'ivanova', 'cooper', 'okafor', 'meyer', 'rossi']
const domains = ['gmail', 'yahoo', 'outlook', 'example', 'acme', 'brightline']
const name = (random: values.Random) => [values.pick(random, first), values.pick(random, last)] as const
const domain = (random: values.Random) => values.pick(random, domains)
const fours = [4, 4, 4, 4, 4, 4, 4, 4, 4]
const cardGroups = (number: string) => (number.length === 15 ? [4, 6, 5] : [4, 4, 4, 4])

/** The forms with which the rules were made. */
const firstForms: Forms = {
  values: {
    phone: [
      (random) => inGroups(phone(random), [3, 3, 4], '-'),
      (random) => phone(random).replace(/(...)(...)/, '($1) $2-'),
      (random) => phone(random),
      (random) => `+1 ${inGroups(phone(random), [3, 3, 4], ' ')}`,
      values.foreignNumber,
      (random) => inWords(phone(random)),
      (random) =>
        inGroups(phone(random), [3, 3, 4], ',')
          .split(',')
          .map((part) => inWords(part))
          .join(', '),
      (random) => values.inDoubles(phone(random)),
    ],
    card: [
      (random) => card(random),
      (random) => ((number) => inGroups(number, cardGroups(number), ' '))(card(random)),
      (random) => ((number) => inGroups(number, cardGroups(number), '-'))(card(random)),
      (random) => inWords(card(random)),
    ],
    email: [
      (random) => `${name(random).join('.')}@${domain(random)}.com`,
      (random) => `${name(random).join(' dot ')} at ${domain(random)} dot com`,
      (random) => `${name(random).join('_')}${values.digits(random, 2)}@mail.${domain(random)}.co.uk`,
    ],
    iban: [(random) => inGroups(values.iban(random), fours, ' '), values.iban],
    ssn: [
      (random) => inGroups(ssn(random), [3, 2, 4], '-'),
      (random) => inGroups(ssn(random), [3, 2, 4], ' '),
      (random) =>
        inGroups(ssn(random), [3, 2, 4], ',')
          .split(',')
          .map((part) => inWords(part))
          .join(', '),
    ],
    decoy: [
      (random) => `The order number is ${values.digits(random, 10)}.`,
      (random) =>
        `That is $${1 + Math.floor(random() * 9)},${values.digits(random, 3)},${values.digits(random, 3)}.`,
      (random) => `Your confirmation code is ${values.digits(random, 8)}.`,
      (random) => `It is at ${values.digits(random, 4)} ${values.digits(random, 3)}th Avenue at 7:30 pm.`,
      () => 'A table for two at seven thirty on the twenty third, please.',
    ],
  },
  sentences: {
    phone: ['You can reach me at {}.', 'My number is {}', 'It is {}, thanks.', '{}'],
    card: ['My card number is {}.', 'Charge it to {}, please.', '{}'],
    email: ['My email is {}.', 'Please send it to {}', "It's {}, thank you."],
    iban: ['The IBAN is {}.', 'Transfer it to {}, please'],
    ssn: ['My social is {}.', 'It is {}', '{}'],
    decoy: ['{}'],
  },
}

/** Written down before the first measurement, of which recall was .915 and precision .961; the rules were mended by it. */
const secondForms: Forms = {
  values: {
    phone: [
      (random) => inGroups(phone(random), [3, 3, 4], '.'),
      (random) => phone(random).replace(/(...)(...)/, '($1)$2-'),
      (random) => `1-${inGroups(phone(random), [3, 3, 4], '-')}`,
      (random) => inGroups(phone(random), [3, 7], ' '),
      (random) => `+1${phone(random)}`,
      (random) => `00${values.foreignNumber(random).slice(1)}`,
      (random) =>
        `area code ${inGroups(phone(random), [3, 3, 4], ',')
          .split(',')
          .map((part) => inWords(part, ' ', 'oh'))
          .join(', then ')}`,
      (random) => [...phone(random)].join('-'),
      (random) => [...phone(random)].join(' '),
      (random) =>
        inGroups(phone(random), [3, 3, 4], ',')
          .split(',')
          .map((part) => inWords(part, '-', 'oh'))
          .join(' '),
      (random) =>
        ((number) =>
          `${inWords(number.slice(0, 3))} ${inWords(number.slice(3, 6))} ${values.inPairs(number.slice(6))}`)(
          phone(random),
        ),
      (random) =>
        ((number) => `${number.slice(0, 3)} ${number.slice(3, 6)} ${inWords(number.slice(6), ' ', 'oh')}`)(
          phone(random),
        ),
    ],
    card: [
      (random) => ((number) => inGroups(number, cardGroups(number), '.'))(card(random)),
      (random) =>
        ((number) =>
          inGroups(number, cardGroups(number), ',')
            .split(',')
            .map((part) => inWords(part, ' ', 'oh'))
            .join(', '))(card(random)),
      (random) => [...card(random)].join(' '),
      (random) => values.inDoubles(card(random)),
      (random) => values.inPairs(card(random)),
    ],
    email: [
      (random) => `${name(random).join('-').toUpperCase()}@${domain(random).toUpperCase()}.ORG`,
      (random) => `${name(random).join(' underscore ')} at ${domain(random)} dot co dot uk`,
      (random) => `${name(random)[0]}${values.digits(random, 3)} at ${domain(random)}.net`,
      (random) => `${[...name(random)[0]].join(' ')} at ${domain(random)} dot com`,
      (random) => `${name(random)[0]}@${domain(random)} dot com`,
    ],
    iban: [
      (random) => inGroups(values.iban(random), fours, '-'),
      (random) => values.iban(random).toLowerCase(),
    ],
    ssn: [
      (random) => inGroups(ssn(random), [3, 2, 4], '.'),
      (random) => `SSN ${ssn(random)}`,
      (random) =>
        inGroups(ssn(random), [3, 2, 4], ',')
          .split(',')
          .map((part) => inWords(part, ' ', 'oh'))
          .join(' dash '),
      (random) =>
        inGroups(ssn(random), [3, 2, 4], ',')
          .split(',')
          .map((part) => values.inPairs(part))
          .join(', '),
    ],
    decoy: [
      (random) => `Tracking: 1Z${values.digits(random, 12)}.`,
      (random) => `I need ${values.digits(random, 7)} units, item ${values.digits(random, 9)}.`,
      (random) => `My member id is ${values.digits(random, 10)}, zip 94107-${values.digits(random, 4)}.`,
      (random) =>
        `Flight ${values.digits(random, 4)} leaves on 2026-03-1${values.digits(random, 1)} at 10:45.`,
      (random) =>
        `Your balance is ${values.digits(random, 5)}.${values.digits(random, 2)} as of 0${1 + Math.floor(random() * 9)}/12/2026.`,
      () => 'One of the two has three rooms, four beds and five or six chairs, so seven or eight can sit.',
    ],
  },
  sentences: {
    phone: ['Could you ring {} when it is ready?', 'Sure, {} works best', 'My wife has {}, just in case.'],
    card: ['Take it from {} please', 'Okay so it reads {}.', 'The visa, {}'],
    email: ['Can you write to me at {}?', 'Yes, the address is {}', 'Use {} for the receipt.'],
    iban: ['Please pay into {}', 'My bank account: {}.'],
    ssn: ['You need my social security number? {}', 'Okay, {} for the form.'],
    decoy: ['{}'],
  },
}

export const knownForms: Forms = {
  values: joined(firstForms.values, secondForms.values),
  sentences: joined(firstForms.sentences, secondForms.sentences),
}

/** Forms by which no rule was made: they were written down before the only measurement by them that changed nothing. */
export const heldOutForms: Forms = {
  values: {
    phone: [
      (random) => inGroups(phone(random), [3, 3, 4], ' - '),
      (random) => inGroups(phone(random), [3, 3, 4], ', '),
      (random) => phone(random).replace(/(...)(...)/, '1 ($1) $2-'),
      (random) => inGroups(phone(random), [3, 7], '.'),
      (random) => phone(random).replace(/(...)(...)/, '$1-$2 '),
      (random) => values.inPairs(phone(random)),
      (random) => inSpokenGroups(phone(random), [6, 4], ', ', 'oh'),
      (random) => inSpokenGroups(phone(random), [3, 3, 4], '. ', 'zero'),
      (random) => inWords(phone(random)).replace(/\b[a-z]/g, (letter) => letter.toUpperCase()),
      (random) => `plus one ${inSpokenGroups(phone(random), [3, 3, 4], ' ', 'oh')}`,
      (random) => values.foreignNumber(random).replaceAll(' ', ''),
      (random) => `(${values.foreignNumber(random)})`,
    ],
    card: [
      (random) => ((number) => inGroups(number, cardGroups(number), '\u00a0'))(card(random)),
      (random) => ((number) => inGroups(number, cardGroups(number), ' - '))(card(random)),
      (random) => ((number) => inSpokenGroups(number, cardGroups(number), ' then ', 'zero'))(card(random)),
      (random) => ((number) => inSpokenGroups(number, cardGroups(number), '. ', 'oh'))(card(random)),
      (random) => ((number) => inGroups(number, cardGroups(number), ', '))(card(random)),
    ],
    email: [
      (random) => `<${name(random).join('.')}+billing@${domain(random)}.io>`,
      (random) => `${name(random).join(' dot ')} at mail dot ${domain(random)} dot com`,
      (random) => `${name(random).join(' period ')} at ${domain(random)} period com`,
      (random) => `${name(random)[1]} ${inWords(values.digits(random, 2))} at ${domain(random)} dot org`,
      (random) => `${name(random)[0]} dash ${name(random)[1]} at ${domain(random)}.com`,
    ],
    iban: [
      (random) => inGroups(values.iban(random).toLowerCase(), fours, ' '),
      (random) => values.iban(random).replace(/^(..)(..)/, '$1 $2 '),
      (random) => inGroups(values.iban(random), fours, '\u00a0'),
    ],
    ssn: [
      (random) => inGroups(ssn(random), [3, 2, 4], '–'),
      (random) => inGroups(ssn(random), [3, 2, 4], ' - '),
      (random) => inSpokenGroups(ssn(random), [3, 2, 4], '. ', 'oh'),
      (random) => inSpokenGroups(ssn(random), [3, 2, 4], ' hyphen ', 'zero'),
    ],
    decoy: [
      (random) =>
        `Invoice INV-${values.digits(random, 8)}, case number ${inWords(values.digits(random, 9))}.`,
      (random) =>
        `It was ${1 + Math.floor(random() * 9)}${values.digits(random, 6)} dollars for 1,${values.digits(random, 3)},${values.digits(random, 3)} people.`,
      (random) =>
        `Logged at 2026-01-1${values.digits(random, 1)}T10:30:00.123Z as ${1_700_000_000 + Math.floor(random() * 1e8)}.`,
      (random) => `The ISBN is 978-3-16-14${values.digits(random, 4)}-0, page ${values.digits(random, 3)}.`,
      (random) =>
        `It is at 37.77${values.digits(random, 2)}, -122.41${values.digits(random, 2)}, suite ${values.digits(random, 3)}.`,
      () => 'Two adults and three children, from the fourth to the nineteenth, room twenty one oh five.',
    ],
  },
  sentences: {
    phone: ['Text {} once you are here.', 'Hm, let me think, {}.', 'Is {} still current for you?'],
    card: ['Put it on {}.', 'Sorry, once more: {}', 'I have a mastercard, {}.'],
    email: ['Forward it to {}', 'His email address is {}.', 'The best email is {}.'],
    iban: ['My account is {}.', 'It was sent from {}'],
    ssn: ['For verification, {}.', "Sure, that's {}"],
    decoy: ['{}'],
  },
}

function inSpokenGroups(number: string, sizes: readonly number[], gap: string, zero: string): string {
  const groups = inGroups(number, sizes, ',').split(',')
  return groups.map((group) => inWords(group, ' ', zero)).join(gap)
}

function joined<Value>(
  a: Record<RedactionKind | 'decoy', readonly Value[]>,
  b: Record<RedactionKind | 'decoy', readonly Value[]>,
): Record<RedactionKind | 'decoy', readonly Value[]> {
  const of = (kind: RedactionKind | 'decoy') => [...a[kind], ...b[kind]]
  return {
    ...{ phone: of('phone'), card: of('card'), email: of('email') },
    ...{ iban: of('iban'), ssn: of('ssn'), decoy: of('decoy') },
  }
}

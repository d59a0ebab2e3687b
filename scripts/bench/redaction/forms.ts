import type { RedactionKind } from '../../../src/redaction/kinds.ts'
import * as values from './values.ts'

/** A form in which people write or say a value. */
type Form = (random: values.Random) => string

/** Forms of values, and sentences with `{}` in place of a value. */
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
const cardGroups = ({ length }: string) => (length === 15 ? [4, 6, 5] : [4, 4, 4, 4])

/** The forms that the rules were made with. */
const firstForms: Forms = {
  values: {
    phone: [
      (random) => inGroups(phone(random), [3, 3, 4], '-'),
      (random) => phone(random).replace(/(...)(...)/, '($1) $2-'),
      (random) => phone(random),
      (random) => `+1 ${inGroups(phone(random), [3, 3, 4], ' ')}`,
      values.foreignNumber,
      (random) => inWords(phone(random)),
      (random) => inSpokenGroups(phone(random), [3, 3, 4], ', ', 'zero'),
      (random) => values.inDoubles(phone(random)),
    ],
    card: [
      (random) => card(random),
      (random) => groupedCard(random, ' '),
      (random) => groupedCard(random, '-'),
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
      (random) => inSpokenGroups(ssn(random), [3, 2, 4], ', ', 'zero'),
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

const secondForms: Forms = {
  values: {
    phone: [
      (random) => inGroups(phone(random), [3, 3, 4], '.'),
      (random) => phone(random).replace(/(...)(...)/, '($1)$2-'),
      (random) => `1-${inGroups(phone(random), [3, 3, 4], '-')}`,
      (random) => inGroups(phone(random), [3, 7], ' '),
      (random) => `+1${phone(random)}`,
      (random) => `00${values.foreignNumber(random).slice(1)}`,
      (random) => `area code ${inSpokenGroups(phone(random), [3, 3, 4], ', then ', 'oh')}`,
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
      (random) => groupedCard(random, '.'),
      (random) => spokenCard(random, ', ', 'oh'),
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
      (random) => inSpokenGroups(ssn(random), [3, 2, 4], ' dash ', 'oh'),
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

const thirdForms: Forms = {
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
      (random) => groupedCard(random, '\u00a0'),
      (random) => groupedCard(random, ' - '),
      (random) => spokenCard(random, ' then ', 'zero'),
      (random) => spokenCard(random, '. ', 'oh'),
      (random) => groupedCard(random, ', '),
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

const fourthForms: Forms = {
  values: {
    phone: [
      (random) => `${inGroups(phone(random), [3, 3, 4], '-')} ext. 12`,
      (random) => `tel. ${inGroups(phone(random), [3, 3, 4], ' ')}`,
      (random) => `${phone(random)}`,
      (random) => phone(random).replace(/(...)(...)/, '($1) $2 '),
      (random) => values.foreignNumber(random).replaceAll(' ', '-'),
      (random) => values.foreignNumber(random).replaceAll(' ', '.'),
      values.foreignNumber,
      (random) => inSpokenGroups(phone(random), [3, 3, 2, 2], ', ', 'oh'),
      (random) => inSpokenGroups(phone(random), [3, 3, 4], '... ', 'zero'),
      (random) => inSpokenGroups(phone(random), [3, 3, 4], ', uh, ', 'zero'),
      (random) => inSpokenGroups(phone(random), [3, 3, 4], ' - ', 'oh'),
      (random) => `one, ${inSpokenGroups(phone(random), [3, 3, 4], ', ', 'zero')}`,
      (random) => [...phone(random)].join(', '),
    ],
    card: [
      card,
      (random) => groupedCard(random, ' '),
      (random) => spokenCard(random, '... ', 'oh'),
      (random) => spokenCard(random, ' - ', 'zero'),
      (random) => inWords(card(random), ', '),
    ],
    email: [
      (random) => `${name(random)[0].charAt(0)}${name(random)[1]}@${domain(random)}-group.eu`,
      (random) => `${name(random).join('')} at ${domain(random)} dot com`,
      (random) => `${name(random)[0].charAt(0)} dot ${name(random)[1]} at ${domain(random)} dot co dot uk`,
      (random) =>
        `${name(random)[0]} dot ${name(random)[1]} ${values.digits(random, 2)} at ${domain(random)} dot com`,
      (random) => `${name(random).join('.')} at ${domain(random)} dot net`,
    ],
    iban: [
      (random) => inGroups(values.iban(random), fours, ' '),
      (random) => inGroups(values.iban(random), [4, 30], ' '),
      (random) => `IBAN:${values.iban(random)}`,
    ],
    ssn: [
      (random) => inGroups(ssn(random), [3, 2, 4], '-'),
      (random) => inSpokenGroups(ssn(random), [3, 2, 4], '... ', 'zero'),
      (random) => inSpokenGroups(ssn(random), [3, 2, 4], ' - ', 'oh'),
      (random) => inGroups(ssn(random), [3, 2, 4], '—'),
    ],
    decoy: [
      (random) => `Ticket #${values.digits(random, 7)}, reference ${values.digits(random, 10)}.`,
      (random) => `Your policy number is ${inWords(values.digits(random, 8))}.`,
      (random) =>
        `€ ${values.digits(random, 3)} ${values.digits(random, 3)} ${values.digits(random, 3)}, or ${values.digits(random, 3)}.${values.digits(random, 3)}.${values.digits(random, 3)},00 EUR.`,
      (random) =>
        `Seats 12, 14, 16 and 18 at 19:30 on 12/0${1 + Math.floor(random() * 9)}/2026, 4K at 60 fps.`,
      () => 'I was born in nineteen eighty four and have lived here since two thousand and one.',
    ],
  },
  sentences: {
    phone: ['Try {} after six.', 'So that would be {}.', '{}, that is my cell.'],
    card: ['The number on it is {}.', 'Ready? {}', 'You may bill {}.'],
    email: ['Reach me via {}', 'Email: {}', 'You can mail it to {}, if you like.'],
    iban: ['Send it to {}.', 'Yes: {}'],
    ssn: ['The last one was wrong, it is {}.', 'My social security number, {}'],
    decoy: ['{}'],
  },
}

const fifthForms: Forms = {
  values: {
    phone: [
      (random) => inGroups(phone(random), [3, 3, 4], '-'),
      (random) => inGroups(phone(random), [3, 3, 4], ' '),
      (random) => phone(random).replace(/(...)(...)/, '($1) $2-'),
      (random) => `+1 (${phone(random).replace(/(...)(...)/, '$1) $2-')}`,
      values.foreignNumber,
      (random) => inWords(phone(random), ' ', 'oh'),
      (random) =>
        `1 800 ${2 + Math.floor(random() * 8)}${values.digits(random, 2)} ${values.digits(random, 4)}`,
      (random) => `eight hundred ${inSpokenGroups(`5${values.digits(random, 6)}`, [3, 4], ' ', 'zero')}`,
      (random) => inSpokenGroups(phone(random), [3, 3, 4], '; ', 'zero'),
    ],
    card: [
      (random) => groupedCard(random, ' '),
      card,
      (random) => groupedCard(random, ' '),
      (random) => inWords(card(random), ' ', 'oh'),
    ],
    email: [
      (random) => `${name(random).join('')}@${domain(random)}.de`,
      (random) =>
        `${name(random)[1]}, ${name(random)[0]} dot ${name(random)[1]} at ${domain(random)} dot com`.split(
          ', ',
        )[1] ?? '',
      (random) => `${name(random)[0]} ${name(random)[1]} at ${domain(random)} dot com`,
      (random) =>
        `${name(random)[0].toUpperCase()} DOT ${name(random)[1].toUpperCase()} AT ${domain(random).toUpperCase()} DOT COM`,
    ],
    iban: [values.iban, (random) => inGroups(values.iban(random), fours, ' ')],
    ssn: [
      (random) => inGroups(ssn(random), [3, 2, 4], '-'),
      (random) => `SSN ${inWords(ssn(random), ' ', 'oh')}`,
      (random) => inSpokenGroups(ssn(random), [3, 2, 4], ', ', 'oh'),
    ],
    decoy: [
      (random) =>
        `Case ${values.digits(random, 8)} was closed on March ${1 + Math.floor(random() * 28)}, 2026.`,
      (random) => `Order number ${inWords(values.digits(random, 10))}, shipped.`,
      (random) =>
        `The rent is $${values.digits(random, 4)} for ${values.digits(random, 3)} Main Street, zip ${values.digits(random, 5)}.`,
      (random) => `Pin 4${values.digits(random, 3)}, then code ${values.digits(random, 6)}.`,
      () => 'Gate twelve, seat twenty six C, boarding at nine forty five.',
    ],
  },
  sentences: {
    phone: ['Best to call {}.', 'Leave a message on {} for me.', 'Sorry, that was {}'],
    card: ['Debit {} for it.', 'All right: {}'],
    email: ['I am at {} most days.', 'Just write to {}', 'Yes, {}.'],
    iban: ['Refund it to {}.', '{}'],
    ssn: ['Mine is {}.', 'Here you go, {}'],
    decoy: ['{}'],
  },
}

/**
 * The rules were made with the first set. Each other set was written before it was first measured, to test unforeseen
 * forms. The rules were then improved with it, except with the last.
 */
export const formSets = [
  { name: 'first', forms: firstForms, atFirst: null },
  { name: 'second', forms: secondForms, atFirst: { recall: 0.915, precision: 0.961 } },
  { name: 'third', forms: thirdForms, atFirst: { recall: 0.848, precision: 0.928 } },
  { name: 'fourth', forms: fourthForms, atFirst: { recall: 0.962, precision: 0.954 } },
  { name: 'fifth', forms: fifthForms, atFirst: { recall: 0.99, precision: 0.985 } },
] as const

function groupedCard(random: values.Random, separator: string): string {
  const number = card(random)
  return inGroups(number, cardGroups(number), separator)
}

function spokenCard(random: values.Random, gap: string, zero: string): string {
  const number = card(random)
  return inSpokenGroups(number, cardGroups(number), gap, zero)
}

function inSpokenGroups(number: string, sizes: readonly number[], gap: string, zero: string): string {
  const groups = inGroups(number, sizes, ',').split(',')
  return groups.map((group) => inWords(group, ' ', zero)).join(gap)
}

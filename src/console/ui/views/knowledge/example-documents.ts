import type { Document } from './queries.ts'

/** Three documents of a made-up shop, to try retrieval with. */
export const exampleDocuments: readonly Document[] = [
  {
    name: 'Refunds and returns',
    text: `# Refunds and returns

## How long do I have?
You can return any item within 30 days of delivery, unused and in its box.

## When do I get my money back?
We refund to the card or account you paid with, within 5 working days of the parcel's arrival at our warehouse.

## What does a return cost?
Nothing, if you use the label that came with the parcel. Without it, postage is 4.90 euros.
`,
  },
  {
    name: 'Opening hours and contact',
    text: `# Opening hours and contact

## Shop
Monday to Friday from 9:00 to 18:30, Saturday from 10:00 to 16:00. Closed on Sundays and public holidays.

## Telephone
Our agents answer at any time. A person calls back on working days between 8:00 and 20:00.

## Complaints
Write to us with the order number. We answer within two working days.
`,
  },
  {
    name: 'Delivery',
    text: `# Delivery

## Times
Standard delivery takes 2 to 4 working days, express delivery the next working day if you order before 14:00.

## Prices
Standard delivery is free from 50 euros, else 3.90 euros. Express is 9.90 euros.

## Nobody at home
The courier tries twice, then leaves the parcel at the nearest pick-up point for seven days.
`,
  },
]

import { completeRubric, type RubricChange, type RubricContent } from '../../src/analysis/schemas.ts'

/** Questions of each kind about a booking. */
export const bookingRubric = rubricOf({
  summary: { instructions: 'Two sentences: what the caller wanted, and how it ended.' },
  criteria: [
    {
      id: 'confirmed_date',
      name: 'Confirmed the date',
      question: 'Did the agent repeat the date and the time?',
    },
    { id: 'named_price', name: 'Named the price', question: 'Did the agent say what it costs?' },
  ],
  fields: [
    { key: 'day', type: 'string', description: 'The day that was booked.' },
    { key: 'is_new', type: 'boolean', description: 'Whether the caller is new.' },
    { key: 'people', type: 'integer', description: 'How many people come.' },
    { key: 'price', type: 'number', description: 'The price in dollars.' },
    { key: 'mood', type: 'enum', choices: ['calm', 'angry'], description: 'The mood of the caller.' },
  ],
  evaluation: 'all',
})

export const booking = [
  { role: 'assistant', content: 'Hello, how can I help?' },
  { role: 'user', content: 'I would like a table for 4 on Friday at ten, please.' },
  {
    role: 'assistant',
    content: 'Friday at ten,\n for four. It is 12.50 dollars each. Have you been here before?',
  },
  { role: 'user', content: 'Never! Friday at TEN, that works.' },
]

export function rubricOf(change: Partial<RubricChange>): RubricContent {
  return completeRubric({ criteria: [], ...change })
}

import type { RubricContent } from '../../../../analysis/schemas.ts'
import { idOf } from './rubric-draft.ts'

interface Starter {
  name: string
  /** For whom it is. */
  about: string
  /** What a summary should say. */
  summary: string
  /** The question of each criterion, by its name. */
  criteria: Record<string, string>
  /** The names of those that make a call a success; all of them by default. */
  deciding?: string[]
  fields: RubricContent['fields']
}

/** The rubric that a starter makes. */
export function rubricOfStarter({ summary, criteria, deciding, fields }: Starter): RubricContent {
  return {
    summary: { instructions: summary },
    criteria: Object.entries(criteria).map(([name, question]) => ({ id: idOf(name), name, question })),
    fields,
    evaluation: deciding?.map(idOf) ?? 'all',
    when: { minUserTurns: 1 },
    share: 1,
    tokensPerMonth: null,
  }
}

/** Rubrics to start from. */
export const starters: readonly Starter[] = [
  {
    name: 'Support',
    about: 'People call with a problem or a question.',
    summary:
      'Two sentences: what the caller wanted, and how it ended. Name what is still open, if anything is.',
    criteria: {
      'Understood the request':
        'Did the agent understand what the caller wanted, without the caller having to say it more than twice?',
      'Solved or passed on':
        'Was the request solved during the call, or passed on to a person or a ticket with the caller’s consent?',
      'Nothing made up':
        'Did the agent avoid promises, prices and facts that it then took back, or that the caller proved wrong? Answer yes if there were none.',
      'Stayed polite':
        'Did the agent stay friendly and patient, also when the caller was upset or hard to follow?',
    },
    fields: [
      {
        key: 'topic',
        type: 'enum',
        description: 'What the call was mainly about.',
        choices: ['billing', 'technical problem', 'account', 'delivery', 'complaint', 'something else'],
      },
      {
        key: 'follow_up_needed',
        type: 'boolean',
        description: 'Whether somebody still has to do something after the call.',
      },
    ],
  },
  {
    name: 'Booking',
    about: 'People call to make, move or cancel an appointment.',
    summary:
      'Two sentences: what was booked, moved or cancelled, with day and time; and anything the caller asked for besides.',
    deciding: ['Booked or clear answer', 'Confirmed the date'],
    criteria: {
      'Booked or clear answer':
        'Did the caller get the appointment they wanted, moved or cancelled it, or hear clearly why it is not possible and what else is?',
      'Confirmed the date':
        'Did the agent repeat the day and the time at the end, and did the caller agree? Answer yes if nothing was booked or moved.',
      'Asked only what is needed':
        'Did the agent avoid asking for anything that the caller had already said?',
    },
    fields: [
      {
        key: 'request',
        type: 'enum',
        description: 'What the caller wanted.',
        choices: ['book', 'move', 'cancel', 'question', 'something else'],
      },
      {
        key: 'booked_for',
        type: 'string',
        description: 'The day and the time that were agreed on, as they were said.',
      },
      {
        key: 'new_customer',
        type: 'boolean',
        description: 'Whether the caller said that they have never been there before.',
      },
    ],
  },
  {
    name: 'Sales',
    about: 'The agent calls leads, or answers people who want to buy.',
    summary:
      'Two sentences: what the person needs and how interested they are; and the next step, with its date if there is one.',
    deciding: ['Agreed on a next step', 'Respected a no'],
    criteria: {
      'Asked about the need': 'Did the agent ask what the person needs before it described the offer?',
      'Answered objections':
        'Did the agent answer each doubt or objection of the person directly? Answer yes if there was none.',
      'Agreed on a next step':
        'Did both agree on something that happens next, such as a meeting, an offer by email, or that the person is not interested?',
      'Respected a no':
        'When the person declined, or asked not to be called, did the agent accept it at once? Answer yes if they did neither.',
    },
    fields: [
      {
        key: 'interest',
        type: 'enum',
        description: 'How interested the person was at the end.',
        choices: ['ready to buy', 'interested', 'undecided', 'not interested', 'do not call again'],
      },
      {
        key: 'objection',
        type: 'string',
        description: 'The main reason against buying, in a few words of the person.',
      },
      { key: 'next_step', type: 'string', description: 'What was agreed to happen next, and when.' },
    ],
  },
]

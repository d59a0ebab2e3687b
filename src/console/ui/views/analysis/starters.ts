import type { RubricContent } from '../../../../analysis/schemas.ts'

interface Starter {
  name: string
  /** For whom it is. */
  about: string
  rubric: RubricContent
}

const always = {
  evaluation: 'all',
  when: { minUserTurns: 1 },
  share: 1,
  tokensPerMonth: null,
} as const

/** Rubrics to start from. */
export const starters: readonly Starter[] = [
  {
    name: 'Support',
    about: 'People call with a problem or a question.',
    rubric: {
      ...always,
      summary: {
        instructions:
          'Two sentences: what the caller wanted, and how it ended. Name what is still open, if anything is.',
      },
      criteria: [
        {
          id: 'understood_the_request',
          name: 'Understood the request',
          question:
            'Did the agent understand what the caller wanted, without the caller having to say it more than twice?',
        },
        {
          id: 'solved_or_passed_on',
          name: 'Solved or passed on',
          question:
            'Was the request solved during the call, or passed on to a person or a ticket with the caller’s consent?',
        },
        {
          id: 'nothing_made_up',
          name: 'Nothing made up',
          question:
            'Did the agent avoid promises, prices and facts that it then took back, or that the caller proved wrong? Answer yes if there were none.',
        },
        {
          id: 'stayed_polite',
          name: 'Stayed polite',
          question:
            'Did the agent stay friendly and patient, also when the caller was upset or hard to follow?',
        },
      ],
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
  },
  {
    name: 'Booking',
    about: 'People call to make, move or cancel an appointment.',
    rubric: {
      ...always,
      summary: {
        instructions:
          'Two sentences: what was booked, moved or cancelled, with day and time; and anything the caller asked for besides.',
      },
      evaluation: ['booked_or_clear_answer', 'confirmed_the_date'],
      criteria: [
        {
          id: 'booked_or_clear_answer',
          name: 'Booked or clear answer',
          question:
            'Did the caller get the appointment they wanted, moved or cancelled it, or hear clearly why it is not possible and what else is?',
        },
        {
          id: 'confirmed_the_date',
          name: 'Confirmed the date',
          question:
            'Did the agent repeat the day and the time at the end, and did the caller agree? Answer yes if nothing was booked or moved.',
        },
        {
          id: 'asked_only_what_is_needed',
          name: 'Asked only what is needed',
          question: 'Did the agent avoid asking for anything that the caller had already said?',
        },
      ],
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
  },
  {
    name: 'Sales',
    about: 'The agent calls leads, or answers people who want to buy.',
    rubric: {
      ...always,
      summary: {
        instructions:
          'Two sentences: what the person needs and how interested they are; and the next step, with its date if there is one.',
      },
      evaluation: ['agreed_on_a_next_step', 'respected_a_no'],
      criteria: [
        {
          id: 'asked_about_the_need',
          name: 'Asked about the need',
          question: 'Did the agent ask what the person needs before it described the offer?',
        },
        {
          id: 'answered_objections',
          name: 'Answered objections',
          question:
            'Did the agent answer each doubt or objection of the person directly? Answer yes if there was none.',
        },
        {
          id: 'agreed_on_a_next_step',
          name: 'Agreed on a next step',
          question:
            'Did both agree on something that happens next, such as a meeting, an offer by email, or that the person is not interested?',
        },
        {
          id: 'respected_a_no',
          name: 'Respected a no',
          question:
            'When the person declined, or asked not to be called, did the agent accept it at once? Answer yes if they did neither.',
        },
      ],
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
  },
]

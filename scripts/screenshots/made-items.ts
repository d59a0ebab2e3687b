/** What the dental practice of the made-up calls would tell its agents. */
export const madeItems = [
  {
    name: 'Appointments and cancellations',
    text: `# Appointments and cancellations

## Cancel or move an appointment
Free of charge until 24 hours before. Later than that, or without a word, we charge 40 dollars.

## Get a charge back
If we cancelled, or you were ill, we take the charge back. Write to billing@lakeside.example with the date of the appointment; a refund takes five working days.

## Come early
New patients come 15 minutes early, everybody else 5.
`,
  },
  {
    name: 'Opening hours and parking',
    text: `# Opening hours and parking

## Opening hours
Monday to Friday from 8:00 to 18:00, Saturday from 9:00 to 13:00. Closed on Sundays and public holidays.

## Parking
Four places behind the house. The garage in Pine Street is two minutes away.

## Emergencies
Out of hours, put the caller through to the dentist on duty.
`,
  },
  {
    name: 'Prices and insurance',
    text: `# Prices and insurance

## Cleaning
A cleaning is 95 dollars and takes 40 minutes.

## Insurance
We take Delta Dental, Cigna and MetLife, and bill them directly.

## Payment
By card, or in three instalments from 300 dollars on.
`,
  },
]

import { asMoment } from '../../components/figures.ts'
import type { Line } from './conversation.ts'
import { stepNames } from './step.ts'
import classes from './transcript.module.css'

/** The whole conversation for printing, as text only, since ten thousand turns may be laid out at once. */
export function PrintedTurns({ lines }: { lines: readonly Line[] }) {
  return (
    <ol className={classes.printed} aria-label="Whole conversation">
      {Object.entries(lines).map(([place, line]) =>
        'turn' in line ? (
          <li key={place}>
            <strong>{line.turn.role === 'user' ? 'Caller' : 'Agent'}</strong>
            {line.atSeconds !== null && <span className={classes.at}>{asMoment(line.atSeconds)}</span>}
            <p dir="auto">{line.turn.content}</p>
          </li>
        ) : (
          <li key={place} className="cb-dimmed">
            {stepNames(line.steps).join(', ')}
          </li>
        ),
      )}
    </ol>
  )
}

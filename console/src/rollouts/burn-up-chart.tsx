/** The burn-up of a rollout as a small chart with its numbers as a table for screen readers. */
import type { Rollout } from '../../../src/kinds/native/rollout.ts'
import { useNow } from '../data/use-live.ts'
import { Ago } from '../ui/time.tsx'
import { burnUp } from './burn-up.ts'
import type { BurnPoint } from './burn-up.ts'

const WIDTH = 600
const HEIGHT = 120

export function BurnUpChart({ rollout }: { readonly rollout: Rollout }) {
  const drawn = burnUp(rollout, useNow())
  if (!drawn) return <p className="quiet">There is nothing to draw yet.</p>
  const { total, actual, planned } = drawn
  const all = [...actual, ...planned]
  const fromMs = Math.min(...all.map(({ atMs }) => atMs))
  const spanMs = Math.max(1, Math.max(...all.map(({ atMs }) => atMs)) - fromMs)
  const points = (line: readonly BurnPoint[]): string =>
    line
      .map(({ atMs, count }) => `${((atMs - fromMs) / spanMs) * WIDTH},${HEIGHT - (count / total) * HEIGHT}`)
      .join(' ')
  return (
    <figure className="burn-up">
      <svg viewBox={`0 -4 ${WIDTH} ${HEIGHT + 8}`} preserveAspectRatio="none" aria-hidden="true">
        <line x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} className="burn-axis" />
        <polyline points={points(planned)} className="burn-planned" />
        <polyline points={points(actual)} className="burn-actual" />
      </svg>
      <figcaption>
        <span className="burn-key" data-line="actual">
          ready at the end of each ring, and now
        </span>{' '}
        <span className="burn-key" data-line="planned">
          planned, with one minute for each step of a ring
        </span>
      </figcaption>
      <table className="hidden">
        <caption>Clusters that are ready, over time</caption>
        <tbody>
          {actual.map(({ label, count, atMs }) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td>
                {count} of {total} <Ago at={Math.floor(atMs / 1000)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}

/** The rings of a rollout from left to right; approvals and gates are doors before a ring. */
import type { Rollout } from '../../../src/kinds/native/rollout.ts'
import { ActionButton } from '../actions/action-button.tsx'
import { approvalAction, ringToApprove, waitsForApproval } from '../actions/rollout-actions.ts'
import { useSession } from '../data/access.ts'
import { State } from '../ui/state.tsx'
import { Ago } from '../ui/time.tsx'
import { ApprovalPlan } from './approval-plan.tsx'
import { laneOf } from './lane.ts'
import type { Lane } from './lane.ts'

export function Lanes({ rollout }: { readonly rollout: Rollout }) {
  const asked = waitsForApproval(rollout) ? ringToApprove(rollout)?.name : undefined
  return (
    <ol className="lanes" aria-label="Rings in their order">
      {rollout.spec.rings.map((ring) => (
        <li
          key={ring.name}
          className="lane"
          data-ring={ring.name}
          data-current={rollout.status?.ring === ring.name || undefined}
        >
          <LaneView rollout={rollout} lane={laneOf(rollout, ring)} isAsked={asked === ring.name} />
        </li>
      ))}
    </ol>
  )
}

function LaneView({
  rollout,
  lane,
  isAsked,
}: {
  readonly rollout: Rollout
  readonly lane: Lane
  readonly isAsked: boolean
}) {
  return (
    <>
      <h3>{lane.name}</h3>
      <State state={lane.state} />
      <p className="lane-count">
        <strong>
          {lane.ready}/{lane.members}
        </strong>{' '}
        ready
      </p>
      <span className="ring-fill" aria-hidden="true">
        <span data-tone="good" style={{ flexGrow: lane.ready }} />
        <span data-tone="bad" style={{ flexGrow: lane.failed }} />
        <span style={{ flexGrow: Math.max(0, lane.members - lane.ready - lane.failed) }} />
      </span>
      <ul className="lane-notes">
        {lane.failed > 0 && (
          <li>
            <State state="Failed" count={lane.failed} />
          </li>
        )}
        {lane.excused.map((text) => (
          <li key={text} className="quiet">
            {text}
          </li>
        ))}
        {lane.gates.map(({ name, state, message }) => (
          <li key={name}>
            gate {name} <State state={state} />
            {message !== '' && <span className="quiet"> {message}</span>}
          </li>
        ))}
        {lane.approval !== undefined && <li>{lane.approval}</li>}
        {lane.limits.map((text) => (
          <li key={text} className="quiet">
            {text}
          </li>
        ))}
        {lane.passedAt !== undefined && (
          <li className="quiet">
            passed <Ago at={lane.passedAt} />
          </li>
        )}
      </ul>
      {isAsked && <ApprovalButtons rollout={rollout} ring={lane.name} />}
    </>
  )
}

/** The two answers to a ring that waits for an approval. */
export function ApprovalButtons({ rollout, ring: name }: { readonly rollout: Rollout; readonly ring: string }) {
  const session = useSession()
  const ring = rollout.spec.rings.find((one) => one.name === name)
  if (!ring || !session) return null
  return (
    <div className="actions">
      {(['Approve', 'Reject'] as const).map((decision) => (
        <ActionButton
          key={decision}
          action={approvalAction(rollout, ring, decision, session)}
          plan={<ApprovalPlan rollout={rollout} ring={name} />}
        />
      ))}
    </div>
  )
}

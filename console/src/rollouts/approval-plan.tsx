/** What a person should know before an answer to a ring: who asks, what passed, and what the release changes. */
import type { Release } from '../../../src/kinds/native/release.ts'
import type { Rollout } from '../../../src/kinds/native/rollout.ts'
import { useObject } from '../data/queries.ts'
import { Empty, Failure } from '../ui/parts.tsx'
import { State } from '../ui/state.tsx'
import { passedBefore } from './lane.ts'
import { BundleChanges } from './what-changes.tsx'

export function ApprovalPlan({ rollout, ring }: { readonly rollout: Rollout; readonly ring: string }) {
  const { namespace } = rollout.metadata
  const release = useObject<Release>('releases', rollout.spec.release, namespace)
  const passed = passedBefore(rollout, ring)
  return (
    <div className="approval-plan">
      <p>
        Rollout {rollout.metadata.name}, started by {rollout.spec.startedBy?.join(', ') ?? 'the hub'}.
      </p>
      {passed.length > 0 && (
        <ul className="plan" aria-label="Rings before">
          {passed.map(({ name, ready, members, failed, gates }) => (
            <li key={name}>
              {name}: {ready} of {members} ready{failed > 0 && `, ${failed} failed`}
              {gates.map((gate) => (
                <span key={gate.name}>
                  , gate {gate.name} <State state={gate.state} />
                </span>
              ))}
            </li>
          ))}
        </ul>
      )}
      {release.error ? (
        <Failure error={release.error} what="the release" />
      ) : release.data ? (
        <BundleChanges release={release.data} isBrief />
      ) : (
        <Empty title="Reading the release…" />
      )}
    </div>
  )
}

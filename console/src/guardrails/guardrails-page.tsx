/** What limits changes: freezes and windows with their calendar, approvals, and exceptions. */
import { useMemo } from 'react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { selectorText } from '../../../src/core/text/label-selector.ts'
import type { Approval } from '../../../src/kinds/native/approval.ts'
import type { ClusterWindow } from '../../../src/kinds/native/cluster-window.ts'
import type { Override } from '../../../src/kinds/native/override.ts'
import type { Rollout } from '../../../src/kinds/native/rollout.ts'
import type { Window } from '../../../src/kinds/native/window.ts'
import { compileWindow, isForCluster } from '../../../src/plan/windows/window-rules.ts'
import { ActionButton } from '../actions/action-button.tsx'
import { liftAction } from '../actions/freeze-actions.ts'
import { StopReason } from '../cluster/stop-reason.tsx'
import { useList } from '../data/queries.ts'
import { useLive, useNow } from '../data/use-live.ts'
import { useInbox } from '../inbox/use-inbox.ts'
import { ApprovalButtons } from '../rollouts/lanes.tsx'
import { rolloutLink } from '../rollouts/rollout-rows.ts'
import { Empty, Failure, Panel } from '../ui/parts.tsx'
import { Badges } from '../ui/state.tsx'
import { Age, Ago } from '../ui/time.tsx'
import { Words } from '../ui/words.tsx'
import { CalendarPanel } from './calendar-panel.tsx'
import { windowMoment } from './calendar.ts'
import { FreezeButton } from './freeze-button.tsx'
import { scrollable } from '../ui/scrollable.ts'

const NONE: readonly never[] = []
const MAX_STOPPED = 50
const MAX_APPROVALS = 50

export function GuardrailsPage() {
  const fleetWide = useList<ClusterWindow>('clusterwindows')
  const own = useList<Window>('windows')
  const windows = useMemo(() => [...(fleetWide.data ?? NONE), ...(own.data ?? NONE)], [fleetWide.data, own.data])
  const errors = [
    fleetWide.error && <Failure key="fleet" error={fleetWide.error} what="the windows of the fleet" />,
    own.error && <Failure key="own" error={own.error} what="the windows of namespaces" />,
  ]
  const isReading = fleetWide.isPending || own.isPending
  return (
    <div className="page">
      <h1 className="hidden">Guardrails</h1>
      {errors}
      <WindowPanel
        title="Freezes"
        side={<FreezeButton />}
        windows={windows.filter(({ spec }) => spec.mode === 'Freeze')}
        none={isReading ? 'Reading…' : 'There is no freeze. Changes start whenever their windows and rings allow it.'}
      />
      {/* Firefox and Chromium have Temporal; another browser shows the lists alone. */}
      {typeof Temporal === 'undefined' ? (
        <Empty title="This browser cannot show the calendar: it has no Temporal." />
      ) : (
        <CalendarPanel windows={windows} />
      )}
      <WindowPanel
        title="Maintenance windows"
        windows={windows.filter(({ spec }) => spec.mode === 'Open')}
        none={isReading ? 'Reading…' : 'There is no maintenance window. Changes may start at any time.'}
      />
      <Approvals />
      <Exceptions />
    </div>
  )
}

function WindowPanel({
  title,
  side,
  windows,
  none,
}: {
  readonly title: string
  readonly side?: ReactNode
  readonly windows: readonly (Window | ClusterWindow)[]
  readonly none: string
}) {
  const { fleet } = useLive()
  const countOf = (object: Window | ClusterWindow): number =>
    fleet.rows.filter((row) => !row.isApart && isForCluster(compileWindow(object), row)).length
  return (
    <Panel title={title} side={side}>
      {windows.length === 0 ? (
        <Empty title={none} />
      ) : (
        <div className="scroll-x" ref={scrollable}>
          <table className="plain">
            <thead>
              <tr>
                <th>Name</th>
                <th>State</th>
                <th>Clusters</th>
                <th>Bundles</th>
                <th>Exceptions</th>
                <th>Reason</th>
                <th>
                  <span className="hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {windows.map((object) => {
                const { metadata, spec } = object
                const count = countOf(object)
                const selector = selectorText(spec.clusterSelector ?? {})
                return (
                  <tr key={metadata.uid} data-window={metadata.name}>
                    <td>{compileWindow(object).name}</td>
                    <td>
                      <WindowState object={object} />
                    </td>
                    <td>
                      {count} <span className="quiet">{spec.clusters?.join(', ') ?? selector}</span>
                    </td>
                    <td>{spec.bundles?.join(', ') ?? 'all'}</td>
                    <td>{exceptionsOf(object) || <span className="quiet">none</span>}</td>
                    <td className="wide">{spec.reason}</td>
                    <td>
                      <ActionButton action={liftAction(object, count)} />
                    </td>
                  </tr>
                )
              })}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  )
}

function exceptionsOf({ spec }: Window | ClusterWindow): string {
  return (spec.exceptions ?? [])
    .flatMap(({ subjects = [], bundles = [], releases = [] }) => [
      ...subjects.map(({ kind, name }) => `${kind.toLowerCase()} ${name}`),
      ...bundles.map((name) => `bundle ${name}`),
      ...releases.map((name) => `release ${name}`),
    ])
    .join(', ')
}

function WindowState({ object }: { readonly object: Window | ClusterWindow }) {
  const now = useNow()
  if (typeof Temporal === 'undefined') return <>unknown</>
  const moment = windowMoment(object, 'UTC', now)
  if (!moment) return <span className="quiet">over</span>
  const isFreeze = object.spec.mode === 'Freeze'
  const word = moment.isActive ? (isFreeze ? 'Frozen' : 'Open') : isFreeze ? 'Planned' : 'Closed'
  const sign = moment.isActive ? (isFreeze ? '❄' : '✔') : '…'
  return (
    <>
      <span className="state" data-tone={moment.isActive ? (isFreeze ? 'busy' : 'good') : 'wait'}>
        <span aria-hidden="true">{sign}</span> {word}
      </span>{' '}
      <span className="quiet">
        {moment.isActive ? 'ends' : isFreeze ? 'begins' : 'opens'} <Age at={moment.atMs / 1000} />
        {object.spec.zone === undefined &&
          object.spec.times.some(({ schedule }) => schedule !== undefined) &&
          ' in UTC'}
      </span>
    </>
  )
}

function Approvals() {
  const { approvals } = useInbox()
  const { data, error } = useList<Approval>('approvals')
  const given = (data ?? NONE).toSorted((a, b) =>
    (b.metadata.creationTimestamp ?? '').localeCompare(a.metadata.creationTimestamp ?? ''),
  )
  return (
    <Panel title="Approvals" side={<span className="badge">{approvals.length} waiting</span>}>
      {error && <Failure error={error} what="the approvals" />}
      <ul className="inbox">
        {approvals.map(({ rollout, ring, since, message }) => (
          <li key={`${rollout.metadata.namespace}/${rollout.metadata.name}`}>
            <p>
              <strong>
                <Link href={rolloutLink(rollout)}>{rollout.metadata.name}</Link>
              </strong>{' '}
              Ring &quot;{ring}&quot; needs an approval{' '}
              <span className="quiet">
                since <Ago at={since} />
              </span>
            </p>
            <p className="quiet">
              <Words text={message} />
            </p>
            <ApprovalButtons rollout={rollout} ring={ring} />
          </li>
        ))}
      </ul>
      {approvals.length === 0 && <p className="calm">✔ No ring waits for an approval.</p>}
      {given.length > 0 && (
        <div className="scroll-x" ref={scrollable}>
          <table className="plain">
            <thead>
              <tr>
                <th>Rollout</th>
                <th>Ring</th>
                <th>Decision</th>
                <th>Author</th>
                <th>When</th>
                <th>Reason</th>
              </tr>
            </thead>
            <tbody>
              {given.slice(0, MAX_APPROVALS).map(({ metadata, spec }) => (
                <tr key={metadata.uid} data-approval={metadata.name}>
                  <td>
                    <Link href={`/rollouts/${metadata.namespace}/${spec.rollout}`}>{spec.rollout}</Link>
                  </td>
                  <td>{spec.ring}</td>
                  <td>
                    <span className="state" data-tone={spec.decision === 'Approve' ? 'good' : 'bad'}>
                      {spec.decision === 'Approve' ? '✔ Approved' : '✗ Rejected'}
                    </span>
                  </td>
                  <td>{spec.author}</td>
                  <td>
                    <Ago at={metadata.creationTimestamp} />
                  </td>
                  <td className="wide">{spec.reason}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  )
}

/** What is excepted from the usual course: overrides, rollouts that pass windows, clusters that are stopped. */
function Exceptions() {
  const overrides = useList<Override>('overrides')
  const rollouts = useList<Rollout>('rollouts').data
  const { fleet } = useLive()
  const stopped = fleet.rows.filter(({ badges }) => /Held|Cordoned|Frozen/.test(badges))
  const passing = (rollouts ?? NONE).flatMap((rollout) =>
    (rollout.spec.exceptions ?? []).map((exception) => ({ rollout, exception })),
  )
  const isEmpty = stopped.length === 0 && passing.length === 0 && (overrides.data ?? NONE).length === 0
  return (
    <Panel title="Exceptions">
      {overrides.error && <Failure error={overrides.error} what="the overrides" />}
      {isEmpty && !overrides.error && !overrides.isPending && <p className="calm">✔ There is no exception.</p>}
      {!isEmpty && (
        <div className="scroll-x" ref={scrollable}>
          <table className="plain">
            <thead>
              <tr>
                <th>Exception</th>
                <th>Of</th>
                <th>By</th>
                <th>Ends</th>
                <th>Reason</th>
              </tr>
            </thead>
            <tbody>
              {(overrides.data ?? NONE).map(({ metadata, spec }) => (
                <tr key={metadata.uid} data-exception={metadata.name}>
                  <td>
                    override {metadata.namespace}/{metadata.name}
                  </td>
                  <td>
                    bundle {spec.bundle}
                    {spec.clusters !== undefined && <> on {spec.clusters.join(', ')}</>}
                  </td>
                  <td>{spec.owner}</td>
                  <td>{spec.expiresAt === undefined ? 'never' : <Age at={spec.expiresAt} />}</td>
                  <td className="wide">{spec.reason}</td>
                </tr>
              ))}
              {passing.map(({ rollout, exception: { kind, name, reason } }) => (
                <tr key={`${rollout.metadata.uid} ${kind} ${name}`}>
                  <td>passes windows and freezes</td>
                  <td>
                    rollout <Link href={rolloutLink(rollout)}>{rollout.metadata.name}</Link>
                  </td>
                  <td>
                    {kind.toLowerCase()} {name}
                  </td>
                  <td>with the rollout</td>
                  <td className="wide">{reason}</td>
                </tr>
              ))}
              {stopped.slice(0, MAX_STOPPED).map(({ name, badges }) => (
                <tr key={name} data-exception={name}>
                  <td>
                    <Badges badges={badges} />
                  </td>
                  <td>
                    cluster <Link href={`/clusters/${name}`}>{name}</Link>
                  </td>
                  <td className="quiet">in the reason</td>
                  <td>when it is released</td>
                  <td className="wide">
                    <StopReason name={name} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {stopped.length > MAX_STOPPED && (
        <p className="quiet">
          and <Link href="/fleet?q=badge:held,cordoned,frozen">{stopped.length - MAX_STOPPED} more clusters</Link>
        </p>
      )}
    </Panel>
  )
}

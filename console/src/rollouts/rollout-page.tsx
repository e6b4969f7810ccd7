/** One rollout: its rings as lanes from left to right, what it waits for, and the actions on it. */
import { useMemo } from 'react'
import { Link } from 'wouter'
import { findCondition } from '../../../src/core/conditions.ts'
import type { Release } from '../../../src/kinds/native/release.ts'
import type { Rollout } from '../../../src/kinds/native/rollout.ts'
import { ActionButton } from '../actions/action-button.tsx'
import { rolloutActions } from '../actions/rollout-actions.ts'
import type { BundleStateRow } from '../cluster/bundles-tab.tsx'
import { EventsTab } from '../cluster/events-tab.tsx'
import { useList, useObject } from '../data/queries.ts'
import { Empty, Facts, Failure, Panel } from '../ui/parts.tsx'
import { State } from '../ui/state.tsx'
import { STATE_ORDER } from '../ui/states.ts'
import { Ago } from '../ui/time.tsx'
import { Words } from '../ui/words.tsx'
import { Lanes } from './lanes.tsx'
import { BurnUpChart } from './burn-up-chart.tsx'
import { RollBack } from './rollback-plan.tsx'
import { RolloutExceptions } from './rollout-exceptions.tsx'
import { countsText } from './rollout-rows.ts'
import { WhatChanges } from './what-changes.tsx'
import { scrollable } from '../ui/scrollable.ts'
import { NoObject } from '../ui/no-object.tsx'

const MAX_ROWS = 100

export function RolloutPage({ namespace, name }: { readonly namespace: string; readonly name: string }) {
  const { data: rollout, error } = useObject<Rollout>('rollouts', name, namespace)
  const release = useObject<Release>('releases', rollout?.spec.release ?? name, namespace).data
  if (error || !rollout) {
    return <NoObject error={error} noun="rollout" namespace={namespace} name={name} list="/rollouts" />
  }
  const { metadata, spec, status } = rollout
  const ready = findCondition(status?.conditions, 'Ready')
  const held = findCondition(status?.conditions, 'Held')
  const reason = metadata.annotations?.['flotilla.dev/reason']
  return (
    <div className="page">
      <header className="page-head">
        <p className="crumbs">
          <Link href="/rollouts">Rollouts</Link> <span aria-hidden="true">/</span> {namespace}
        </p>
        <h1>{name}</h1>
        <p className="head-state">
          <State state={status?.phase ?? 'Pending'} /> <span className="quiet">{countsText(rollout)}</span>
        </p>
        <div className="actions">
          {rolloutActions(rollout).map((action) => (
            <ActionButton key={action.title} action={action} />
          ))}
          {!spec.removal && status?.phase !== 'Superseded' && <RollBack rollout={rollout} />}
        </div>
      </header>
      <Panel title="Rings">
        <Lanes rollout={rollout} />
      </Panel>
      <Panel title="Why it is where it is">
        {ready?.message && !(held?.status === 'True' && held.message?.startsWith(ready.message)) && (
          <p>
            <Words text={ready.message} />
          </p>
        )}
        {held?.status === 'True' && held.message && (
          <p>
            <Words text={held.message} />
          </p>
        )}
        {reason !== undefined && <p className="quiet">Last change by a person: {reason}</p>}
        <Facts
          facts={[
            ['Release', spec.release],
            ['Plan', spec.plan ?? 'none'],
            [
              'Bundles',
              release ? release.spec.bundles.map((one) => `${one.name} g${one.generation}`).join(', ') : 'unknown',
            ],
            ['Started by', spec.startedBy?.join(', ') ?? 'the hub'],
            ['Created', <Ago key="created" at={metadata.creationTimestamp} />],
          ]}
        />
      </Panel>
      {release && !spec.removal && <WhatChanges release={release} />}
      {release && <RolloutClusters rollout={rollout} bundles={release.spec.bundles.map((one) => one.name)} />}
      <Panel title="Burn-up">
        <BurnUpChart rollout={rollout} />
      </Panel>
      <Panel title="Timeline">
        <Acts rollout={rollout} />
        <EventsTab kind="Rollout" name={name} namespace={namespace} />
      </Panel>
    </div>
  )
}

/** Clusters of the bundles that are not Ready, the worst first. */
function RolloutClusters({ rollout, bundles }: { readonly rollout: Rollout; readonly bundles: readonly string[] }) {
  const { namespace } = rollout.metadata
  const fields: Record<string, string> = bundles.length === 1 ? { bundle: bundles[0]! } : {}
  const { data, error, isPending } = useList<BundleStateRow>('bundlestates', { namespace, fields })
  const open = useMemo(
    () =>
      (data ?? [])
        .filter(({ bundle, state }) => bundles.includes(bundle) && state !== undefined && state !== 'Ready')
        .sort(
          (a, b) => STATE_ORDER.indexOf(a.state!) - STATE_ORDER.indexOf(b.state!) || (a.cluster < b.cluster ? -1 : 1),
        ),
    [data, bundles],
  )
  if (error) return <Failure error={error} what="the clusters of this rollout" />
  return (
    <>
      <OpenClusters open={open} isPending={isPending} />
      {data && <RolloutExceptions rollout={rollout} rows={data} bundles={bundles} />}
    </>
  )
}

function OpenClusters({ open, isPending }: { readonly open: readonly BundleStateRow[]; readonly isPending: boolean }) {
  return (
    <Panel title="Clusters that are not Ready" side={<span className="badge">{open.length}</span>}>
      {isPending ? (
        <Empty title="Reading the clusters…" />
      ) : open.length === 0 ? (
        <p className="calm">✔ All clusters are Ready.</p>
      ) : (
        <div className="scroll-x" ref={scrollable}>
          <table className="plain stack">
            <thead>
              <tr>
                <th>Cluster</th>
                <th>Bundle</th>
                <th>State</th>
                <th>Runs</th>
                <th>Message</th>
              </tr>
            </thead>
            <tbody>
              {open.slice(0, MAX_ROWS).map((row) => (
                <tr key={row.metadata.name} data-cluster={row.cluster}>
                  <td>
                    <Link href={`/clusters/${row.cluster}`}>{row.cluster}</Link>
                  </td>
                  <td>{row.bundle}</td>
                  <td>
                    <State state={row.state!} />
                    {row.waitsFor !== undefined && <div className="quiet">waits for {row.waitsFor}</div>}
                  </td>
                  <td data-label="runs">{row.generation === undefined ? '–' : `g${row.generation}`}</td>
                  <td className="wide">
                    {row.firstFailing !== undefined && <strong>{row.firstFailing} </strong>}
                    <Words text={row.message} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {open.length > MAX_ROWS && <p className="quiet">and {open.length - MAX_ROWS} more</p>}
    </Panel>
  )
}

const ACTS = { Retry: 'retried', RollBack: 'rolled back' } as const

function Acts({ rollout }: { readonly rollout: Rollout }) {
  const acts = rollout.spec.acts ?? []
  if (acts.length === 0) return null
  return (
    <ul className="acts">
      {acts.toReversed().map(({ n, verb, by, at, reason }) => (
        <li key={n}>
          <Ago at={at} /> <strong>{by}</strong> {ACTS[verb]} the rollout{reason !== undefined && `: ${reason}`}
        </li>
      ))}
    </ul>
  )
}

/** The objects of a Bundle on one cluster, with their states. */
import { useId } from 'react'
import { Link } from 'wouter'
import type { ObjectRow } from '../cluster/object-tree.ts'
import { useList } from '../data/queries.ts'
import { useSearchValues } from '../fleet/use-search.ts'
import { Empty, Failure, Panel } from '../ui/parts.tsx'
import { State } from '../ui/state.tsx'
import { scrollable } from '../ui/scrollable.ts'

const DEFAULTS = { cluster: '' } as const

interface Named {
  readonly namespace: string
  readonly bundle: string
}

export function ClusterObjects({ namespace, bundle }: Named) {
  const [{ cluster }, set] = useSearchValues(DEFAULTS)
  const states = useList<{ readonly cluster: string; readonly state?: string }>('bundlestates', {
    namespace,
    fields: { bundle },
  }).data
  const names = (states ?? []).filter(({ state }) => state !== undefined).map((row) => row.cluster)
  const id = useId()
  const shown = cluster === '' ? names[0] : cluster
  return (
    <Panel
      title="Objects on a cluster"
      side={
        <span className="choices">
          <label htmlFor={id}>Cluster</label>
          <select id={id} value={shown ?? ''} onChange={({ target }) => set({ cluster: target.value })}>
            {names.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </span>
      }
    >
      {shown === undefined ? (
        <Empty title="The bundle reaches no cluster." />
      ) : (
        <Objects namespace={namespace} bundle={bundle} cluster={shown} />
      )}
    </Panel>
  )
}

function Objects({ namespace, bundle, cluster }: Named & { readonly cluster: string }) {
  const { data, error, isPending } = useList<ObjectRow>('bundleobjects', { namespace, fields: { bundle, cluster } })
  if (error) return <Failure error={error} what="the objects of this bundle" />
  if (isPending) return <Empty title="Reading the objects…" />
  if (data.length === 0) {
    return (
      <Empty title="The hub knows no object of this bundle on the cluster.">
        Nothing was delivered yet, or the agent renders the content by itself.
      </Empty>
    )
  }
  return (
    <div className="scroll-x" ref={scrollable}>
      <table className="plain">
        <thead>
          <tr>
            <th>Kind</th>
            <th>Object</th>
            <th>State</th>
            <th>Message</th>
          </tr>
        </thead>
        <tbody>
          {data.map(({ metadata, object, state, message }) => (
            <tr key={metadata.name} data-object={`${object.kind}/${object.name}`}>
              <td>{object.kind}</td>
              <td>
                {object.namespace !== undefined && <span className="quiet">{object.namespace}/</span>}
                {object.name}
              </td>
              <td>
                <State state={state} />
              </td>
              <td className="wide">{message}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="quiet">
        <Link href={`/clusters/${cluster}?tab=objects`}>All objects of {cluster}</Link>
      </p>
    </div>
  )
}

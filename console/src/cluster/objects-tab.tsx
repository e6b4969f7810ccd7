/** Objects of a cluster as a tree with their states. */
import { useMemo, useState } from 'react'
import { useList } from '../data/queries.ts'
import { Empty, Failure } from '../ui/parts.tsx'
import { State } from '../ui/state.tsx'
import { objectTree } from './object-tree.ts'
import type { ObjectRow } from './object-tree.ts'

export function ObjectsTab({ cluster }: { readonly cluster: string }) {
  const { data, error, isPending } = useList<ObjectRow>('bundleobjects', { fields: { cluster } })
  const [onlyOpen, setOnlyOpen] = useState(false)
  const tree = useMemo(
    () => objectTree((data ?? []).filter(({ state }) => !onlyOpen || state !== 'Ready')),
    [data, onlyOpen],
  )
  if (error) return <Failure error={error} what="the objects of this cluster" />
  if (isPending) return <Empty title="Reading the objects…" />
  if (data.length === 0) return <Empty title="The cluster has no objects of a bundle." />
  return (
    <>
      <label className="check">
        <input type="checkbox" checked={onlyOpen} onChange={({ target }) => setOnlyOpen(target.checked)} />
        Only objects that are not Ready
      </label>
      {tree.length === 0 && <Empty title="All objects are Ready." />}
      {tree.map(({ bundle, counts, kinds }) => (
        <details className="tree" key={bundle} open>
          <summary>
            <strong>{bundle}</strong>
            {counts.map(([state, count]) => (
              <State key={state} state={state} count={count} />
            ))}
          </summary>
          {kinds.map(({ kind, objects }) => (
            <details key={kind} open>
              <summary>
                {kind} <span className="quiet">{objects.length}</span>
              </summary>
              <ul>
                {objects.map(({ metadata, object, state, message }) => (
                  <li key={metadata.name} data-object={`${object.kind}/${object.name}`}>
                    <span className="name">
                      {object.namespace !== undefined && <span className="quiet">{object.namespace}/</span>}
                      {object.name}
                    </span>{' '}
                    <State state={state} />
                    {message !== undefined && message !== '' && <span className="object-message">{message}</span>}
                  </li>
                ))}
              </ul>
            </details>
          ))}
        </details>
      ))}
    </>
  )
}

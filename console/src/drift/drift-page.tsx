/** Drift of the fleet by its cause, with the clusters that have it. */
import { useMemo } from 'react'
import { Link } from 'wouter'
import type { ClusterReport } from '../../../src/kinds/native/cluster-report.ts'
import { ActionButton } from '../actions/action-button.tsx'
import { BulkButton } from '../actions/bulk-button.tsx'
import { bulkDriftActions } from '../actions/bulk-drift.ts'
import { driftActions } from '../actions/drift-actions.ts'
import { useList } from '../data/queries.ts'
import { useSearchValues } from '../fleet/use-search.ts'
import { Command, Empty, Failure, Panel } from '../ui/parts.tsx'
import { Ago } from '../ui/time.tsx'
import { DriftValuesOf } from './drift-values.tsx'
import { driftCauses } from './drift-groups.ts'
import type { DriftCause } from './drift-groups.ts'
import { FilterInput } from '../ui/filter-input.tsx'

const DEFAULTS = { q: '' } as const
const MAX_CLUSTERS = 50

export function DriftPage() {
  const { data, error, isPending } = useList<ClusterReport>('clusterreports')
  const [{ q }, set] = useSearchValues(DEFAULTS)
  const { causes, unknown } = useMemo(() => driftCauses(data ?? []), [data])
  const found = causes.filter(({ bundle, object, fields, clusters }) =>
    [bundle, object, ...fields, ...clusters.map(({ cluster }) => cluster)].join(' ').includes(q.trim()),
  )
  if (error) return <Failure error={error} what="the reports of clusters" />
  if (isPending) return <Empty title="Reading the reports…" />
  const clusters = new Set(causes.flatMap((cause) => cause.clusters.map(({ cluster }) => cluster)))
  return (
    <div className="page">
      <h1 className="hidden">Drift</h1>
      <Panel
        title={
          causes.length === 0
            ? 'Drift'
            : `${clusters.size} ${clusters.size === 1 ? 'cluster' : 'clusters'} drifted, ${causes.length} ${causes.length === 1 ? 'cause' : 'causes'}`
        }
        side={
          <FilterInput
            label="Filter drift"
            hint="Filter by bundle, object, field, cluster"
            value={q}
            onChange={(text) => set({ q: text })}
          />
        }
      >
        {causes.length === 0 && unknown.length === 0 && (
          <Empty title="✔ No cluster reports drift.">
            Drift that agents correct by themselves is listed by <code>flotilla drift list --corrected</code>.
          </Empty>
        )}
        {causes.length > 0 && found.length === 0 && <Empty title="No drift matches the filter." />}
        <div className="causes">
          {found.map((cause) => (
            <Cause key={JSON.stringify([cause.bundle, cause.object, cause.fields])} cause={cause} />
          ))}
        </div>
        {unknown.map(({ bundle, cluster, message }) => (
          <p key={`${bundle} ${cluster}`}>
            <Link href={`/clusters/${cluster}?tab=drift`}>{cluster}</Link> {bundle}: {message}
          </p>
        ))}
        <p className="as-command">
          <Command>flotilla drift list</Command>
        </p>
      </Panel>
    </div>
  )
}

function Cause({ cause: { bundle, object, fields, clusters, since } }: { readonly cause: DriftCause }) {
  const [namespace, name] = bundle.split('/')
  const bulk = bulkDriftActions({
    bundle,
    clusters: clusters.map((one) => ({ cluster: one.cluster, drift: [...one.drift] })),
  })
  return (
    <section className="cause" data-cause={object}>
      <header>
        <h3>{object}</h3>
        <p className="quiet">
          <Link href={`/bundles/${namespace}/${name}`}>{bundle}</Link>, {clusters.length}{' '}
          {clusters.length === 1 ? 'cluster' : 'clusters'}, first seen <Ago at={since} />
        </p>
      </header>
      <ul>
        {fields.map((field) => (
          <li key={field}>
            <code>{field}</code>
          </li>
        ))}
      </ul>
      {bulk.length > 0 && (
        <div className="actions">
          {bulk.map((action) => (
            <BulkButton key={action.sample.title} action={action} />
          ))}
        </div>
      )}
      <details open={clusters.length <= 3}>
        <summary>
          {clusters.length} {clusters.length === 1 ? 'cluster' : 'clusters'}
        </summary>
        <ul className="drifted-clusters">
          {clusters.slice(0, MAX_CLUSTERS).map(({ cluster, since: at, drift }) => (
            <li key={cluster}>
              <span>
                <Link href={`/clusters/${cluster}?tab=drift`}>{cluster}</Link>{' '}
                <span className="quiet">
                  since <Ago at={at} />
                </span>
              </span>
              <DriftValuesOf cluster={cluster} bundle={bundle}>
                {driftActions(cluster, { bundle, drift: [...drift] }).map((action) => (
                  <ActionButton key={action.title} action={action} />
                ))}
              </DriftValuesOf>
            </li>
          ))}
        </ul>
        {clusters.length > MAX_CLUSTERS && <p className="quiet">and {clusters.length - MAX_CLUSTERS} more</p>}
      </details>
    </section>
  )
}

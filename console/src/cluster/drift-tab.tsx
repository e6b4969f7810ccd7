/** Fields that differ from what the hub delivered, with who changed them and since when. */
import type { ClusterReport } from '../../../src/kinds/native/cluster-report.ts'
import { ActionButton } from '../actions/action-button.tsx'
import { driftActions } from '../actions/drift-actions.ts'
import { DriftValuesOf } from '../drift/drift-values.tsx'
import { Command, Empty, Failure } from '../ui/parts.tsx'
import { Ago } from '../ui/time.tsx'

export function DriftTab({
  cluster,
  report,
  error,
}: {
  readonly cluster: string
  readonly report: ClusterReport | undefined
  readonly error: Error | null
}) {
  if (error) return <Failure error={error} what="the report of this cluster" />
  if (!report) return <Empty title="Reading the report…" />
  const rows = report.spec.bundles.filter(({ drift, state }) => drift !== undefined || state === 'Drifted')
  if (rows.length === 0)
    return (
      <Empty title="No drift was reported.">
        The last report of the agent is from <Ago at={report.spec.receivedAt} />.
      </Empty>
    )
  return (
    <>
      {rows.map(({ bundle, generation, drift = [], message }) => (
        <section className="drift" key={bundle}>
          <h3>
            {bundle} <span className="quiet">g{generation}</span>
          </h3>
          {drift.length === 0 && <p>{message}</p>}
          {drift.length > 0 && (
            <DriftValuesOf cluster={cluster} bundle={bundle}>
              {driftActions(cluster, { bundle, drift }).map((action) => (
                <ActionButton key={action.title} action={action} />
              ))}
            </DriftValuesOf>
          )}
          <ul>
            {drift.map(({ object, fields, since }) => (
              <li key={object}>
                <strong>{object}</strong>{' '}
                <span className="quiet">
                  since <Ago at={since} />
                </span>
                <ul>
                  {fields.map((field) => (
                    <li key={field}>
                      <code>{field}</code>
                    </li>
                  ))}
                </ul>
              </li>
            ))}
          </ul>
        </section>
      ))}
      <p className="as-command">
        <Command>{`flotilla drift show ${cluster}`}</Command>
      </p>
    </>
  )
}

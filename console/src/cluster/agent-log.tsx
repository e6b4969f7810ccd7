/** The newest lines of the agent's log, asked for as `flotilla logs` does. */
import { useMutation } from '@tanstack/react-query'
import type { ClusterReport } from '../../../src/kinds/native/cluster-report.ts'
import type { Cluster } from '../../../src/kinds/native/cluster.ts'
import { send } from '../data/api.ts'
import { hubNow } from '../data/live-state.ts'
import { objectPath } from '../data/paths.ts'
import { queries } from '../data/queries.ts'
import { useLive } from '../data/use-live.ts'
import { Button, Command, Empty, Refusal } from '../ui/parts.tsx'
import { Ago } from '../ui/time.tsx'

export function AgentLog({
  cluster,
  report,
}: {
  readonly cluster: Cluster
  readonly report: ClusterReport | undefined
}) {
  const { name } = cluster.metadata
  const isHeard = useLive().fleet.byName.get(name)?.isHeard ?? false
  const log = report?.spec.log
  const asked = cluster.spec.logsAskedAt
  const isWaiting = asked !== undefined && (log === undefined || log.asked < asked) && isHeard
  const ask = useMutation({
    mutationFn: () =>
      send(`${objectPath('clusters', name)}?fieldManager=flotilla-console`, {
        method: 'PATCH',
        contentType: 'application/merge-patch+json',
        body: { spec: { logsAskedAt: new Date(hubNow()).toISOString().replace(/\.\d+Z$/, 'Z') } },
      }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['clusters'] }),
  })
  return (
    <>
      <p className="actions">
        <Button
          look="main"
          right={{ verb: 'patch', resource: 'clusters', name }}
          disabled={!isHeard || ask.isPending}
          onClick={() => ask.mutate()}
        >
          Ask for the log
        </Button>
        <Command>{`flotilla logs ${name}`}</Command>
      </p>
      {!isHeard && <p className="quiet">The agent is not in contact; it sends its log when it is back.</p>}
      {isWaiting && (
        <p role="status">
          Asked <Ago at={asked} />. The agent answers at its next contact, within {cluster.spec.checkInSeconds} s.
        </p>
      )}
      {ask.error && <Refusal error={ask.error} />}
      {log === undefined && isWaiting ? null : log === undefined ? (
        <Empty title="No log was asked for yet." />
      ) : (
        <>
          <p className="quiet">
            As of <Ago at={log.asked} />
          </p>
          <pre className="log" tabIndex={0} aria-label="Log of the agent">
            {log.lines.length === 0 ? 'The log is empty.' : log.lines.join('\n')}
          </pre>
        </>
      )}
    </>
  )
}

/** One cluster: what should run, what runs, and why. */
import * as Tabs from '@radix-ui/react-tabs'
import type { ReactNode } from 'react'
import { bytesText } from '../hub/hub-numbers.ts'
import { Link } from 'wouter'
import type { ClusterReport } from '../../../src/kinds/native/cluster-report.ts'
import type { Cluster } from '../../../src/kinds/native/cluster.ts'
import { ActionButton, ActionChoice } from '../actions/action-button.tsx'
import { clusterActions, decommissionActions } from '../actions/cluster-actions.ts'
import { useObject } from '../data/queries.ts'
import { useLive } from '../data/use-live.ts'
import { useSearchValues } from '../fleet/use-search.ts'
import { Command, Facts } from '../ui/parts.tsx'
import { Words } from '../ui/words.tsx'
import { Badges, State } from '../ui/state.tsx'
import { Age, Ago } from '../ui/time.tsx'
import { AgentLog } from './agent-log.tsx'
import { BundlesTab } from './bundles-tab.tsx'
import { DriftTab } from './drift-tab.tsx'
import { EventsTab } from './events-tab.tsx'
import { ObjectsTab } from './objects-tab.tsx'
import { StopBanner } from './stop-reason.tsx'
import { NoObject } from '../ui/no-object.tsx'

const DEFAULTS = { tab: 'bundles' } as const

export function ClusterPage({ name }: { readonly name: string }) {
  const cluster = useObject<Cluster>('clusters', name)
  const report = useObject<ClusterReport>('clusterreports', name)
  const row = useLive().fleet.byName.get(name)
  if (cluster.error || !cluster.data) {
    return <NoObject error={cluster.error} noun="cluster" name={name} list="/fleet" />
  }
  const drifted = (report.data?.spec.bundles ?? []).filter(
    ({ drift, state }) => drift !== undefined || state === 'Drifted',
  )
  return (
    <div className="page cluster-page">
      <header className="page-head">
        <p className="crumbs">
          <Link href="/fleet">Fleet</Link>
        </p>
        <h1>{name}</h1>
        {row && (
          <p className="head-state">
            <State state={row.state} /> <Badges badges={row.badges} />{' '}
            {row.since > 0 && (
              <span className="quiet">
                for <Age at={row.since} />
              </span>
            )}
          </p>
        )}
        <div className="actions">
          {clusterActions(cluster.data).map((action) => (
            <ActionButton key={action.title} action={action} />
          ))}
          <ActionChoice
            title="Decommission…"
            question="What happens to the objects in the cluster?"
            actions={decommissionActions(cluster.data)}
          />
        </div>
      </header>
      <StopBanner cluster={cluster.data} />
      {row?.state === 'Offline' && (
        <p className="banner" role="status">
          <strong>The cluster is offline.</strong> What you see is as of <Ago at={row.seen} />. The agent keeps running
          what it has, and catches up when it is back.
        </p>
      )}
      {row && row.message !== '' && row.state !== 'Ready' && (
        <p className="head-message">
          <Words text={row.message} />
        </p>
      )}
      <ClusterFacts cluster={cluster.data} report={report.data} isHeard={row?.isHeard ?? false} />
      <TabSet
        tabs={[
          ['bundles', 'Bundles', <BundlesTab key="bundles" cluster={name} />],
          ['objects', 'Objects', <ObjectsTab key="objects" cluster={name} />],
          [
            'drift',
            drifted.length > 0 ? `Drift ${drifted.length}` : 'Drift',
            <DriftTab key="drift" cluster={name} report={report.data} error={report.error} />,
          ],
          ['events', 'Events', <EventsTab key="events" kind="Cluster" name={name} />],
          ['log', 'Agent log', <AgentLog key="log" cluster={cluster.data} report={report.data} />],
        ]}
      />
    </div>
  )
}

function TabSet({ tabs }: { readonly tabs: readonly (readonly [id: string, title: string, content: ReactNode])[] }) {
  const [{ tab }, set] = useSearchValues(DEFAULTS)
  return (
    <Tabs.Root value={tab} onValueChange={(value) => set({ tab: value })} className="tabs">
      <Tabs.List className="tab-list" aria-label="Parts of the cluster">
        {tabs.map(([id, title]) => (
          <Tabs.Trigger key={id} value={id} className="tab">
            {title}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {tabs.map(([id, , content]) => (
        <Tabs.Content key={id} value={id} className="tab-content" tabIndex={-1}>
          {content}
        </Tabs.Content>
      ))}
    </Tabs.Root>
  )
}

function ClusterFacts({
  cluster: { metadata, spec, status },
  report,
  isHeard,
}: {
  readonly cluster: Cluster
  readonly report: ClusterReport | undefined
  readonly isHeard: boolean
}) {
  const traffic = report?.spec.traffic
  const labels = Object.entries(metadata.labels ?? {})
  return (
    <div className="panel">
      <Facts
        facts={[
          ['Kubernetes', status?.kubernetesVersion ?? 'not reported'],
          ['Agent', status?.agentVersion ?? 'not reported'],
          [
            'Heartbeat',
            <Heartbeat key="heartbeat" isHeard={isHeard} lastSeen={status?.lastSeen} every={spec.checkInSeconds} />,
          ],
          ['Offline after', `${spec.offlineAfterSeconds} s without contact`],
          [
            'Certificate',
            status?.certificate ? (
              <>
                ends <Ago at={status.certificate.notAfter} />
              </>
            ) : (
              'none'
            ),
          ],
          ['Bundles', status?.bundles ? `${status.bundles.ready} of ${status.bundles.total} ready` : 'none'],
          ['Last report', report ? <Ago at={report.spec.receivedAt} /> : 'none'],
          ['Report signed', report?.spec.signed === undefined ? 'unknown' : report.spec.signed ? 'yes' : 'no'],
          ['Received by the cluster', traffic ? bytesText(traffic.downBytes) : 'not counted'],
          ['Sent by the cluster', traffic ? bytesText(traffic.upBytes) : 'not counted'],
          ['Time zone', spec.timeZone ?? 'UTC'],
          ['Joined', <Ago key="joined" at={metadata.creationTimestamp} />],
        ]}
      />
      <p className="labels">
        {labels.map(([key, value]) => (
          <Link key={key} className="label" href={`/fleet?q=${encodeURIComponent(`${key}:${value}`)}`}>
            {key}={value}
          </Link>
        ))}
      </p>
      <p className="as-command">
        <Command>{`flotilla get cluster ${metadata.name} -o yaml`}</Command>
      </p>
    </div>
  )
}

function Heartbeat({
  isHeard,
  lastSeen,
  every,
}: {
  readonly isHeard: boolean
  readonly lastSeen: string | undefined
  readonly every: number
}) {
  if (isHeard) return <>in contact, every {every} s</>
  return lastSeen === undefined ? (
    <>never in contact</>
  ) : (
    <>
      last contact <Ago at={lastSeen} />
    </>
  )
}
